"""The answer in words: hand-made scores whose verdict is plain."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from building import gold_of, run_of
from focuseval.evaluation.counts import Counts
from focuseval.evaluation.scores import Scores
from focuseval.inference.sentences import signed
from focuseval.inference.settings import Settings
from focuseval.measures.prepared import prepare
from focuseval.report.build import gather_evidence
from focuseval.report.evidence import Evidence, intervals
from focuseval.report.first_screen import by_topic, first_screen, remarks, verdict


def evidence_of(*rows, baseline=None, settings=None, **changes):
    """Runs × topics under one measure."""
    values = np.array(rows, np.float64)[:, :, None]
    topics = tuple(str(n) for n in range(values.shape[1]))
    counts = tuple(Counts(len(topics), 0, 0, 0) for _ in rows)
    labels = tuple(chr(65 + n) for n in range(len(rows)))
    scores = Scores(labels, topics, ("AP",), values, counts, "signature", files=labels)
    gold = gold_of({topic: {"d": {"spans": [(0, 5)], "length": 9}} for topic in topics})
    made = SimpleNamespace(prepared=prepare(gold), scores=replace(scores, **changes))
    return Evidence(made, settings or Settings(), labels, baseline)


GOOD, MIDDLE, BAD = np.linspace(0.7, 0.9, 20), np.linspace(0.4, 0.6, 20), np.linspace(0.1, 0.3, 20)
NOISY = MIDDLE + np.tile([0.1, -0.1], 10)


@pytest.mark.parametrize(
    ("runs", "word", "headline"),
    [
        ((GOOD, BAD), "better", "A is better than B."),
        ((BAD, GOOD), "worse", "A is worse than B."),
        ((MIDDLE, NOISY), "cannot tell", "A and B have the same mean."),
        ((MIDDLE, NOISY + 0.01), "cannot tell", "B scores higher than A, but this may be chance."),
        ((MIDDLE, MIDDLE), "cannot tell", "A and B score the same on every topic."),
        ((GOOD,), "alone", "A: AP is 0.8000 over 20 topics."),
        ((GOOD[:1], BAD[:1]), "cannot tell", "A scores higher than B, but this may be chance."),
        ((BAD, GOOD, MIDDLE), "better", "B is the best of 3 runs."),
        ((MIDDLE, NOISY - 0.01, BAD), "cannot tell", "A scores highest, but this may be chance: B may be as good."),
        (
            (MIDDLE, NOISY - 0.01, NOISY - 0.02),
            "cannot tell",
            "A scores highest, but this may be chance: the other 2 runs may be as good.",
        ),
        ((MIDDLE, MIDDLE, MIDDLE), "cannot tell", "All 3 runs score the same on every topic."),
        ((MIDDLE, MIDDLE, BAD), "cannot tell", "A and B share the highest mean."),
    ],
)
def test_the_verdict_says_what_the_scores_say(runs, word, headline):
    said = verdict(evidence_of(*runs))
    assert (said.word, said.headline) == (word, headline)


@pytest.mark.parametrize("runs", [([0.5, 0.75], [0.75, 0.75]), ([0.75, 0.75], [0.5, 0.75])])
def test_a_difference_has_the_sign_of_the_means_in_the_order_of_naming(runs):
    reason = verdict(evidence_of(*runs)).reason
    first, second = (f"{np.mean(run):.4f}" for run in runs)
    assert f"AP {first} against {second} over 2 topics (1 tied): " in reason
    sign = "+" if first > second else "−"
    assert f": {sign}0.1250 [" in reason


def test_three_copies_of_one_run_have_no_leader():
    answer = verdict(evidence_of(MIDDLE, MIDDLE, MIDDLE))
    assert answer.headline == "All 3 runs score the same on every topic."
    assert "leads" not in answer.reason
    assert "ahead" not in answer.reason


def test_values_that_differ_by_rounding_alone_are_ties_everywhere():
    shown = first_screen(evidence_of([0.1 + 0.2, 0.5, 0.5], [0.3, 0.5, 0.5]))
    assert shown.carried == "Neither is better on 3 of 3 topics. Gains and losses are equal."
    assert "(3 tied): +0.0000" in shown.verdict.reason
    assert "both score the same on every topic" in shown.verdict.reason
    assert [d.difference for d in shown.per_topic] == [0, 0, 0]


def test_a_difference_too_small_to_be_printed_is_counted_alike_in_every_sentence():
    shown = first_screen(evidence_of([0.5 + 1e-7, 0.5 - 2e-7, 0.5], [0.5, 0.5, 0.5]))
    assert "A is better on 1, B on 1 and neither on 1 of 3 topics." in shown.carried
    assert "(1 tied)" in shown.verdict.reason
    assert "2 topics differ" in shown.verdict.reason


def test_the_means_beside_a_difference_are_those_of_the_topics_compared():
    """One that only some runs answer is in their means, but not in the comparison."""
    evidence = evidence_of([0.5, 0.5, 1.0], [0.25, 0.5, np.nan], [0.75, 0.5, 0.0])
    assert [evidence.labels[run] for run in evidence.order] == ["C", "A", "B"]
    shown = first_screen(evidence)
    assert shown.verdict.headline.startswith("C scores highest")
    assert "AP: 0.6250" in shown.verdict.reason
    assert [d.topic for d in shown.per_topic] == ["1", "0"]


def test_one_topic_is_never_enough_and_the_reason_says_so():
    assert "One topic says nothing about others." in verdict(evidence_of(GOOD[:1], BAD[:1])).reason


@pytest.mark.parametrize(
    ("runs", "word", "headline"),
    [
        ((GOOD, MIDDLE, BAD), "better", "A is better than the baseline B."),
        ((BAD, GOOD, MIDDLE), "worse", "Every run is worse than the baseline B."),
        ((NOISY, MIDDLE, BAD), "cannot tell", "No run is better than the baseline B."),
    ],
)
def test_a_baseline_is_what_all_others_are_held_against(runs, word, headline):
    evidence = evidence_of(*runs, baseline=1)
    said = verdict(evidence)
    assert (said.word, said.headline) == (word, headline)
    assert evidence.pair[1] == 1
    assert [line.against for line in first_screen(evidence).runs].count("baseline") == 1


def test_a_difference_and_its_interval_are_those_of_the_topics():
    (found,) = verdict(evidence_of(GOOD, GOOD - 0.25)).against
    assert (found["run"], found["difference"]) == (1, pytest.approx(-0.25))
    assert (found["low"], found["high"]) == (pytest.approx(-0.25), pytest.approx(-0.25))
    assert (found["p"], found["word"], found["reason"], found["ties"]) == (2**-19, "worse", "worse", 0)
    assert (found["detectable"], found["topics_needed"]) == (None, None)  # all topics differ alike


def test_every_number_of_the_verdict_is_that_of_the_comparison():
    chance = np.random.default_rng(3)
    rows = [chance.random(30) for _ in range(4)]
    for baseline in (None, 2):
        evidence = evidence_of(*rows, baseline=baseline)
        compared = evidence.scores.compare("AP", baseline=None if baseline is None else "C")
        said = verdict(evidence)
        reference = compared.runs.index("C" if baseline == 2 else compared.runs[0])
        assert len(said.against) == 3
        for found in said.against:
            k = compared.pair(compared.runs.index(evidence.labels[found["run"]]), reference)
            sign = 1 if compared.worse[k] == reference else -1
            assert (found["p"], found["p_corrected"]) == (compared.p[k], compared.corrected[k])
            assert found["difference"] == sign * compared.difference[k]
            assert sorted((found["low"], found["high"])) == sorted((sign * compared.low[k], sign * compared.high[k]))
            assert (found["detectable"], found["ties"]) == (compared.detectable[k], compared.tied[k])
        assert compared.method in said.reason


def test_many_comparisons_are_corrected():
    chance = np.random.default_rng(3)
    base = chance.random(30)
    rows = [base, *(base + chance.normal(0, 0.2, 30) for _ in range(40))]
    corrected = verdict(evidence_of(*rows, baseline=0)).against
    plain = verdict(evidence_of(*rows, baseline=0, settings=Settings(correction="none"))).against
    assert sum(a["word"] != "cannot tell" for a in corrected) < sum(a["word"] != "cannot tell" for a in plain)
    assert [a["p"] for a in corrected] == [a["p"] for a in plain] == [a["p_corrected"] for a in plain]
    assert all(a["p_corrected"] >= a["p"] for a in corrected)


def test_the_reason_says_ties_p_power_and_how_it_was_tested():
    said = verdict(evidence_of([0.5, 0.75, 0.5, 0.5], [0.25, 0.25, 0.5, 0.375]))
    (found,) = said.against
    assert said.headline == "A scores higher than B, but this may be chance."
    assert said.reason == (
        "AP 0.5625 against 0.3438 over 4 topics (1 tied): "
        f"+0.2188 [{signed(-found['high'])}, {signed(-found['low'])}], p = 0.2500; "
        "cannot tell: 3 topics differ, no outcome could be significant. "
        "The test decides: randomisation, two-tailed at 0.05, exact, Holm over 1 pair. The interval is of this "
        "difference alone."
    )
    assert "p = 1.0000; cannot tell: both score the same on every topic" in verdict(evidence_of(GOOD, GOOD)).reason
    some = np.r_[0.5 * np.ones(8), np.zeros(4)]
    told = verdict(evidence_of(some, some - np.linspace(-0.1, 0.3, 12)))
    between = "{} to {}".format(*told.against[0]["topics_needed_interval"])
    assert (
        f" These topics would show a difference of {told.against[0]['detectable']:.4f} with probability .8; to show "
        f"this one takes about {told.against[0]['topics_needed']} topics ({between}). The test decides:"
    ) in told.reason
    bootstrap = Settings("bootstrap", 1, 1000, correction="none")
    assert "p < 0.001." in verdict(evidence_of(GOOD, BAD, settings=bootstrap)).reason


def test_no_common_topic_is_no_verdict():
    said = verdict(evidence_of([0.5, np.nan], [np.nan, 0.5]))
    assert said.word == "cannot tell"
    assert "No topic has a value in every run" in said.reason


def test_the_topics_that_carry_the_difference_are_gains_and_losses():
    evidence = evidence_of([0.5, 0.9, 0.1, 0.5, 0.6, 0.5, 0.2], [0.5, 0.1, 0.8, 0.4, 0.4, 0.2, 0.2])
    shown = first_screen(evidence)
    assert [(d.topic, round(d.difference, 6)) for d in shown.deciding] == [
        ("1", 0.8), ("5", 0.3), ("4", 0.2), ("3", 0.1), ("2", -0.7),
    ]  # fmt: skip
    assert [d.topic for d in by_topic(evidence)] == ["2", "0", "6", "3", "4", "5", "1"]
    assert shown.carried == (
        "A is better on 4, B on 1 and neither on 2 of 7 topics. Leave out topic 1, and the lead of A is gone."
    )


def test_without_a_loss_nothing_is_said_of_the_gains_that_carry_the_difference():
    shown = first_screen(evidence_of([0.9, 0.8, 0.5], [0.1, 0.2, 0.5]))
    assert shown.carried == "A is better on 2 and neither on 1 of 3 topics."


def test_equal_losses_are_shown_once_and_counted():
    shown = first_screen(evidence_of([0] * 6 + [1, 0.75, 0.5], [1] * 6 + [0, 0.5, 0.5]))
    assert [(d.topic, d.difference, d.alike) for d in shown.deciding] == [("6", 1, 1), ("7", 0.25, 1), ("0", -1, 6)]
    assert "Leave out the 5 largest gains of B, and its lead is gone." in shown.carried


def test_runs_that_are_equal_have_no_topic_that_carries_a_difference():
    shown = first_screen(evidence_of(GOOD, GOOD))
    assert shown.deciding == ()
    assert shown.carried == "Neither is better on 20 of 20 topics. Gains and losses are equal."
    assert first_screen(evidence_of([1, 0], [0, 1])).carried.endswith("Gains and losses are equal.")


def reversing(*means):
    """Runs × measures, every topic alike; the second measure is `IoU@1`."""
    values = np.repeat(np.array(means, np.float64)[:, None, :], 20, axis=1)
    return evidence_of(*(values[:, :, 0]), measures=("AP", "IoU@1", "P@5")[: values.shape[2]], values=values)


@pytest.mark.parametrize(
    ("means", "caveat"),
    [
        ([(0.5, 0.2), (0.4, 0.3)], "Under IoU@1 the order is the other way round."),
        ([(0.4, 0.3), (0.5, 0.2)], "Under IoU@1 the order is the other way round."),
        ([(0.5, 0.3), (0.4, 0.2)], ""),
        ([(0.5, 0.3), (0.4, 0.3)], ""),
        ([(0.5, 0.2, 0.1), (0.4, 0.3, 0.2)], "Under IoU@1 and P@5 the order is the other way round."),
        ([(0.5, 0.3), (0.4, 0.2), (0.3, 0.4)], "Under IoU@1 another run leads."),
        ([(0.5, 0.3), (0.4, 0.2), (0.3, 0.1)], ""),
    ],
)
def test_measures_that_reverse_the_verdict_are_named(means, caveat):
    assert verdict(reversing(*means)).caveat == caveat


def test_the_measure_that_decides_need_not_be_the_first():
    evidence = reversing((0.5, 0.2), (0.4, 0.3))
    scores = replace(evidence.scores, decides="IoU@1")
    turned = replace(evidence, evaluation=SimpleNamespace(prepared=evidence.prepared, scores=scores))
    assert turned.measure == "IoU@1"
    assert turned.order.tolist() == [1, 0]
    assert verdict(turned).headline == "A is worse than B."
    assert verdict(turned).caveat == "Under AP the order is the other way round."
    assert [line.run for line in first_screen(turned).runs] == ["B", "A"]


def test_a_single_run_shows_its_weakest_topics():
    assert [d.topic for d in first_screen(evidence_of([0.5, 0.1, 0.9])).deciding] == ["1", "0", "2"]


def test_a_mean_counts_only_the_topics_that_it_has():
    mean, low, high, topics = intervals(np.array([[0.2, 0.4, np.nan], [np.nan] * 3]), Settings())[0]
    assert (mean, topics) == (pytest.approx(0.3), 2)
    assert [low, high] == pytest.approx(0.3 + np.array([-1, 1]) * 12.7062 * 0.1, abs=1e-4)  # t of one degree


def test_gaps_are_said_where_the_reader_looks():
    counts = (Counts(3, 2, 1, 7), Counts(3, 0, 1, 0, unplaced=4, unknown=5))
    said = " ".join(remarks(evidence_of([0.1] * 3, [0.2] * 3, counts=counts)))
    assert "A leaves 2 of 3 topics unanswered (score 0)." in said
    assert "Nothing is relevant in some topics of the gold: left out." in said
    assert "B: 4 results have no known place" in said
    assert "B: 5 topics are not in the gold and were left out." in said


def test_names_are_told_apart():
    gold = gold_of({"t": {"d": {"spans": [(0, 5)], "length": 9}}})
    runs = [run_of({"t": [("d", 0, 5)]}, name) for name in ("a", "a", "a", "", " ")]
    labels = gather_evidence(gold, runs, ["charP"]).labels
    assert len({label.strip() for label in labels} - {""}) == 5
