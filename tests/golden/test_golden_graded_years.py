"""Assessments of 2002 to 2005 from files to scores; expected values worked out with fractions from MEASURES.md §2–§9.

Article a1 holds sec[1] (30 characters: p[1] 20, p[2] 10) after a title of 10 and before another section of 30; a2 one
section of 10; a3 one of 20. The run returns, in a1, p[1] and sec[1]; then all of a3; a2's section; all of a1.
"""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main

ARTICLES = {
    "a1": "<article><fm>aaaaaaaaaa</fm><bdy><sec><p>bbbbbbbbbbbbbbbbbbbb</p><p>cccccccccc</p></sec>"
    "<sec><p>dddddddddddddddddddddddddddddd</p></sec></bdy></article>",
    "a2": "<article><bdy><sec><p>eeeeeeeeee</p></sec></bdy></article>",
    "a3": "<article><bdy><sec><p>ffffffffffffffffffff</p></sec></bdy></article>",
}
SECTION, PARAGRAPH = "/article[1]/bdy[1]/sec[1]", "/article[1]/bdy[1]/sec[1]/p[1]"
RESULTS = (("a1", PARAGRAPH), ("a1", SECTION), ("a3", "/article[1]"), ("a2", SECTION), ("a1", "/article[1]"))
COVERAGE = {
    "a1": {"/article[1]": "2L", SECTION: "3E", PARAGRAPH: "1S", "/article[1]/bdy[1]/sec[2]": "0N"},
    "a2": {SECTION: "3L", PARAGRAPH: "UU"},
}
GRADES = {
    "a1": {"/article[1]": "31", SECTION: "33", PARAGRAPH: "22", "/article[1]/bdy[1]/sec[2]": "00"},
    "a2": {PARAGRAPH: "13"},
}
YEAR_2005 = f"""<assessments pool="7" topic="61"><file collection="ieee" name="a1">
<passage start="{PARAGRAPH}/text()[1].0" end="{SECTION}/p[2]/text()[1].5" size="25"/>
<element path="/article[1]" exhaustivity="1" size="70" rsize="25"/>
<element path="/article[1]/bdy[1]" exhaustivity="1" size="60" rsize="25"/>
<element path="{SECTION}" exhaustivity="2" size="30" rsize="25"/>
<element path="{PARAGRAPH}" exhaustivity="2" size="20" rsize="20"/>
<element path="{SECTION}/p[2]" exhaustivity="?" size="10" rsize="5"/></file>
<file collection="ieee" name="a3"></file></assessments>"""
TOPIC = """<inex_topic topic_id="61" query_type="{}"><title>{}</title></inex_topic>"""


def graded(pairs, first, second):
    files = "".join(
        f'<file file="{name}">'
        + "".join(f'<path path="{path}" {first}="{es[0]}" {second}="{es[1]}"/>' for path, es in paths.items())
        + "</file>"
        for name, paths in pairs.items()
    )
    return f'<assessments topic="61">{files}</assessments>'


GOLD = {
    "inex2002": graded(COVERAGE, "relevance", "coverage"),
    "inex2003": graded(GRADES, "exhaustiveness", "specificity"),
    "inex2004": graded(GRADES, "exhaustiveness", "specificity").replace('"', "'"),
    "inex2005": YEAR_2005,
}


@pytest.fixture
def score(tmp_path):
    (tmp_path / "articles").mkdir()
    for name, text in ARTICLES.items():
        (tmp_path / "articles" / f"{name}.xml").write_text(text)
    results = "".join(
        f"<result><file>{name}</file><path>{path}</path><rank>{rank}</rank></result>"
        for rank, (name, path) in enumerate(RESULTS, 1)
    )
    run, gold = tmp_path / "run.xml", tmp_path / "gold.xml"
    run.write_text(f'<inex-submission run-id="R"><topic topic-id="61">{results}</topic></inex-submission>')
    (tmp_path / "cas.xml").write_text(TOPIC.format("CAS", "//article//sec[about(., 'b')]"))
    (tmp_path / "co.xml").write_text(TOPIC.format("CO", "b"))
    (tmp_path / "other.xml").write_text(TOPIC.format("CO", "b").replace("61", "62"))

    def call(profile, *options):
        gold.write_text(GOLD[profile])
        options = [str(tmp_path / o) if o.endswith(".xml") else o for o in options]
        chosen = ["--profile", profile, "--docs", str(tmp_path / "articles"), *options]
        return CliRunner().invoke(main, ["score", str(gold), str(run), "--format", "json", *chosen])

    return call


