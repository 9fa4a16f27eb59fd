"""The drop-in for the official tool prints what its slow and obvious twin computes, on random collections."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.evaluation.inex_eval import Options, report
from focuseval.measures.matching import prepare
from oracle import inex_eval as slow
from oracle.highlighted import relevant_documents
from strategies.highlighted import collections

MODES = {"irr": 5, "n": 10, "beta": 0.25}


def lawful(results, mode):
    """Results as the tool accepts them: no overlap (f), articles on end (r, i, b), one entry point an article (b)."""
    order = list(dict.fromkeys(document for document, _, _ in results))
    if mode == "f":
        seen, kept = set(), []
        for document, start, end in results:
            text = {(document, i) for i in range(start, end)}
            kept += [] if text & seen else [(document, start, end)]
            seen |= text
        return kept
    if mode in "rib":
        results = sorted(results, key=lambda result: order.index(result[0]))
    return [next(r for r in results if r[0] == document) for document in order] if mode == "b" else results


def printed(text):
    lines = [re.split("\t+", line) for line in text.splitlines()[1:-1]]
    return {(name, topic): float(value) for name, topic, value in lines}


@given(case=collections(), mode=st.sampled_from("tfrib"), complete=st.booleans(), data=st.data())
def test_every_line_equals_the_twins(case, mode, complete, data):
    gold = case[0]
    entered = any(j["bep"] >= 0 and j["spans"] for judged in gold.values() for j in judged.values())
    if not any(relevant_documents(judged) for judged in gold.values()) or (mode == "b" and not entered):
        return
    run = {topic: lawful(results, mode) for topic, results in case[1].items() if topic in gold and results}
    if mode == "t" and run:  # an unknown offset here and there
        topic = data.draw(st.sampled_from(sorted(run)))
        run[topic] = [*run[topic], (run[topic][0][0], -1, -1)]
    options = Options(mode, **MODES, complete=complete, queries=True)
    found = printed(report(run_of(run), prepare(gold_of(gold)), options))
    counted = [topic for topic in gold if complete or run.get(topic)]
    assert found == pytest.approx(expected(gold, run, counted, mode), abs=1e-12, nan_ok=True)


def expected(gold, run, counted, mode):
    """Name and topic (or ``all``) → value."""
    rates = {t: slow.rates(gold[t], run.get(t, []), mode, **MODES) for t in gold}
    sizes = {t: slow.counts(gold[t], run.get(t, []), mode) for t in gold}
    first = next(iter(gold))
    single = {"MAiP": "AiP", "MAgP": "AgP"}
    lines = {("num_q", "all"): len(counted)}
    for topic in counted:
        own = {name: value for name, value in rates[topic].items() if not name.startswith("ircl_prn")}
        lines |= {(single.get(name, name), topic): value for name, value in (sizes[topic] | own).items()}
    summed = counted if mode in "tf" else gold
    lines |= {(name, "all"): sum(sizes[topic][name] for topic in summed) for name in sizes[first]}
    means = {name: sum(rates[topic][name] for topic in counted) / max(len(counted), 1) for name in rates[first]}
    return lines | {(name, "all"): value for name, value in means.items()}
