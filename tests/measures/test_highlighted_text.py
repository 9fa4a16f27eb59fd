"""Array code equals the slow and obvious version, on random collections."""

from statistics import mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from focuseval.measures.profiles import Policies
from focuseval.measures.spans import OF_TEXT, united
from oracle import highlighted as slow
from strategies.highlighted import collections, usable

CASES = {
    "gP@1": (slow.gP, {"at": 1}),
    "gP(beta=0.25)@3": (slow.gP, {"at": 3, "beta": "1/4"}),
    "gP(score=t2i, irr=4)@2": (slow.gP, {"at": 2, "score": "t2i", "irr": 4}),
    "gP(score=bep, n=10)@2": (slow.gP, {"at": 2, "score": "bep", "n": 10}),
    "gR@2": (slow.gR, {"at": 2}),
    "gR(gain=length)@2": (slow.gR, {"at": 2, "gain": "length"}),
    "gR(gain=length, credit=retrieved)@2": (slow.gR, {"at": 2, "gain": "length", "credit": "retrieved"}),
    "MAgP": (slow.MAgP, {}),
    "MAgP(beta=0.25)": (slow.MAgP, {"beta": "1/4"}),
    "MAgP(gain=length)": (slow.MAgP, {"gain": "length"}),
    "MAgP(gain=length, credit=retrieved)": (slow.MAgP, {"gain": "length", "credit": "retrieved"}),
    "MAgP(gain=length, form=ratio)": (slow.MAgP, {"gain": "length", "form": "ratio"}),
    "MAgP(gain=length, form=interpolated)": (slow.MAgP, {"gain": "length", "form": "interpolated"}),
    "MAgP(form=ratio)": (slow.MAgP, {"form": "ratio"}),
    "MAgP(form=interpolated)": (slow.MAgP, {"form": "interpolated"}),
    "MAgP(score=t2i, irr=5)": (slow.MAgP, {"score": "t2i", "irr": 5}),
    "MAgP(score=bep, n=10)": (slow.MAgP, {"score": "bep", "n": 10}),
    "MAgP@9c": (slow.MAgP, {"most": 9}),
    "MAgP(score=t2i, irr=5)@9c": (slow.MAgP, {"most": 9, "score": "t2i", "irr": 5}),
    **{f"{n}@11c": (getattr(slow, n), {"at": "11c"}) for n in ("charP", "charR", "charF")},
    "T2I(irr=6)": (slow.T2I, {"irr": 6}),
    "BEPD(A=0.1)": (slow.BEPD, {"A": 0.1}),
    "BEPD(A=10)": (slow.BEPD, {"A": 10}),
    "EPRUM(A=0.1)": (slow.EPRUM, {"A": 0.1}),
    "EPRUM(A=1)@0.5": (slow.EPRUM, {"A": 1, "at": "1/2"}),
    **{f"EPRUM-P(A=1)@{at}": (slow.EPRUM_P, {"A": 1, "at": at}) for at in (1, 3)},
    "hP@3": (slow.hP, {"at": 3}),
    "hR@3": (slow.hR, {"at": 3}),
    "hF@3": (slow.hF, {"at": 3}),
    "hAP": (slow.hAP, {}),
    "iP@0.00": (slow.iP, {"at": "0"}),
    "iP@0.07": (slow.iP, {"at": "0.07"}),
    "iP@0.125": (slow.iP, {"at": "0.125"}),
    "iP@1": (slow.iP, {"at": "1"}),
    "MAiP": (slow.MAiP, {}),
    **{name: (getattr(slow, name), {}) for name in ("charP", "charR", "charF", "artP", "artR", "artF")},
    **{name: (getattr(slow, name), {}) for name in ("spanP", "spanR", "spanF", "IoU", "hit", "full", "spanRR")},
    **{f"{n}@3": (getattr(slow, n), {"at": 3}) for n in ("spanP", "spanR", "spanF", "IoU", "hit", "full", "spanNDCG")},
    **{f"{n}@13c": (getattr(slow, n), {"at": "13c"}) for n in ("spanP", "spanR", "spanF", "IoU", "hit", "full")},
    "spanNDCG": (slow.spanNDCG, {}),
    **{f"spanRR@{k}": (slow.spanRR, {"at": k}) for k in (1, 2)},
    **{f"ceiling({m})": (slow.ceiling, {"M": m}) for m in ("spanP", "spanR", "spanF", "IoU")},
}


def expected(name, gold, run):
    """Topic → value, for the topics that count; None where the topic has no base."""
    compute, parameters = CASES[name]
    if compute in {slow.BEPD, slow.EPRUM, slow.EPRUM_P}:
        lengths = {d: judged["length"] for documents in reversed(gold.values()) for d, judged in documents.items()}
        parameters = {**parameters, "L": slow.Fraction(sum(lengths.values()), len(lengths))}
    chunks = sorted({result for results in run.values() for result in results})
    return {
        topic: compute(judged, chunks if compute is slow.ceiling else run.get(topic, []), **parameters)
        for topic, judged in gold.items()
        if slow.relevant_documents(judged)
    }


@settings(max_examples=2 * settings.default.max_examples)
@given(case=collections())
def test_every_measure_equals_its_slow_twin(case):
    gold, run = case
    names = [name for name in CASES if usable(name, gold, run)]
    if not names:
        return
    scores = fe.evaluate(gold_of(gold), run_of(run), names)
    for column, name in enumerate(names):
        truth = expected(name, gold, run)
        found = dict(zip(scores.topics, scores.values[0, :, column].tolist(), strict=True))
        assert found == pytest.approx(
            {t: np.nan if v is None else float(v) for t, v in truth.items()}, abs=1e-12, nan_ok=True
        ), name
        kept = [float(value) for value in truth.values() if value is not None]
        assert scores.means()["run"][name] == pytest.approx(mean(kept) if kept else np.nan, nan_ok=True), name
        assert scores.excluded(0)[name] == len(gold) - len(kept)
    assert scores.counts[0].excluded == len(gold) - len(scores.topics)
    assert scores.counts[0].missing == sum(not run.get(topic) for topic in scores.topics)


@given(case=collections(), cutoff=st.sampled_from(["", "@3"]), block=st.integers(1, 12))
def test_united_text_equals_its_slow_twin_in_blocks_of_any_size(case, cutoff, block):
    gold, run = case
    if not usable("spanP", gold, run):
        return
    found = united(match(run_of(run), prepare(gold_of(gold)), Policies()), int(cutoff[1:] or 0) or None, block)
    for name in ("spanP", "spanR", "IoU"):
        truth, values = expected(name + cutoff, gold, run).values(), OF_TEXT[name](found)
        assert values.tolist() == pytest.approx([float(value) for value in truth], abs=1e-12), name
