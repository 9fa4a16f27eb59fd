"""What the gate prints and refuses, word for word."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from focuseval.errors import FormatError, MeasureError
from focuseval.evaluation.gate import (
    GateRule,
    GateVerdict,
    as_json,
    as_junit,
    as_markdown,
    as_text,
    no_verdict,
    read_baseline,
)

WORSE = GateVerdict(
    "AP", 0.5, 0.25, -0.3, -0.125, 0.0, 0.0, 9, 8, (("q|1", 0.75, 0.25), ("two\nlines", 0.5, 0.375)),
    GateRule("bootstrap", resamples=500),
)  # fmt: skip
SAME = GateVerdict("P@5 <x>", 0.5, 0.5, -0.0625, 0.125, 0.625, 0.625, 9, 4, (), GateRule("sign", tails=2))
FEW = GateVerdict(
    "RR", 0.5, 0.25, -0.5, 0.0, 0.125, 0.125, 4, 3, (("a", 0.5, 0.25), ("b", 0.5, 0.25)), GateRule(min_effect=0.125)
)
OTHER = replace(SAME, measure="IoU@5", decides=False)
SAYS = {
    WORSE: "REGRESSION AP: 0.5000 → 0.2500 (-0.2500, 95 % interval [-0.3000, -0.1250], p of a drop <0.002, bootstrap, "
    "one-tailed at 0.05) over 9 topics",
    SAME: "PASS P@5 <x>: 0.5000 → 0.5000 (+0.0000, 95 % interval [-0.0625, +0.1250], p of a drop 0.6250, sign, "
    "two-tailed at 0.05) over 9 topics",
    FEW: "CANNOT TELL RR: 0.5000 → 0.2500 (-0.2500, 95 % interval [-0.5000, +0.0000], p of a drop 0.1250, "
    "randomisation, one-tailed at 0.05) over 4 topics; 2 questions got worse, 1 better: a, b: too few for any outcome "
    "to be significant at 0.05",
    OTHER: "SHOWN IoU@5: 0.5000 → 0.5000 (+0.0000, 95 % interval [-0.0625, +0.1250], p of a drop 0.6250, sign, "
    "two-tailed) over 9 topics",
}
REMEDY = "write it with 'focuseval gate --update --baseline FILE GOLD RUN'"


def verdict(after, p, *, corrected=None, topics=20, differing=20, measures=1, **rule):
    second = p if corrected is None else corrected
    return GateVerdict("AP", 0.5, after, 0.0, 0.0, p, second, topics, differing, (), GateRule(**rule), measures)


def test_a_verdict_is_one_line():
    assert {one: str(one) for one in SAYS} == SAYS


@pytest.mark.parametrize(
    ("after", "p", "min_effect", "regression", "told"),
    [
        (0.375, 0.05, 0.25, False, "; the drop is real but below --min-effect 0.25"),
        (0.375, 0.05, 0.125, True, ""),
        (0.375, 0.05, 0.125 + 1e-13, True, ""),
        (0.375, 0.0625, 0.0, False, ""),
        (0.375, 0.0625, 0.25, False, ""),
        (0.5, 0.0, 0.0, False, ""),
        (0.5 - 1e-16, 0.0, 0.0, False, ""),
        (0.5, 0.05, 0.25, False, ""),
        (0.75, 0.05, 0.0, False, ""),
        (0.75, 1.0, 0.25, False, ""),
    ],
)
def test_a_regression_is_a_drop_significant_and_large_and_a_smaller_one_is_told(after, p, min_effect, regression, told):
    one = verdict(after, p, min_effect=min_effect)
    assert (one.word == "regression") == regression
    assert str(one).startswith("REGRESSION AP: " if regression else "PASS AP: ")
    assert str(one).endswith(f" over 20 topics{told}")


@pytest.mark.parametrize(
    ("after", "counts", "rule", "word"),
    [
        (0.375, (4, 4), {}, "cannot tell"),
        (0.375, (5, 5), {}, "pass"),
        (0.375, (5, 5), {"tails": 2}, "cannot tell"),
        (0.375, (6, 6), {"tails": 2}, "pass"),
        (0.375, (1, 1), {}, "cannot tell"),
        (0.375, (90, 4), {}, "cannot tell"),
        (0.45, (90, 4), {}, "pass"),
        (0.5, (90, 4), {}, "pass"),
        (0.75, (90, 4), {}, "pass"),
        (0.5, (4, 0), {}, "pass"),
        (0.375, (5, 5), {"measures": 2, "correction": "none"}, "pass"),
        (0.375, (5, 5), {"measures": 2}, "cannot tell"),
        (0.375, (5, 5), {"alpha": 0.01}, "cannot tell"),
    ],
)
def test_where_too_few_topics_changed_for_any_outcome_a_drop_cannot_be_told(after, counts, rule, word):
    topics, differing = counts
    one = verdict(after, 1.0, topics=topics, differing=differing, min_effect=0.1, **rule)
    assert one.word == word
    assert ("too few for any outcome to be significant" in str(one)) == (word == "cannot tell" or topics == 4)


def test_a_pass_says_what_could_have_been_seen():
    one = replace(verdict(0.45, 0.5), detectable=0.125)
    assert str(one).endswith("; these topics show a drop of 0.1250 with probability 0.8")
    assert str(replace(one, detectable=0.51)).endswith("; these topics could not show any drop with probability 0.8")
    assert str(replace(one, decides=False)).endswith(" over 20 topics")


def test_many_questions_are_counted_rather_than_named():
    lost = tuple((f"q{i}", 0.5, 0.0) for i in range(23))
    one = replace(verdict(0.25, 0.5, topics=30, differing=25, alpha=1e-9), lost=lost, anchor="the anchor v1.json")
    assert "; 23 questions lost their answer, 2 got better: q0, q1, " in str(one)
    assert "; 23 questions lost their answer, 2 gained: q0, q1, " in str(replace(one, gained=2))
    assert "q19, 3 more: too few" in str(one)
    assert "\n" not in str(replace(FEW, lost=WORSE.lost))


def test_a_corrected_p_decides_and_stands_beside_the_plain_one():
    one = verdict(0.375, 0.03, corrected=0.06, measures=2, correction="holm")
    assert one.word == "pass"
    assert "p of a drop 0.0300, over 2 measures by holm 0.0600, randomisation" in str(one)


@pytest.mark.parametrize("alpha", [0, 1, 5, -0.5])
def test_a_level_that_is_no_probability_is_refused(alpha):
    with pytest.raises(MeasureError, match=f"^expected a level alpha between 0 and 1, found {alpha}$"):
        GateRule(alpha=alpha)
    assert GateRule(alpha=0.999).alpha == 0.999


@pytest.mark.parametrize("effect", [-0.25, float("nan"), float("inf"), -float("inf")])
def test_a_smallest_effect_that_is_no_size_is_refused(effect):
    with pytest.raises(MeasureError, match=rf"^expected a smallest effect of 0 or more, found {effect:g}$"):
        GateRule(min_effect=effect)


def test_by_default_a_gate_asks_one_tailed_and_of_one_measure():
    rule = GateRule()
    assert (rule.test, rule.tails, rule.resamples, rule.correction) == ("randomisation", 1, 10_000, "holm")
    assert (rule.alpha, rule.seed, rule.min_effect, rule.max_lost) == (0.05, 0, 0.0, None)
    assert (rule.decide, rule.strict) == ("one", False)


def test_a_corrected_p_that_no_resample_showed_is_rarer_than_one_in_all():
    one = verdict(0.375, 0.0, measures=2, correction="holm", test="bootstrap", resamples=500)
    assert "p of a drop <0.002, over 2 measures by holm <0.002, bootstrap" in str(one)


def test_json_has_everything_that_the_line_says():
    found = as_json([WORSE, FEW])
    assert (found["verdict"], as_json([SAME])["verdict"], as_json([FEW, SAME])["verdict"]) == (
        "regression", "pass", "cannot tell",
    )  # fmt: skip
    assert found["rule"] == {
        "test": "bootstrap", "tails": 1, "resamples": 500, "alpha": 0.05, "correction": "holm", "seed": 0,
        "interval": "t", "min_effect": 0.0, "max_lost": None, "decide": "one", "strict": False,
    }  # fmt: skip
    assert found["measures"][0] == {
        "measure": "AP", "verdict": "regression", "anchor": None, "level": 0.05, "before": 0.5, "after": 0.25,
        "difference": -0.25, "interval": [-0.3, -0.125], "p": 0.0, "p_corrected": 0.0, "detectable": None, "topics": 9,
        "topics_differing": 8, "topics_lost": 2, "sentence": SAYS[WORSE],
        "lost": [
            {"topic": "q|1", "before": 0.75, "after": 0.25}, {"topic": "two\nlines", "before": 0.5, "after": 0.375},
        ],
    }  # fmt: skip
    assert found["measures"][1]["verdict"] == "cannot tell"
    shown = as_json([SAME, replace(OTHER, lost=WORSE.lost * 3, detectable=0.25)])["measures"][1]
    assert (shown["verdict"], shown["level"], len(shown["lost"]), shown["topics_lost"]) == ("shown", None, 5, 6)
    assert shown["detectable"] == 0.25


def test_the_text_has_a_line_per_measure_and_one_per_topic_that_lost():
    assert as_text([WORSE, SAME, replace(OTHER, lost=WORSE.lost)]).splitlines() == [
        SAYS[WORSE],
        "  q|1: 0.7500 → 0.2500",
        "  two",
        "lines: 0.5000 → 0.3750",
        SAYS[SAME],
        SAYS[OTHER],
    ]
    assert as_text([SAME]) == SAYS[SAME] + "\n"


HEAD = """\
| measure | baseline | now | difference | 95 % interval | p | verdict |
| --- | --: | --: | --: | --: | --: | --- |
"""
LINES = {
    WORSE: "| AP | 0.5000 | 0.2500 | -0.2500 | [-0.3000, -0.1250] | &lt;0.002 | REGRESSION |\n",
    SAME: "| P@5 &lt;x> | 0.5000 | 0.5000 | +0.0000 | [-0.0625, +0.1250] | 0.6250 | pass |\n",
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
    assert as_markdown([FEW]).startswith("### focuseval gate: cannot tell\n")
    assert f"| 0.1250 | CANNOT TELL |\n\n{SAYS[FEW]}\n" in as_markdown([FEW])
    assert "| 0.6250 | shown |\n" in as_markdown([SAME, OTHER])


def test_junit_has_a_case_per_measure():
    escaped = {one: said.replace("<", "&lt;").replace(">", "&gt;") for one, said in SAYS.items()}
    assert as_junit([WORSE, SAME]) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuite name="focuseval" tests="2" failures="1" errors="0" skipped="0">\n'
        '  <testcase classname="focuseval.gate" name="AP">\n'
        f'    <failure message="{escaped[WORSE]}">{escaped[WORSE]}\n'
        "  q|1: 0.7500 → 0.2500\n  two\nlines: 0.5000 → 0.3750\n</failure>\n"
        "  </testcase>\n"
        '  <testcase classname="focuseval.gate" name="P@5 &lt;x&gt;">\n'
        f"    <system-out>{escaped[SAME]}</system-out>\n"
        "  </testcase>\n"
        "</testsuite>\n"
    )


def test_junit_skips_what_cannot_be_told_unless_that_fails():
    suite = ET.fromstring(as_junit([FEW, OTHER]))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert suite.find("testcase/skipped").get("message") == SAYS[FEW]
    suite = ET.fromstring(as_junit([replace(FEW, rule=GateRule(min_effect=0.125, strict=True))]))
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")


def test_without_a_verdict_markdown_and_junit_give_the_reason():
    reason = "a < b | c\nd"
    assert no_verdict(reason, [])[0] == "### focuseval gate: no verdict\n\na &lt; b \\| c d\n"
    assert no_verdict("a < b", ["AP", "RR"])[1] == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuite name="focuseval" tests="2" failures="0" errors="2" skipped="0">\n'
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
    assert found.basis == ("abc", "def", "focuseval:1|missing:skip")
    assert read_baseline(str(path), "one").per_topic["1"]["AP"] == 0.5


def test_what_a_baseline_leaves_out_is_empty(tmp_path):
    path = tmp_path / "base.json"
    path.write_text('{"signature": "focuseval:1", "runs": [{"per_topic": {}}]}')
    found = read_baseline(path)
    assert (found.run, found.basis) == ("", ("", None, "focuseval:1"))


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
        ('{"runs": [5]}', None, f": expected scores with their runs, found something else; {REMEDY}"),
        (
            '{"runs": [{"per_topic": {"1": 0.5}}]}',
            None,
            f": expected the measures of topic 1, found none; {REMEDY}",
        ),
        (
            '{"runs": [{"per_topic": {"1": {"AP": "é"}}}]}',
            None,
            f': expected a finite number for AP of topic 1, found "é"; {REMEDY}',
        ),
        (
            '{"runs": [{"per_topic": {"1": {"AP": "%s"}}}]}' % ("x" * 38),
            None,
            f': expected a finite number for AP of topic 1, found "{"x" * 38}"; {REMEDY}',
        ),
        (
            '{"runs": [{"per_topic": {"1": {"AP": "%s"}}}]}' % ("x" * 39),
            None,
            f': expected a finite number for AP of topic 1, found "{"x" * 39}…; {REMEDY}',
        ),
        ('{"runs": [{"per_topic": {}}]}', None, f": expected the signature of the scores, found none; {REMEDY}"),
        ('{"a": 1, "b": 2, "b": 3}', None, f": expected JSON, found 'b' twice; {REMEDY}"),
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
    assert str(caught.value) == f"no/such.json: expected a file of scores, found No such file or directory; {REMEDY}"
