"""What the gate prints and refuses, word for word."""

import json
from pathlib import Path

import pytest

from focuseval.errors import FormatError, MeasureError
from focuseval.gate import GateRule, GateVerdict, read_baseline
from focuseval.gate.outputs import as_junit, as_markdown, as_text, no_verdict_junit, no_verdict_markdown

WORSE = GateVerdict(
    "AP", 0.5, 0.25, -0.3, -0.125, 0.0, 4, (("q|1", 0.75, 0.25), ("two\nlines", 0.5, 0.375)), GateRule(resamples=500)
)
SAME = GateVerdict("P@5 <x>", 0.5, 0.5, -0.0625, 0.125, 0.625, 4, (), GateRule(test="sign"))
SAYS = {
    WORSE: "REGRESSION AP: 0.5000 → 0.2500 (-0.2500, 95 % interval [-0.3000, -0.1250], p of a drop <0.002) "
    "over 4 topics",
    SAME: "PASS P@5 <x>: 0.5000 → 0.5000 (+0.0000, 95 % interval [-0.0625, +0.1250], p of a drop 0.625) over 4 topics",
}
REMEDY = "write it with 'focuseval score GOLD RUN --per-topic --format json -o FILE'"


def verdict(after, p, **rule):
    return GateVerdict("AP", 0.5, after, 0.0, 0.0, p, 2, (), GateRule(**rule))


def test_a_verdict_is_one_line():
    assert {one: str(one) for one in SAYS} == SAYS


@pytest.mark.parametrize(
    ("after", "p", "min_effect", "regression", "told"),
    [
        (0.375, 0.05, 0.25, False, "; the drop is real but below --min-effect 0.25"),
        (0.375, 0.05, 0.125, True, ""),
        (0.375, 0.0625, 0.0, False, ""),
        (0.375, 0.0625, 0.25, False, ""),
        (0.5, 0.0, 0.0, False, ""),
        (0.5, 0.05, 0.25, False, ""),
        (0.75, 0.05, 0.0, False, ""),
        (0.75, 1.0, 0.25, False, ""),
    ],
)
def test_a_regression_is_a_drop_significant_and_large_and_a_smaller_one_is_told(after, p, min_effect, regression, told):
    one = verdict(after, p, min_effect=min_effect)
    assert one.regression == regression
    assert str(one).startswith("REGRESSION AP: " if regression else "PASS AP: ")
    assert str(one).endswith(f" over 2 topics{told}")


@pytest.mark.parametrize(
    ("p", "rule", "shown"),
    [
        (0.0, {"test": "bootstrap", "resamples": 500}, "<0.002"),
        (0.0, {"test": "t"}, "0"),
        (0.002, {"test": "bootstrap", "resamples": 500}, "0.002"),
        (0.12345, {}, "0.123"),
    ],
)
def test_a_chance_that_no_resample_showed_is_rarer_than_one_in_all(p, rule, shown):
    assert verdict(0.5, p, **rule).shown_p == shown


@pytest.mark.parametrize("alpha", [0, 1, 5, -0.5])
def test_a_level_that_is_no_probability_is_refused(alpha):
    with pytest.raises(MeasureError, match=f"^expected a level alpha between 0 and 1, found {alpha}$"):
        GateRule(alpha=alpha)
    assert GateRule(alpha=0.999).alpha == 0.999
    with pytest.raises(MeasureError, match=r"^expected a smallest effect of 0 or more, found -0\.25$"):
        GateRule(min_effect=-0.25)


def test_the_text_has_a_line_per_measure_and_one_per_topic_that_lost():
    assert as_text([WORSE, SAME]).splitlines() == [
        SAYS[WORSE],
        "  q|1: 0.7500 → 0.2500",
        "  two",
        "lines: 0.5000 → 0.3750",
        SAYS[SAME],
    ]
    assert as_text([SAME]) == SAYS[SAME] + "\n"


HEAD = """\
| measure | baseline | now | difference | 95 % interval | p | verdict |
| --- | --: | --: | --: | --: | --: | --- |
"""
LINES = {
    WORSE: "| AP | 0.5000 | 0.2500 | -0.2500 | [-0.3000, -0.1250] | &lt;0.002 | REGRESSION |\n",
    SAME: "| P@5 &lt;x> | 0.5000 | 0.5000 | +0.0000 | [-0.0625, +0.1250] | 0.625 | pass |\n",
}
LOST = r"""
### Topics that lost most under AP

| topic | baseline | now |
| --- | --: | --: |
| q\|1 | 0.7500 | 0.2500 |
| two lines | 0.5000 | 0.3750 |
"""


