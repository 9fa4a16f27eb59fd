"""trec_eval's own test data: what its ``make quicktest`` compares with, and what focuseval prints.

Needed: a clone of https://github.com/usnistgov/trec_eval, version 10, named by the environment variable TREC_EVAL.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import focuseval as fe
from focuseval.data.tables import Table
from focuseval.formats.content import source_of
from reproductions.data import Missing
from reproductions.published import compared, verdict

SOURCE = "trec_eval, test data of its 'make quicktest'"
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
NAMES = {
    "map": "AP", "recip_rank": "RR", "Rprec": "Rprec", "ndcg": "nDCG", "bpref": "Bpref", "infAP": "infAP",
    "gm_map": "GMAP", "set_P": "SetP", "set_recall": "R", "set_F": "SetF", "set_map": "SetAP",
    **{f"{theirs}_{cutoff}": f"{ours}@{cutoff}"
       for theirs, ours in (("P", "P"), ("recall", "R"), ("ndcg_cut", "nDCG"), ("map_cut", "AP"))
       for cutoff in CUTOFFS},
    **{f"success_{cutoff}": f"Success@{cutoff}" for cutoff in (1, 5, 10)},
    **{f"iprec_at_recall_{tenth / 10:.2f}": f"IPrec(rule=trec_eval10)@{tenth / 10:g}" for tenth in range(11)},
}  # fmt: skip
CASES = (
    ("-q", "qrels.test", "results.test", "out.test.aq", {}),
    ("-q -c, a run that leaves topics out", "qrels.test", "results.trunc", "out.test.aqc", {}),
    ("-q -c -M100, the first hundred only", "qrels.test", "results.trunc", "out.test.aqcM", {"cutoff": 100}),
)


def clone() -> Path:
    """Return trec_eval's folder of tests."""
    named = os.environ.get("TREC_EVAL", "")
    if not named or not (Path(named) / "test" / "qrels.test").is_file():
        raise Missing("set TREC_EVAL to a clone of https://github.com/usnistgov/trec_eval")
    return Path(named) / "test"


def theirs(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, topic and value of the measures that focuseval has."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name, topic, value = (part.strip() for part in line.split("\t"))
        if name in NAMES:
            yield name, topic, value


def six_columns(path: Path) -> fe.Run:
    """Return a run whose lines may go on after the sixth column."""
    lines = [" ".join(line.split()[:6]) for line in path.read_text(encoding="utf-8").splitlines()]
    return fe.read_run(source_of("\n".join(lines).encode(), path.name))


def differing(case: str, qrels: str, run: str, printed: str, policies: dict[str, int]) -> list[tuple[str, ...]]:
    """Return how many values of a case are the same, and each one that is not."""
    gold = fe.read_gold(clone() / qrels)
    scores = fe.evaluate(gold, six_columns(clone() / run), list(NAMES.values()), **policies)
    (run_id,) = scores.runs
    found = scores.per_topic()[run_id] | {"all": scores.means()[run_id]}
    wanted = list(theirs(clone() / printed))
    wrong = [
        (f"{case}: {name}, {topic}", value, f"{found[topic][NAMES[name]]:.4f}", "differs")
        for name, topic, value in wanted
        if topic not in found or f"{found[topic][NAMES[name]]:.4f}" != value
    ]
    same = len(wanted) - len(wrong)
    return [(case, f"{len(wanted)} values", f"{same} equal", verdict(str(len(wanted)), str(same))), *wrong]


def tables() -> list[Table]:
    """Return the cases of the test."""
    rows = [row for case in CASES for row in differing(*case)]
    notes = ("trec_eval ignores what follows the sixth column; focuseval refuses such a line, so it is cut off here.",)
    return [compared(SOURCE, ("case", "published", "ours", "verdict"), rows, notes)]
