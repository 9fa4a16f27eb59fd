"""What the official INEX tool of 2008–10 (inex_eval 3.1) printed, and what ``focuseval inex-eval`` prints."""

import re

import focuseval as fe
from focuseval.data.tables import Table
from focuseval.evaluation.inex_eval import Options, report
from focuseval.formats.content import source_of
from focuseval.measures.prepared import Prepared, prepare
from reproductions.data import Missing, folder
from reproductions.published import compared, verdict

SOURCE = "inex_eval 3.1, run on a case of two topics; values of the topic that the run answers"
QRELS = """\
1 Q0 d1 100 400 50 50:60 200:40
1 Q0 d2 50 100 0 0:50
1 Q0 d3 0 300
2 Q0 d9 10 20 5 5:10
"""
FOCUSED = "1 Q0 d1 1 4 R 40 80\n1 Q0 d3 2 3 R 0 50\n1 Q0 d2 3 2 R 0 100\n1 Q0 d1 4 1 R 200 40\n"
IN_CONTEXT = "1 Q0 d1 1 4 R 200 40\n1 Q0 d1 2 3 R 40 80\n1 Q0 d3 3 2 R 0 50\n1 Q0 d2 4 1 R 0 100\n"
ENTRY_POINTS = "1 Q0 d1 1 3 R 40\n1 Q0 d3 2 2 R 0\n1 Q0 d2 3 1 R 260\n"
PRINTED = (
    ("focused", FOCUSED, Options("f"), "char_prec", "0.5555555555555556"),
    ("focused", FOCUSED, Options("f"), "char_rec", "1.0"),
    ("focused", FOCUSED, Options("f"), "iP[0.01]", "0.75"),
    ("focused", FOCUSED, Options("f"), "MAiP", "0.6344884488448854"),
    ("relevant in context, β = 1/4", IN_CONTEXT, Options("r", beta=0.25), "gP[1]", "0.8415841584158417"),
    ("relevant in context, β = 1/4", IN_CONTEXT, Options("r", beta=0.25), "MAgP", "0.6469146914691469"),
    ("tolerance to irrelevance, 300", IN_CONTEXT, Options("i", irr=300), "gP[1]", "0.25"),
    ("tolerance to irrelevance, 300", IN_CONTEXT, Options("i", irr=300), "MAgP", "0.25"),
    ("best in context, n = 500", ENTRY_POINTS, Options("b", n=500), "gP[1]", "0.98"),
    ("best in context, n = 500", ENTRY_POINTS, Options("b", n=500), "MAgP", "0.7333333333333333"),
)
MODES = {"f": "focused", "r": "relevant in context", "b": "best in context"}


def output(run: str, prepared: Prepared, options: Options) -> str:
    """Return what the drop-in prints for a run in the tool's own format."""
    return report(fe.read_run(source_of(run.encode(), "norel.run")), prepared, options)


def values(text: str) -> dict[str, str]:
    """Return the values over all topics, by name."""
    rows = [re.split("\t+", line) for line in text.splitlines()[1:-1]]
    return {name: value for name, topic, value in rows if topic == "all"}


def by_value() -> Table:
    """Return ten values, to the last digit."""
    gold = prepare(fe.read_gold(source_of(QRELS.encode(), "qrels")))
    rows = []
    for task, run, options, name, published in PRINTED:
        ours = values(output(run, gold, options))[name]
        rows.append((task, name, published, ours, verdict(published, ours)))
    return compared(SOURCE, ("task", "value", "published", "ours", "verdict"), rows)


def by_line() -> Table:
    """Return how many lines of the tool's whole output are printed again, with a topic that has nothing relevant."""
    place = folder("inex_eval")
    gold = prepare(fe.read_gold(place / "norel.qrels"))
    rows = []
    for mode, task in MODES.items():
        theirs = (place / f"norel.{mode}.out").read_text(encoding="utf-8").splitlines()
        ours = output((place / "norel.run").read_text(encoding="utf-8"), gold, Options(mode, queries=True)).splitlines()
        same = sum(line == other for line, other in zip(theirs, ours, strict=False))
        rows.append(
            (f"-{mode} -q, {task}", f"{len(theirs)} lines", f"{same} equal", verdict(str(len(theirs)), str(same)))
        )
    title = "inex_eval 3.1, the whole output; one of two topics has nothing relevant"
    return compared(title, ("task", "published", "ours", "verdict"), rows)


def tables() -> list[Table]:
    """Return the values, and the lines where the tool's output is at hand."""
    try:
        return [by_value(), by_line()]
    except Missing:
        return [by_value()]
