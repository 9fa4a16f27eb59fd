"""What the page says of any pair under any measure is what Python says, word for word."""

from dataclasses import replace

import numpy as np
import pytest

from building import gold_of, run_of
from focuseval.inference.comparison import other_order
from focuseval.inference.paired import wins_sentence
from focuseval.inference.sentences import signed
from focuseval.report.build import gather_evidence, report_on
from focuseval.report.first_screen import UNDECIDED
from focuseval.report.page import render_html
from strategies.campaigns import campaign

MEASURES = ["MAgP", "spanR@5", "IoU@1", "spanR@1", "spanP@3", "MAiP", "iP@0.01", "hit@1"]
ALL = """
  const { otherOrder, topicRows, verdict, wins } = focuseval.scores;
  const { measures, runs, topics } = focuseval.choice.choices();
  const said = [];
  runs.forEach((_, a) => runs.forEach((_, b) => a !== b && measures.forEach((_, m) => {
    const rows = topicRows(a, b, m).map((row) => [topics[row.topic], row.difference]);
    said.push([a, b, m, verdict(a, b, m), wins(a, b, m), otherOrder(a, b, m), rows]);
  })));
  return said;
"""


def evidence_of(case):
    gold, runs, texts = campaign(topics=1 if case == "one topic" else 9, runs=4, documents=30)
    options = {"index": texts, "task": "spans"}
    if case == "copies":
        runs = [runs[0], *(replace(runs[1], run_id=f"same-{n}") for n in "abc")]
    elif case == "baseline":
        options["baseline"] = runs[2].run_id
    elif case == "gaps":
        runs = [runs[0], runs[1].take(np.flatnonzero(runs[1].topic < 6)), *runs[2:]]
        options["missing"] = "skip"
    elif case == "nothing in common":
        runs = [runs[0].take(np.flatnonzero(runs[0].topic < 4)), runs[1].take(np.flatnonzero(runs[1].topic > 5))]
        options["missing"] = "skip"
    return gather_evidence(gold, runs, MEASURES, **options)


@pytest.fixture
def opened(browser, tmp_path):
    def show(report):
        path = tmp_path / "report.html"
        path.write_text(render_html(report), encoding="utf-8")
        browser.open("about:blank")
        browser.open(path.as_uri())
        browser.wait("return document.readyState === 'complete'")
        return browser

    return show


@pytest.mark.parametrize("case", ["plain", "baseline", "copies", "gaps", "one topic", "nothing in common"])
def test_every_pair_under_every_measure_has_python_s_sentences_and_differences(opened, case):
    evidence = evidence_of(case)
    said = opened(report_on(evidence)).run(ALL)
    drawn, base = evidence.drawn, evidence.baseline
    assert len(said) == len(drawn) * (len(drawn) - 1) * len(MEASURES)
    for i, j, measure, verdict, wins, caveat, rows in said:
        a, b = drawn[i], drawn[j]
        comparisons = evidence.comparisons if base in (None, a, b) else evidence.other_comparisons
        found = comparisons[measure]
        if found is None:
            assert (verdict["headline"], verdict["reason"]) == (
                UNDECIDED[0], UNDECIDED[1].format(measure=MEASURES[measure]),
            )  # fmt: skip
            continue
        expected = found.verdict_of(a, b)
        assert verdict == {"word": expected.word, "headline": expected.headline, "reason": expected.reason}
        assert wins == wins_sentence(found.against(a, b))
        assert caveat == other_order(comparisons, a, b, MEASURES[measure])
        differences = dict(zip(found.topics, found.differences(a, b).tolist(), strict=True))
        assert dict(rows) == differences
        assert [difference for _, difference in rows] == sorted(differences.values())


def test_one_sentence_never_contradicts_another(opened):
    """Values that differ by less than what is printed are counted once, by Python, for every sentence."""
    gold = gold_of({t: {"d": {"spans": [(0, 500_000)], "length": 1_000_000}} for t in "123"})
    spans = {"one": (0, 500_000), "two": (0, 499_999)}
    runs = [run_of({"1": [("d", *span)], "2": [("d", *span)], "3": [("d", 0, 100)]}, n) for n, span in spans.items()]
    evidence = gather_evidence(gold, runs, ["spanR@1", "charP"], index={"d": "x" * 1_000_000}, task="spans")
    page = opened(report_on(evidence))
    reason = page.run("return document.getElementById('verdict-reason').textContent")
    carried = page.run("return document.getElementById('carried').textContent")
    assert "(1 tied)" in reason
    assert "2 topics differ" in reason
    assert carried.startswith("A is better on 2 and neither on 1 of 3 topics.")
    page.run("document.getElementById('swap').click()")
    carried = page.run("return document.getElementById('carried').textContent")
    assert carried.startswith("B is better on 2 and neither on 1 of 3 topics.")
    assert "(1 tied)" in page.run("return document.getElementById('verdict-reason').textContent")


def test_the_page_prints_numbers_as_python_does(opened):
    chance = np.random.default_rng(4)
    values = [*(n / 32 for n in range(-40, 41)), *chance.uniform(-2, 2, 300), 1e-5, -1e-5, 0.00005, 0.99995, 5e-17]
    page = opened(report_on(evidence_of("one topic")))
    script = "return arguments[0].map((value) => [focuseval.four(value), focuseval.signed(value)])"
    assert page.run(script, values) == [[f"{value:.4f}", signed(value)] for value in values]


def test_the_means_of_slices_and_of_filtered_topics_are_python_s(opened):
    evidence = evidence_of("plain")
    report = report_on(evidence)
    page = opened(report)
    first, scores = report.choices["slices"][0], evidence.scores
    cells = page.run("return [...document.querySelector('#slices tbody tr').cells].map((cell) => cell.textContent)")
    a, b = evidence.pair
    means = scores.values[[a, b]][:, first["topics"], scores.deciding].mean(axis=1)
    assert cells[1:5] == [str(len(first["topics"])), *(f"{mean:.4f}" for mean in means), signed(means[0] - means[1])]