def two_sections(level):
    """Precision where gains 1 and .75 are all there is, at a level in hundredths: i2's formula, by hand."""
    mass = 1.75 * level / 100
    return 1 if mass <= 1 else mass / (mass + (mass - 1) * 0.25 / 1.75)


def means(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["runs"][0]["measures"]


@pytest.mark.parametrize(
    ("profile", "options", "expected"),
    [
        ("inex2002", [], {"i2AP(quant=strict)": 0.3093465695181758, "i2AP(quant=gen)": 0.5024147884891195}),
        (
            "inex2002",  # strict CAS: of the base a1's section (1) and a2's (.75), n = 1.75; of the run both, in order
            ["--topics", "cas.xml"],
            {"i2AP(quant=strict)": 1.0, "i2AP(quant=gen)": sum(map(two_sections, range(1, 101))) / 100},
        ),
        (
            "inex2002",  # nothing asks for structure: as without topics
            ["--topics", "co.xml"],
            {"i2AP(quant=strict)": 0.3093465695181758, "i2AP(quant=gen)": 0.5024147884891195},
        ),
        (
            "inex2003",
            ["--cas", "vague", "--topics", "cas.xml"],
            {"i2AP(quant=strict)": 0.3093465695181758, "i2AP(quant=gen)": 0.4844559900404707}
            | {"i3AP(quant=strict)": 0.08233333333333333, "i3AP(quant=gen)": 0.3018888888888889},
        ),
        (
            "inex2003",  # only the target's letter says what counts: VS as vague, SV as strict
            ["--cas", "VS", "--topics", "cas.xml"],
            {"i2AP(quant=strict)": 0.3093465695181758, "i3AP(quant=gen)": 0.3018888888888889},
        ),
        (
            "inex2003",
            ["--cas", "SV", "--topics", "cas.xml"],
            {f"{measure}(quant={quant})": 1.0 for measure in ("i2AP", "i3AP") for quant in ("strict", "gen")},
        ),
        (
            "inex2003",  # of the run only a1's section and a2's are left, of the recall base only a1's, at rank 1
            ["--cas", "strict", "--topics", "cas.xml"],
            {f"{measure}(quant={quant})": 1.0 for measure in ("i2AP", "i3AP") for quant in ("strict", "gen")},
        ),
        (
            "inex2004",
            [],
            {"i2AP(quant=sog)": 0.4513984818470826, "i2AP(quant=e3_s321)": 0.3219474583782002}
            | {"i2AP(quant=e321_s3)": 0.1559139103449024, "i2AP(quant=e32_s3)": 0.3093465695181758},
        ),
        (
            "inex2005",  # ideal ranks 1, 2, 3 at ranks 1, 2, 5, of four elements with gain, or of five
            ["--task", "thorough"],
            {"MAep(quant=strict5)": 1.0, "MAep(quant=gen5)": (1 + 1 + 3 / 5) / 4}
            | {"MAep(quant=genLifted)": (1 + 1 + 3 / 5) / 5, "nxCG(quant=gen5)@10": 1.0},
        ),
        (
            "inex2005",  # a1 is returned whole, F = 2·25/(70 + 25), inside it ideal ranks 1, 2, 3 at ranks 1, 2, 3
            ["--task", "fetch-browse"],
            {"MAgP": 50 / 95, "browseMAep(quant=gen5)": 3 / 4, "browseMAep(quant=genLifted)": 3 / 5},
        ),
    ],
)
def test_a_graded_year_scores_as_worked_out_by_hand(score, profile, options, expected):
    found = means(score(profile, *options))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --topics"),  # wrong usage, whatever the files hold
        (["--topics", "other.xml"], "are not among the topics given (61 …)"),
        (["--topics", "co.xml"], "no topic asks for structure"),
    ],
)
def test_strict_structure_is_refused_without_the_topics_own_queries(score, options, said):
    result = score("inex2003", "--cas", "strict", *options)
    assert (result.exit_code, result.stderr.count("\n")) == (1 if options else 2, 1)
    assert said in result.stderr


def test_a_pair_outside_the_tables_is_refused_by_its_place(score, monkeypatch):
    monkeypatch.setitem(GOLD, "inex2003", GOLD["inex2003"].replace('"1" specificity="3"', '"0" specificity="3"'))
    result = score("inex2003")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "document a2" in result.stderr
    assert "found the grades (0, 3)" in result.stderr
