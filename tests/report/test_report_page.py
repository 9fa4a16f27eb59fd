"""The page as text: whole, inert, the same for every reader."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

from building import gold_of, run_of
from focuseval.report.build import build_report
from focuseval.report.page import HERE, SCRIPTS, STYLES, VENDOR, render_html, static, visible
from focuseval.report.texts import as_json, document_view
from strategies.pages import ARTICLE, page_from_xml

EVIL = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>\u202e&amp;\"'"


class Outline(HTMLParser):
    """Every start tag with its attributes; scripts' and styles' contents are not markup."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def hostile():
    gold = gold_of({EVIL: {EVIL: {"spans": [(0, 9)], "length": len(EVIL), "bep": 2}}})
    gold = replace(gold, queries={EVIL: EVIL}, file=EVIL)
    runs = [run_of({EVIL: [(EVIL, 0, 20)]}, f"{EVIL}{n}", file=EVIL) for n in range(3)]
    return build_report(gold, runs, ["charP", "charR"], docs={EVIL: EVIL}, task="spans", title=EVIL)


def test_names_and_texts_cannot_become_markup():
    outline = Outline(render_html(hostile()))
    scripts = [attributes for tag, attributes in outline.tags if tag == "script"]
    assert [a for a in scripts if a.get("type") not in {"application/json", "text/plain"}] == [{}] * len(
        (*VENDOR, *SCRIPTS)
    )
    assert not [attributes for tag, attributes in outline.tags if tag == "img"]
    assert not [a for _, attributes in outline.tags for a in attributes if a.startswith("on")]


def test_direction_controls_are_spelt_out_in_names():
    text = re.sub(r"<script.*?</script>", "", render_html(hostile()), flags=re.DOTALL)
    assert "\u202e" not in text
    assert "⟨U+202E⟩" in text
    assert visible("a\u2066b\x1b[0m") == "a⟨U+2066⟩b⟨U+001B⟩[0m"


def test_nothing_outside_the_page_is_asked_for(report):
    outline = Outline(render_html(report))
    for tag, attributes in outline.tags:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:,")), (tag, attributes)
    for name in STYLES:
        assert "url(" not in static(name)
        assert "@import" not in static(name)


def test_only_our_own_scripts_may_run(report):
    text = render_html(report)
    said = next(a["content"] for t, a in Outline(text).tags if a.get("http-equiv") == "Content-Security-Policy")
    hashes = [hashlib.sha256(static(name).encode()).digest() for name in (*VENDOR, *SCRIPTS)]
    ours = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes]
    rules = dict(rule.strip().split(" ", 1) for rule in said.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [*ours, "'unsafe-eval'"]
    assert (rules["connect-src"], rules["base-uri"], rules["form-action"]) == ("'self'", "'none'", "'none'")


def test_the_vendored_libraries_are_what_their_list_says():
    folder = HERE / "static" / "vendor"
    listed = dict(re.findall(r"`(\S+\.js)`.*`([0-9a-f]{64})`", (folder / "README.md").read_text(encoding="utf-8")))
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.js")}
    assert listed == found
    assert "sourceMappingURL" not in static("vendor/vega-lite.min.js")


def test_every_control_has_a_name_and_every_id_is_unique(report):
    outline = Outline(render_html(report))
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.tags:
        for target in attributes.get("aria-labelledby", "").split():
            assert target in ids
    assert outline.tags[0][1] == {"lang": "en"}
    regions = [a for _, a in outline.tags if a.get("role") in {"region", "group", "toolbar", "img"}]
    assert all(a.get("aria-label") for a in regions)


def test_json_in_a_page_is_the_same_json():
    value = {"text": EVIL + "\u2028<!--\x00"}
    assert "<" not in as_json(value)
    assert json.loads(as_json(value)) == value


def test_a_document_s_blocks_cover_its_text_and_elements_have_their_paths():
    document = page_from_xml("tides", ARTICLE)
    view = document_view(document)
    assert sum(view["blocks"][::3]) == view["length"] == len(document.text)
    path, paths = [], []
    for start, size, depth, step in zip(*(view["elements"][i::4] for i in range(4)), strict=True):
        del path[depth:]
        path.append(view["steps"][step])
        paths.append(("/" + "/".join(path), start, start + size))
    assert paths == [(e.path, e.start, e.end) for e in document.elements]
    assert view["title"] == "Tides"
