"""Random assessed elements and runs that return some of them, as plain values and as the library's columns."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from focuseval.data.gold import NOT_ASSESSED, TOO_SMALL, UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from focuseval.measures.profiles import Policies

TOPICS = ("t1", "t2", "t3")
DOCUMENTS = ("d1", "d2")
PATHS = (
    "/a[1]",
    "/a[1]/b[1]",
    "/a[1]/b[1]/c[1]",
    "/a[1]/b[1]/c[2]",
    "/a[1]/b[10]",
    "/a[1]/b[2]",
    "/a[1]/b[2]/link[1]",
    "/a[1]/b[2]/link[1]/c[1]",
    "/a[1]/b[2]/link[1]/c[1]/d[3]",
    "/a[1]/bb[1]",
)
COVERAGES = "NLSE"
QUANTS = {
    "coverage": ("strict", "gen"),
    "grades": ("strict", "gen", "sog", "e3_s321", "e32_s3", "e321_s32"),
    "exhaustivity": ("strict5", "gen5", "genLifted", "spec"),
    "highlights": ("spec", "strict5"),
}
_PAIRS = [(0, 0), *((e, s) for e in (1, 2, 3) for s in (1, 2, 3)), ("U", "U"), (2, "U")]
_COVERED = [(0, "N"), (1, "L"), (1, "S"), (1, "E"), (2, "L"), (2, "S"), (2, "E"), (3, "L"), (3, "E"), ("U", "U")]
_SAID = {
    "coverage": st.sampled_from(_COVERED),
    "grades": st.sampled_from(_PAIRS),
    "exhaustivity": st.tuples(st.sampled_from([0, 1, 2, "?"]), st.just(UNKNOWN)),
    "highlights": st.tuples(st.just(2), st.just(UNKNOWN)),
}


@dataclass(frozen=True)
class Case:
    """One gold and one run, as the oracles read them."""

    scale: str
    quant: str
    assessments: dict
    run: dict

    def matched(self, **policies):
        return match(columns_of_run(self.run), prepare(gold_of(self.assessments, self.scale)), Policies(**policies))

    @property
    def counted(self):
        """Topics with anything relevant, in the gold's order: the rows of every measure's values."""
        return prepare(gold_of(self.assessments, self.scale)).topics


places = st.tuples(st.sampled_from(("t1", *TOPICS)), st.sampled_from(DOCUMENTS), st.sampled_from(PATHS))


@st.composite
def cases(draw, scales=("coverage", "grades", "exhaustivity", "highlights")):
    scale = draw(st.sampled_from(scales))
    sizes = st.integers(0, 6)
    said = st.tuples(_SAID[scale], sizes, sizes).map(lambda x: (*x[0], x[1], x[2]))
    least = draw(st.sampled_from([1, 8, 14]))  # or most cases would be too small to tell one base from another
    assessments = draw(st.dictionaries(places, said, min_size=least, max_size=16))
    anywhere = st.tuples(st.sampled_from([*DOCUMENTS, "unjudged"]), st.sampled_from([*PATHS, "/z[1]"]))
    judged = st.sampled_from(sorted({(d, p) for _, d, p in assessments}))
    results = st.lists(st.one_of(judged, judged, anywhere), min_size=draw(st.sampled_from([0, 4])), max_size=12)
    run = draw(st.dictionaries(st.sampled_from(TOPICS), results))
    return Case(scale, draw(st.sampled_from(QUANTS[scale])), assessments, run)


def _grade(said, other=NOT_ASSESSED):
    return {"?": TOO_SMALL, "U": other}.get(said, COVERAGES.index(said) if said in list(COVERAGES) else said)


def gold_of(assessments, scale="grades"):
    """Columns of the assessments, in an order that is nobody's."""
    rows = sorted(assessments.items(), key=lambda item: item[0][::-1])
    topic = np.array([TOPICS.index(t) for (t, _, _), _ in rows], np.int32)
    document = np.array([DOCUMENTS.index(d) for (_, d, _), _ in rows], np.int32)
    e, s, size, rsize = (np.array([_grade(said[i]) for _, said in rows], np.int64) for i in range(4))
    pairs = [(t, d) for d in range(len(DOCUMENTS)) for t in range(len(TOPICS))]
    relevant = [bool(((topic == t) & (document == d) & ((e > 0) | (rsize > 0))).any()) for t, d in pairs]
    none = np.full(len(pairs), UNKNOWN, np.int64)
    empty = np.zeros(0, np.int64)
    return Gold(
        TOPICS,
        pa.array(DOCUMENTS),
        Articles(
            np.array([t for t, _ in pairs], np.int32),
            np.array([d for _, d in pairs], np.int32),
            np.array(relevant, np.int32),
            none,
            none,
            none,
        ),
        Passages(empty.astype(np.int32), empty.astype(np.int32), empty, empty, empty),
        GradedElements(
            topic,
            document,
            pa.array([p for (_, _, p), _ in rows], pa.string()).dictionary_encode(),
            e.astype(np.int8),
            s.astype(np.int8),
            size,
            rsize,
        ),
        scale=scale,
        file="assessments.xml",
    )


def columns_of_run(run, ranks=None):
    """A run's results (``{topic: [(document, path), …]}``) as columns."""
    rows = [(t, d, p) for t, results in run.items() for d, p in results]
    topics = tuple(run)
    return Run(
        "run",
        topics,
        np.array([topics.index(t) for t, _, _ in rows], np.int32),
        pa.array([d for _, d, _ in rows], pa.string()),
        rank=None if ranks is None else np.array([r for t in topics for r in ranks[t]], np.int32),
        path=pa.array([p for _, _, p in rows], pa.string()),
    )
