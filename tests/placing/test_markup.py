"""Texts quoted as they are rendered are found in the Markdown that they were rendered from."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import focuseval as fe
from focuseval.data.placement import APPROXIMATE, EXACT, NORMALISED
from focuseval.evaluation.quotes import verify_quotes
from focuseval.formats.frames import gold_from_frame, run_from_frame
from focuseval.placing.normalise import normal_form, rendered, rendered_form
from focuseval.placing.page import Page, Wanted, place

PAGE = """# Timeouts

There are four. These are **connect**, **read**, _write_, and `pool`: see [the *first* one](a.md "A") and
<https://example.org/x_y>.

1. The `pool` timeout &amp; its default\\* of
   2*3 seconds[^1] in snake_case.
- [ ] ~~None~~ of it

| Setting | Default |
|:--------|---|
| `connect` | 5s |

> A note.<br>With a ﬁne soft\u00adhyphen.

![badge](b.svg)
[ref]: https://example.org
"""
SEEN = {
    "These are connect, read, write, and pool: see the first one": "These are **connect**, **read**, _write_, and"
    ' `pool`: see [the *first* one](a.md "A',
    "https://example.org/x_y": "https://example.org/x_y",
    "The pool timeout & its default* of 2*3 seconds in snake_case.": "The `pool` timeout &amp; its default\\* of\n"
    "   2*3 seconds[^1] in snake_case.",
    "None of it": "None~~ of it",
    "Setting Default connect 5s": "Setting | Default |\n|:--------|---|\n| `connect` | 5s",
    "A note. With a fine softhyphen.": "A note.<br>With a ﬁne soft\u00adhyphen.",
    "default*": "default",
}
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("text", SEEN)
def test_what_is_seen_is_found_where_it_stands(text):
    (found,) = place(Page(PAGE), [Wanted(text)], 0.9)
    meant = SEEN[text].removesuffix('](a.md "A')
    assert (found.how, PAGE[found.start : found.end]) == (EXACT if text in PAGE else NORMALISED, meant)


@pytest.mark.parametrize("text", ["23 seconds", "snakecase", "(a.md", "four. connect"])
def test_what_is_not_seen_is_not_found(text):
    (found,) = place(Page(PAGE), [Wanted(text)], 1.0)
    assert found.start < 0 or text in PAGE


def test_marks_in_the_quote_make_no_difference_either():
    (found,) = place(Page("These are connect & read."), [Wanted("- These are **connect** &amp; `read`.")], 0.9)
    assert found[:3] == (0, 25, NORMALISED)


def test_gold_runs_and_quotations_find_it_with_and_without_a_document():
    quote, docs = next(iter(SEEN)), {"a.md": PAGE, "b.md": "Nothing of it."}
    start = PAGE.index("These")
    for named in ({}, {"doc": "a.md"}):
        gold = gold_from_frame([{"topic": "q", "quote": quote, **named, "evidence": [quote]}], documents=docs)
        run = run_from_frame([{"topic": "q", "text": quote, "rank": 1, **named}], documents=docs)
        assert run.start.tolist() == [start]
        scores = fe.evaluate(gold, run, ["spanR@1", "spanP@1"], docs=docs)
        assert set(scores.means()["run"].values()) == {1.0}
    answer = {"answer": f"It says “{quote}” [a]. Or: “four. These are connect … its default* of 2*3 seconds” [a]."}
    assert [check.verdict for check in verify_quotes([answer], docs).checks] == ["verbatim", "spliced"]


def test_a_claimed_place_that_says_the_same_as_rendered_is_kept():
    (found,) = place(Page("**Note** it. **Note** it."), [Wanted("Note it.", 13, 25)], 0.9)
    assert found[:3] == (13, 25, NORMALISED)


def blocks(page):
    """Yield the text of every block as a browser shows it."""
    for token in MarkdownIt("commonmark").enable("table").parse(page):
        if token.type == "inline" and not any(one.type in {"image", "html_inline"} for one in token.children):
            shown = "".join(" " if one.type.endswith("break") else one.content for one in token.children)
            if shown.strip():
                yield shown


def test_every_block_of_our_own_pages_is_found_as_a_browser_shows_it():
    """Lists, tables, links and code of some fifty pages, by another reader of Markdown."""
    total, near = 0, []
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        seen = list(dict.fromkeys(blocks(text)))[:60]
        page = Page(text)
        for shown, found in page.candidates(dict.fromkeys(seen, ()), 1.0).items():
            total += 1
            near += [] if found.starts else [(path.name, shown)]
    assert total > 1000
    assert len(near) <= 0.01 * total, near


def words_of(draw):
    marks = st.sampled_from(["{}", "**{}**", "*{}*", "`{}`", "[{}](u)", "_{}_", "&lt;{}", "~~{}~~", "{},"])
    return draw(
        st.lists(st.tuples(marks, st.sampled_from(["alpha", "beta", "gamma", "delta"])), min_size=2, max_size=8)
    )


@given(st.data())
def test_spans_of_the_rendered_form_lead_back_to_whole_words(data):
    words = words_of(data.draw)
    separators = [data.draw(st.sampled_from([" ", "\n- ", "\n\n## ", "\n> ", "  \n"])) for _ in words]
    text = "".join(mark.format(word) + after for (mark, word), after in zip(words, separators, strict=True))
    form = rendered(text)
    plain = [mark.replace("&lt;", "<").strip("*`_~").replace("[{}](u)", "{}").format(word) for mark, word in words]
    assert form.text == " ".join(plain) or form.text.rstrip(" #->") == " ".join(plain)
    begins = [0, *(i + 1 for i, character in enumerate(form.text) if character == " ")]
    for start, after in pairwise([*begins, len(form.text) + 1]):
        original = form.original(start, min(after - 1, len(form.text)))
        if original:
            assert rendered_form(text[slice(*original)]) == form.text[start : after - 1]


@given(st.text(st.sampled_from("ab *_`[]()|#>-\\&amp;<br>\n1.!~"), max_size=40))
def test_any_text_has_a_rendered_form_and_a_plain_one_keeps_its_normal_form(text):
    form = rendered(text)
    assert len(form.text) == len(form.source) == len(form.inside)
    assert (form.source[1:] >= form.source[:-1]).all()
    assert rendered_form(text) == form.text
    if text.replace("\n", "").isalpha():
        assert form.text == normal_form(text)


def test_texts_that_are_found_today_are_found_in_the_same_way():
    text = "**bold** bold **bold**"
    assert [place(Page(text), [Wanted(one)], 0.9)[0][:3] for one in ("**bold** bold", "bold  **bold**")] == [
        (0, 13, EXACT),
        (9, 22, NORMALISED),
    ]
    (near,) = place(Page("some wards of **it**"), [Wanted("some words of **it**")], 0.9)
    assert near.how == APPROXIMATE
