"""Of articles without relevance, a report shows the first twenty of every run."""

import pytest

import focuseval as fe
from building import gold_of, run_of

DOCUMENTS = [f"d{n:02}" for n in range(1, 31)]
TEXTS = {name: f"Text of {name}." for name in DOCUMENTS}


def shown(relevant):
    """Return the documents in the lists of a run that returns all of them, in order."""
    judged = {name: {"spans": [(0, 4)], "length": 12} for name in relevant}
    run = run_of({"t": [(name, 0, 4) for name in DOCUMENTS]})
    report = fe.build_report(gold_of({"t": judged}), [run], measures=["charP"], index=TEXTS)
    (topic,) = report.heat["topics"]
    _, top, *rest = topic["runs"][0]
    return sorted(report.heat["documents"][d] for d in {*top[::3], *(rest[0][3::6] if rest else ())})


@pytest.mark.parametrize("relevant", [["d01"], ["d20"], ["d21"], ["d22", "d30"]])
def test_articles_down_to_the_depth_and_relevant_ones_below_it_are_shown(relevant):
    assert shown(relevant) == sorted({*DOCUMENTS[:20], *relevant})
