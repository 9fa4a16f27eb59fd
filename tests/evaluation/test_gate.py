"""The gate: verdicts by hand, refusals by hash, exit codes, and what CI reads."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import focuseval.example
from focuseval.bridges.testing import assert_no_regression
from focuseval.cli import main
from focuseval.errors import FormatError, MeasureError, NotComparableError
from focuseval.evaluation.gate import Baseline, GateRule, as_junit, as_markdown, as_text, judge, read_baseline
from focuseval.evaluation.score_file import Basis
from focuseval.evaluation.scores import Counts, Scores
from focuseval.inference.clusters import Clusters
from focuseval.inference.intervals import bca
from focuseval.inference.paired_tests import adjust, bootstrap
from focuseval.inference.regression import judge_changes, outcome

TOPICS = tuple(str(i) for i in range(12))
AGAIN = "); score the baseline again on the same ground"


def scores_of(row, **changes):
    return Scores(
        **{
            "runs": ("new",), "topics": TOPICS[: len(row)], "measures": ("AP",), "counts": (Counts(12, 0, 0, 0),),
            "values": np.array(row, float)[None, :, None], "signature": "focuseval:9|p:1", "gold_sha256": "g",
            **changes,
        }
    )  # fmt: skip


def baseline_of(values, **changes):
    per_topic = {topic: {"AP": value} for topic, value in zip(TOPICS, values, strict=False)}
    known = {"gold_sha256": "g", "docs_sha256": None, "signature": "focuseval:1|p:1", "per_topic": per_topic} | changes
    basis = Basis(known["gold_sha256"], known["docs_sha256"], known["signature"])
    return Baseline("old", known["per_topic"], basis, "base.json")


STEADY = [0.5, 0.6, 0.4, 0.7, 0.5, 0.6, 0.4, 0.7, 0.5, 0.6, 0.4, 0.7]


def test_a_clear_drop_is_a_regression_and_names_the_topics_that_lost_most():
    verdict = judge(baseline_of(STEADY), scores_of([v - 0.1 - 0.02 * (i == 3) for i, v in enumerate(STEADY)]), ["AP"])[
        0
    ]
    assert verdict.word == "regression"
    assert verdict.difference == pytest.approx(-0.1 - 0.02 / 12)
    assert verdict.lost[0][0] == "3"
    assert len(verdict.lost) == 12
    assert as_text([verdict]).count("\n") == 6
    assert str(verdict).startswith("REGRESSION AP: 0.5500 → 0.4483")


def test_a_drop_below_the_smallest_effect_passes_and_says_so():
    verdict = judge(baseline_of(STEADY), scores_of([v - 0.01 for v in STEADY]), ["AP"], GateRule(min_effect=0.02))[0]
    assert verdict.word == "pass"
    assert "below --min-effect 0.02" in str(verdict)


@pytest.mark.parametrize(("drop", "regression"), [(0.125, True), (0.124, False)])
def test_a_drop_of_exactly_the_smallest_effect_is_a_regression(drop, regression):
    before = [0.5, 0.75, 1.0, 0.625, 0.875]
    rule = GateRule(min_effect=0.125)
    (verdict,) = judge(baseline_of(before), scores_of([v - drop for v in before]), ["AP"], rule)
    assert (verdict.word == "regression") == regression
    assert verdict.difference == pytest.approx(-drop)


@pytest.mark.parametrize(
    ("changes", "p"),
    [
        ([-0.25] * 5, 1 / 32),  # one-tailed by hand: all of five fair coins; two-tailed it would be 1/16, no regression
        ([-0.25] * 4 + [0.125], 2 / 32),  # all of them, or all but the last
        ([0.25] * 5, 1.0),
    ],
)
def test_the_gate_asks_only_whether_the_run_is_worse(changes, p):
    after = [0.5 + change for change in changes]
    (verdict,) = judge(baseline_of([0.5] * len(after)), scores_of(after), ["AP"], GateRule())
    assert verdict.p == p
    assert (verdict.word == "regression") == (p <= 0.05)


@pytest.mark.parametrize(("resamples", "of_interval"), [(200, 1000), (1500, 1500)])
def test_resamples_and_seed_of_the_rule_are_those_of_test_and_interval(resamples, of_interval):
    """The interval is never made of fewer than a thousand resamples."""
    after = [v + change for v, change in zip(STEADY, np.linspace(-0.11, 0.1, 12), strict=True)]
    rule = GateRule("bootstrap", resamples=resamples, seed=7, interval="bca")
    (verdict,) = judge(baseline_of(STEADY), scores_of(after), ["AP"], rule)
    change = (np.array(after) - np.array(STEADY))[None, :]
    assert verdict.p == bootstrap(-change, tails=1, resamples=resamples, seed=7)[0]
    assert verdict.p != bootstrap(-change, tails=1, resamples=resamples, seed=0)[0]
    interval = [side[0] for side in bca(change, resamples=of_interval, seed=7)]
    assert [verdict.low, verdict.high] == pytest.approx(interval)
    assert (verdict.rule, verdict.topics) == (rule, 12)


def test_of_equal_losses_the_first_topics_are_named_and_a_topic_that_lost_nothing_is_not():
    topics = tuple(f"{i:02}" for i in range(60))
    baseline = Baseline("old", {topic: {"AP": 0.5} for topic in topics}, Basis("g", None, ""))
    for row, lost in (([0.25, 0.375] * 30, topics[::2]), ([0.25] * 2 + [0.5] * 58, topics[:2])):
        (verdict,) = judge(baseline, scores_of(row, topics=topics, signature=""), ["AP"], GateRule(min_effect=0.5))
        assert verdict.lost[: len(lost)] == tuple((topic, 0.5, 0.25) for topic in lost)
        assert len(verdict.lost) == sum(value < 0.5 for value in row)


@pytest.mark.parametrize("topics", [1, 4])
def test_too_few_changed_topics_for_any_outcome_cannot_be_told_but_better_or_equal_ones_pass(topics):
    before = [0.5] * topics
    words = {
        1: "1 question lost its answer, none gained: 0: too few for any outcome to be significant at 0.05",
        4: "4 questions lost their answer, none gained: 0, 1, 2, 3: too few for any outcome to be significant at 0.05",
    }[topics]
    for rule in (GateRule(), GateRule(min_effect=0.5), GateRule(strict=True)):
        (verdict,) = judge(baseline_of(before), scores_of([0.0] * topics), ["AP"], rule)
        assert (verdict.word, verdict.fails) == ("cannot tell", rule.strict)
        assert str(verdict).endswith(f"; {words}")
        for after in (before, [0.75] * topics):
            assert judge(baseline_of(before), scores_of(after), ["AP"], rule)[0].word == "pass"
    assert judge(baseline_of(before), scores_of([0.25] * topics), ["AP"], GateRule(min_effect=0.5))[0].word == "pass"


def test_a_drop_on_too_few_of_many_topics_is_no_pass_and_its_size_decides_nothing():
    """Three of twelve lose everything: the mean drops by .125, and no test could see it."""
    after = [0.0, 0.0, 0.25, 1.0, *STEADY[4:]]
    for effect, word in ((0.0, "cannot tell"), (0.05, "cannot tell"), (0.2, "pass")):
        (verdict,) = judge(baseline_of(STEADY), scores_of(after), ["AP"], GateRule(min_effect=effect))
        assert verdict.word == word
    assert "; 3 questions got worse, 1 better: 1, 0, 2: too few" in str(
        judge(baseline_of(STEADY), scores_of(after), ["AP"])[0]
    )
    assert judge(baseline_of(after), scores_of(STEADY), ["AP"])[0].word == "pass"


@pytest.mark.parametrize(
    ("max_lost", "effect", "fails"),
    [(3, 0.0, True), (4, 0.0, False), (3, 0.5, True), (3, 0.51, False), ("75%", 0.0, True), ("80%", 0.0, False)],
)
def test_a_collapse_on_four_of_five_questions_fails_where_fewer_may_be_lost(max_lost, effect, fails):
    rule = GateRule(max_lost=max_lost, min_effect=effect)
    (verdict,) = judge(baseline_of([0.5] * 5), scores_of([0.0, 0.0, 0.0, 0.0, 0.5]), ["AP"], rule)
    assert verdict.fails == fails
    lost = "lost 0.5 or more" if effect else "got worse"
    assert (f"; 4 questions {lost}, --max-lost {max_lost} allows 3 of 5" in str(verdict)) == fails


def test_what_is_lost_counts_whatever_the_others_gain():
    after = [0.25, 0.25, *[1.0] * 10]
    assert judge(baseline_of([0.5] * 12), scores_of(after), ["AP"], GateRule(max_lost=2))[0].word == "pass"
    assert judge(baseline_of([0.5] * 12), scores_of(after), ["AP"], GateRule(max_lost=1))[0].word == "regression"


SEVERITY = ("pass", "cannot tell", "regression")


@given(st.data(), st.sampled_from(["randomisation", "sign", "bootstrap"]), st.integers(1, 2))
@settings(max_examples=100, deadline=None)
def test_among_runs_with_the_same_topics_changed_a_worse_one_never_passes_where_a_better_one_fails(data, test, tails):
    """Losses of a better run; a worse one loses more, or gains less, on any of the same topics."""
    topics, eighths = data.draw(st.integers(1, 30)), st.integers(-8, 8)
    better = data.draw(st.lists(eighths, min_size=topics, max_size=topics))
    more = data.draw(st.lists(st.integers(0, 8), min_size=topics, max_size=topics))
    worse = [x if x == 0 or x + m == 0 else x + m for x, m in zip(better, more, strict=True)]
    rule = GateRule(
        test, tails=tails, resamples=200, min_effect=data.draw(st.sampled_from([0, 1, 4])),
        max_lost=data.draw(st.sampled_from([None, 2, "50%"])), alpha=data.draw(st.sampled_from([0.05, 0.2, 0.001])),
    )  # fmt: skip
    before, names = np.full(topics, 8.0), [str(i) for i in range(topics)]
    found = [judge_changes([("AP", names, before, before - np.array(x))], rule)[0].word for x in (better, worse)]
    assert SEVERITY.index(found[0]) <= SEVERITY.index(found[1])


def test_a_t_test_is_no_such_rule():
    """Why it is not the default: ten topics lose a tenth, and then one of them everything."""
    loss = np.array([0.1, 0.11] * 5)
    after = [judge_changes([("AP", TOPICS[:10], np.ones(10), 1 - x)], GateRule("t"))[0].word
             for x in (loss, np.where(np.arange(10) == 0, 40.0, loss))]  # fmt: skip
    assert after == ["regression", "pass"]


def test_one_measure_decides_and_the_others_are_shown():
    both = {"measures": ("AP", "RR"), "counts": (Counts(12, 0, 0, 0),)}
    after = np.array([[v + 0.01, v - 0.1] for v in STEADY])
    per_topic = {topic: {"AP": value, "RR": value} for topic, value in zip(TOPICS, STEADY, strict=True)}
    scores, baseline = scores_of(STEADY, **both, values=after[None]), baseline_of(STEADY, per_topic=per_topic)
    assert [(v.measure, v.word) for v in judge(baseline, scores)] == [("AP", "pass"), ("RR", "shown")]
    assert [v.word for v in judge(baseline, scores, ["RR", "AP"])] == ["regression", "shown"]
    assert [v.measure for v in judge(baseline, replace(scores, decides="RR"))] == ["RR", "AP"]
    assert [v.word for v in judge(baseline, scores, rule=GateRule(decide="all"))] == ["pass", "regression"]
    assert outcome(judge(baseline, scores)) == "pass"
    assert outcome(judge(baseline, scores, rule=GateRule(decide="all"))) == "regression"


def test_too_few_resamples_for_any_outcome_are_refused_but_an_anchor_says_so():
    topics = tuple(f"{i:02}" for i in range(25))
    baseline = Baseline("old", {topic: {"AP": 0.5} for topic in topics}, Basis("g", None, ""))
    scores = scores_of(np.linspace(0.1, 0.4, 25), topics=topics, signature="")
    with pytest.raises(MeasureError, match=r"^1000000 resamples are too few for any outcome to be significant"):
        judge(baseline, scores, ["AP"], GateRule(alpha=1e-7, min_effect=0.1))
    (verdict,) = judge(baseline, scores, ["AP"], GateRule(alpha=1e-7), anchor="the anchor v1.json")
    assert verdict.word == "cannot tell"
    assert str(verdict).endswith(": 1000000 resamples are too few at 1e-07, so pin a newer release")
    assert judge(baseline, scores, ["AP"], GateRule(resamples=1))[0].word == "regression"


def test_a_gate_in_clusters_flips_and_counts_them():
    loss = np.r_[np.full(6, 0.1), np.zeros(4), [0.1, -0.1]]  # two clusters lose, two do not change, one cancels
    code = Clusters("document", np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4]))
    change = ("AP", TOPICS, np.full(12, 0.5), 0.5 - loss)
    (by,), (plain,) = judge_changes([change], GateRule(), clusters=[code]), judge_changes([change], GateRule())
    assert (by.p, by.units, plain.units) == (0.25, (5, 2), (12, 8))
    assert (by.word, plain.word) == ("cannot tell", "regression")
    assert " over 12 topics in 5 clusters; 7 questions got worse, 1 better: " in str(by)
    assert str(by).endswith(": too few for any outcome to be significant at 0.05")
    (shared,) = judge_changes([change], GateRule(), shared=[code])
    assert (shared.by_document, shared.p, by.by_document) == ((5, 0.25), plain.p, None)
    said = "; topics share documents: in 5 clusters by document (--cluster-by document) p would be 0.2500"
    assert str(shared) == str(plain) + said
    still = ("AP", TOPICS, np.full(12, 0.5), np.full(12, 0.5))
    assert "5 clusters are too few for any" not in str(judge_changes([still], GateRule(alpha=0.05), clusters=[code])[0])
    assert "; 5 clusters are too few for any" in str(judge_changes([still], GateRule(alpha=0.01), clusters=[code])[0])


@pytest.mark.parametrize(("max_lost", "most"), [(0, 0), ("0%", 0), ("0.5%", 1), ("100%", 200), ("12", 12), (300, 300)])
def test_a_number_or_a_share_of_topics_may_be_lost(max_lost, most):
    assert GateRule(max_lost=max_lost).allowed(200) == most


@pytest.mark.parametrize("max_lost", ["1.5", "101%", -1, "-1%", "%"])
def test_what_is_no_number_and_no_share_is_refused(max_lost):
    with pytest.raises(MeasureError, match="expected how many topics may get worse, or which share, such as 75%"):
        GateRule(max_lost=max_lost)


def test_rounding_noise_is_no_drop():
    noisy = [0.1 + 0.2] * 12
    (verdict,) = judge(baseline_of(noisy), scores_of([0.3] * 12), ["AP"])
    assert (verdict.difference, verdict.p, verdict.differing, verdict.lost) == (0, 1, 0, ())


def test_measures_that_decide_together_are_corrected():
    both = {"measures": ("AP", "RR"), "counts": (Counts(12, 0, 0, 0),)}
    before = np.linspace(0.3, 0.8, 12)
    drop = np.array([0.1] * 9 + [-0.05] * 3)
    values = np.stack([before - drop, before - drop * np.tile([1, 0.5, -0.4], 4)], axis=1)[None]
    per_topic = {topic: {"AP": value, "RR": value} for topic, value in zip(TOPICS, before.tolist(), strict=True)}
    scores, baseline = scores_of(before, **both, values=values), baseline_of(before, per_topic=per_topic)
    plain = judge(baseline, scores, ["AP", "RR", "AP"])
    assert [v.measure for v in plain] == [v.measure for v in judge(baseline, scores)] == ["AP", "RR"]
    assert [v.corrected for v in plain] == [v.p for v in plain]
    corrected = judge(baseline, scores, None, GateRule(decide="all"))
    assert [v.p for v in corrected] == [v.p for v in plain]
    assert [v.corrected for v in corrected] == adjust(np.array([v.p for v in plain]), "holm").tolist()
    assert [(v.measures, v.level) for v in corrected] == [(2, 0.025)] * 2
    assert [v.level for v in plain] == [0.05] * 2


def test_a_value_that_is_no_number_gives_no_verdict():
    with pytest.raises(NotComparableError, match=r"^AP: some topic's value is not a finite number; no verdict"):
        judge(baseline_of([float("inf"), *STEADY[1:]]), scores_of(STEADY), ["AP"])
    with pytest.raises(NotComparableError, match=r"^AP: some topic's value is not a finite number; no verdict"):
        judge(baseline_of(STEADY), scores_of([float("inf"), *STEADY[1:]]), ["AP"])


def test_only_a_question_that_had_nothing_is_said_to_gain_its_answer():
    for before, said in (
        (0.25, "1 question lost its answer, 1 got better: 0"),
        (0.0, "1 question lost its answer, 1 gained: 0"),
    ):
        (verdict,) = judge(baseline_of([1.0, before, 0.5]), scores_of([0.0, 0.75, 0.5]), ["AP"])
        assert verdict.changed() == said


def test_noise_and_improvements_pass():
    wobble = [v + (0.1 if i % 2 else -0.1) for i, v in enumerate(STEADY)]
    assert judge(baseline_of(STEADY), scores_of(wobble), ["AP"])[0].word == "pass"
    assert judge(baseline_of(STEADY), scores_of([v + 0.1 for v in STEADY]), ["AP"])[0].word == "pass"
    assert judge(baseline_of(STEADY), scores_of(STEADY), ["AP"])[0].word == "pass"


@pytest.mark.parametrize(
    ("baseline", "scores", "words"),
    [
        (
            {"gold_sha256": "0123456789abcdef01234567"},
            {},
            f"other gold than now (was 0123456789abcdef01234567, is g{AGAIN}",
        ),
        ({"gold_sha256": "0123456789abcdef012345678"}, {}, f"other gold than now (was 0123456789ab…, is g{AGAIN}"),
        ({"docs_sha256": "d"}, {}, "other documents than now (was d, is none); give docs= or index="),
        ({}, {"docs_sha256": "d"}, f"other documents than now (was none, is d{AGAIN}"),
        ({"signature": "focuseval:1|p:2"}, {}, f"other policies (p) than now (was 2, is 1{AGAIN}"),
        (
            {"signature": "focuseval:1|p:1|quant:strict"},
            {"signature": "p:1|quant:gen"},
            f"other policies (quant) than now (was strict, is gen{AGAIN}",
        ),
        (
            {"signature": "focuseval:1|p:1|quant:strict"},
            {"signature": "p:1|z:5"},
            f"other policies (quant) than now (was strict, is none{AGAIN}",
        ),
        (
            {"per_topic": {"x": {"AP": 1.0}, "y": {"AP": 1.0}}},
            {},
            "other topics than now under AP (14 differ, the first is 0); score the baseline again on the same ground",
        ),
        ({"per_topic": {"1": {"RR": 1.0}}}, {}, "AP is not in the baseline; score it again with -m AP"),
    ],
)
def test_what_does_not_stand_on_the_same_ground_is_refused(baseline, scores, words):
    with pytest.raises(NotComparableError) as caught:
        judge(baseline_of(STEADY, **baseline), scores_of(STEADY, **scores), ["AP"])
    assert str(caught.value) == f"base.json: {words}"


def test_a_quantisation_that_only_one_side_names_is_no_difference():
    baseline = baseline_of(STEADY, signature="focuseval:1|p:1|quant:strict")
    assert judge(baseline, scores_of(STEADY), ["AP"])[0].word == "pass"


def test_the_gate_judges_one_run():
    two = {"runs": ("a", "b"), "values": np.zeros((2, 12, 1)), "counts": (Counts(12, 0, 0, 0),) * 2}
    with pytest.raises(NotComparableError) as caught:
        judge(baseline_of(STEADY), scores_of(STEADY, **two), ["AP"])
    assert str(caught.value) == "expected one run to judge, found 2; call the gate once for each"


def test_rules_that_mean_nothing_are_refused():
    with pytest.raises(MeasureError, match="alpha"):
        GateRule(alpha=5)
    with pytest.raises(MeasureError, match="smallest effect"):
        GateRule(min_effect=-1)
    with pytest.raises(MeasureError, match="one or all of the measures to decide, found 'two'"):
        GateRule(decide="two")
    for wrong in ("", "%", "-1", -1, "101%", "nan%", "a few", "1e400%"):
        with pytest.raises(MeasureError, match=r"^expected how many topics may get worse, or which share"):
            GateRule(max_lost=wrong)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "base.json:1:2: expected JSON"),
        ("[]", "expected scores with their runs"),
        ('{"runs": [{"run": "a"}, {"run": "b"}]}', "expected one run to compare with, found a, b"),
        ('{"runs": [{"run": "a"}]}', "found means alone"),
    ],
)
def test_a_file_that_is_no_baseline_is_named_with_its_remedy(tmp_path, text, words):
    path = tmp_path / "base.json"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_baseline(path)
    assert words in str(caught.value)


def test_a_baseline_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FormatError, match="No such file"):
        read_baseline(tmp_path / "none.json")


def test_junit_and_markdown_carry_hostile_names_as_text():
    verdict = judge(baseline_of(STEADY), scores_of([v - 0.1 for v in STEADY]), ["AP"])[0]
    suite = ET.fromstring(as_junit([verdict]))
    assert suite.get("failures") == "1"
    assert suite.find("testcase/failure").get("message").startswith("REGRESSION")
    assert "| 0.0002 | REGRESSION |" in as_markdown([verdict])
    assert as_text([verdict]).count("\n") == 6


GOLD = "".join(
    json.dumps({"topic": str(t), "doc": "d", "spans": [{"start": 10 * t, "end": 10 * t + 8}]}) + "\n" for t in range(8)
)


def run_text(shift):
    return "".join(
        json.dumps({"topic": str(t), "doc": "d", "rank": 1, "start": 10 * t + shift, "end": 10 * t + 8 + shift}) + "\n"
        for t in range(8)
    )


@pytest.fixture
def files(tmp_path):
    for name, text in {
        "gold.jsonl": GOLD, "good.jsonl": run_text(0), "bad.jsonl": run_text(4),
        "docs.jsonl": json.dumps({"id": "d", "text": "x" * 200}) + "\n",
        "other.jsonl": GOLD.replace('"start": 0,', '"start": 1,'),
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    call = ["score", "gold.jsonl", "good.jsonl", "--docs", "docs.jsonl", "-m", "spanR@5", "--per-topic"]
    invoke(tmp_path, [*call, "--format", "json", "-o", "base.json"])
    return tmp_path


def invoke(folder, call):
    placed = [str(folder / word) if word.endswith((".jsonl", ".json", ".xml", ".md")) else word for word in call]
    return CliRunner().invoke(main, placed, env={"GITHUB_STEP_SUMMARY": str(folder / "summary.md")})


def test_exit_codes_are_0_pass_1_regression_2_no_verdict(files):
    gate = ["gate", "--baseline", "base.json", "--docs", "docs.jsonl", "-m", "spanR@5"]
    assert invoke(files, [*gate, "gold.jsonl", "good.jsonl"]).exit_code == 0
    result = invoke(files, [*gate, "gold.jsonl", "bad.jsonl", "--junit", "j.xml", "--markdown", "m.md"])
    assert result.exit_code == 1
    assert "REGRESSION spanR@5: 1.0000 → 0.5000" in result.output
    assert (files / "j.xml").exists()
    assert (files / "m.md").read_text() in (files / "summary.md").read_text()
    result = invoke(files, [*gate, "other.jsonl", "good.jsonl"])
    assert result.exit_code == 2
    assert "NO VERDICT" in result.output
    assert invoke(files, [*gate[:2], "base.json"]).exit_code == 2


def test_ci_is_told_when_nothing_can_be_compared(files):
    gate = ["gate", "--baseline", "base.json", "--docs", "docs.jsonl", "-m", "spanR@5", "-m", "IoU@5"]
    result = invoke(files, [*gate, "other.jsonl", "good.jsonl", "--junit", "j.xml", "--markdown", "m.md"])
    assert result.exit_code == 2
    suite = ET.parse(files / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "2")
    assert "other gold than now" in suite.find("testcase/error").get("message")
    assert (files / "m.md").read_text().startswith("### focuseval gate: no verdict\n\n")
    assert (files / "m.md").read_text() in (files / "summary.md").read_text()
    result = invoke(files, [*gate, "other.jsonl", "good.jsonl", "--junit", "no/such/folder/j.xml"])
    assert (result.exit_code, result.output.count("NO VERDICT")) == (2, 1)


def test_the_pytest_helper_fails_on_a_regression_and_returns_verdicts_otherwise(files):
    from focuseval.collection.documents import open_documents  # noqa: PLC0415  beside its use

    docs = open_documents(files / "docs.jsonl")
    base, gold = files / "base.json", str(files / "gold.jsonl")
    assert assert_no_regression(base, gold, str(files / "good.jsonl"), "spanR@5", docs=docs)[0].word == "pass"
    with pytest.raises(AssertionError, match="REGRESSION"):
        assert_no_regression(base, gold, str(files / "bad.jsonl"), ["spanR@5"], docs=docs)


STORED = Path(__file__).parent / "stored_baselines"
EXAMPLE = Path(focuseval.example.__file__).parent


def gated(stored, gold, run, *options):
    given = ["gate", "--baseline", str(stored), str(EXAMPLE / "gold" / gold), str(EXAMPLE / "runs" / run), *options]
    return CliRunner().invoke(main, given)


@pytest.mark.parametrize(
    ("stored", "gold", "run", "options"),
    [
        ("spans-0.1.0.json", "gold.jsonl", "spans/paragraphs.jsonl", ["--profile", "rag", "-m", "spanR@5"]),
        (
            "focused-0.1.0.json",
            "assessments",
            "focused/careful.xml",
            ["--profile", "inex2006", "--task", "focused", "-m", "nxCG@5"],
        ),
    ],
)
def test_a_baseline_that_version_0_1_0_stored_still_passes(stored, gold, run, options):
    """Its signature names policies that are gone since; the values are the same to the last bit."""
    done = gated(STORED / stored, gold, run, *options)
    assert done.exit_code == 0, done.stderr
    assert "(+0.0000, 95 % interval [+0.0000, +0.0000]" in done.stdout


def test_a_baseline_under_another_policy_is_refused_by_its_name(tmp_path):
    text = (STORED / "spans-0.1.0.json").read_text().replace("missing:zero", "missing:skip")
    (tmp_path / "base.json").write_text(text)
    done = gated(tmp_path / "base.json", "gold.jsonl", "spans/paragraphs.jsonl", "--profile", "rag", "-m", "spanR@5")
    assert done.exit_code == 2
    assert "other policies (missing) than now (was skip, is zero)" in done.stderr