def test_markdown_is_a_table_of_verdicts_and_one_of_topics():
    assert as_markdown([WORSE, SAME]) == (f"### focuseval gate: regression\n\n{HEAD}{LINES[WORSE]}{LINES[SAME]}{LOST}")
    assert as_markdown([SAME]) == f"### focuseval gate: no regression\n\n{HEAD}{LINES[SAME]}"


def test_junit_has_a_case_per_measure():
    escaped = {one: said.replace("<", "&lt;").replace(">", "&gt;") for one, said in SAYS.items()}
    assert as_junit([WORSE, SAME]) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuite name="focuseval" tests="2" failures="1" errors="0">\n'
        '  <testcase classname="focuseval.gate" name="AP">\n'
        f'    <failure message="{escaped[WORSE]}">{escaped[WORSE]}\n'
        "  q|1: 0.7500 → 0.2500\n  two\nlines: 0.5000 → 0.3750\n</failure>\n"
        "  </testcase>\n"
        '  <testcase classname="focuseval.gate" name="P@5 &lt;x&gt;">\n'
        f"    <system-out>{escaped[SAME]}</system-out>\n"
        "  </testcase>\n"
        "</testsuite>\n"
    )


def test_without_a_verdict_markdown_and_junit_give_the_reason():
    reason = "a < b | c\nd"
    assert no_verdict_markdown(reason) == "### focuseval gate: no verdict\n\na &lt; b \\| c d\n"
    assert no_verdict_junit("a < b", ["AP", "RR"]) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuite name="focuseval" tests="2" failures="0" errors="2">\n'
        '  <testcase classname="focuseval.gate" name="AP">\n'
        '    <error message="a &lt; b">a &lt; b</error>\n  </testcase>\n'
        '  <testcase classname="focuseval.gate" name="RR">\n'
        '    <error message="a &lt; b">a &lt; b</error>\n  </testcase>\n'
        "</testsuite>\n"
    )


SCORES = {
    "signature": "focuseval:1|missing:skip",
    "gold_sha256": "abc",
    "docs_sha256": "def",
    "runs": [
        {"run": "one", "per_topic": {"1": {"AP": 0.5}, "2": {"RR": 0.25}}},
        {"run": "zwei-é", "per_topic": {"1": {"AP": 0.75}}},
    ],
}


def test_of_several_runs_the_named_one_is_read(tmp_path):
    path = tmp_path / "base.json"
    path.write_text(json.dumps(SCORES, ensure_ascii=False), encoding="utf-8")
    found = read_baseline(path, "zwei-é")
    assert (found.run, found.per_topic, found.file) == ("zwei-é", {"1": {"AP": 0.75}}, str(path))
    assert (found.signature, found.gold_sha256, found.docs_sha256) == ("focuseval:1|missing:skip", "abc", "def")
    assert read_baseline(str(path), "one").values("AP") == {"1": 0.5}


def test_what_a_baseline_leaves_out_is_empty(tmp_path):
    path = tmp_path / "base.json"
    path.write_text('{"runs": [{"per_topic": {}}]}')
    found = read_baseline(path)
    assert (found.run, found.signature, found.gold_sha256, found.docs_sha256) == ("", "", "", None)


@pytest.mark.parametrize(
    ("content", "run", "told"),
    [
        (json.dumps(SCORES), None, ": expected one run to compare with, found one, zwei-é; name it"),
        (json.dumps(SCORES), "three", ": expected one run to compare with, found one, zwei-é; name it"),
        ('{"runs": [{"run": "a"}]}', None, f": expected values per topic, found means alone; {REMEDY}"),
        ("\ufeff", None, f":1:1: expected JSON, found Unexpected UTF-8 BOM (decode using utf-8-sig); {REMEDY}"),
        ("{", None, f":1:2: expected JSON, found Expecting property name enclosed in double quotes; {REMEDY}"),
        ("[]", None, f": expected scores with their runs, found something else; {REMEDY}"),
        ("{}", None, f": expected scores with their runs, found something else; {REMEDY}"),
        ('{"runs": {}}', None, f": expected scores with their runs, found something else; {REMEDY}"),
        ('{"runs": []}', None, f": expected scores with their runs, found something else; {REMEDY}"),
        ('{"runs": "ab"}', None, f": expected scores with their runs, found something else; {REMEDY}"),
        (b'{"run": "\xff"}', None, f": expected JSON in UTF-8, found other bytes; {REMEDY}"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_in_one_line(tmp_path, content, run, told):
    path = tmp_path / "base.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError) as caught:
        read_baseline(path, run)
    assert str(caught.value) == f"{path}{told}"


def test_a_baseline_that_is_not_there_is_refused_in_one_line():
    with pytest.raises(FormatError) as caught:
        read_baseline(Path("no/such.json"))
    assert str(caught.value) == f"no/such.json: expected a baseline, found No such file or directory; {REMEDY}"
