"""Numbers that papers work out by hand, and what focuseval prints for the same input."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import focuseval as fe
from focuseval.data.tables import Table
from focuseval.formats.content import source_of
from focuseval.formats.frames import run_from_frame
from focuseval.measures.graded import precall, recall_precision, weak_ranks
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from reproductions.published import compared, printed, verdict

NOTES = "Kazai and Lalmas (2005), Notes on what to measure in INEX, pages 16 to 18"
HIXEVAL = "Pehcevski and Thom (2007), Evaluating focused retrieval tasks, appendix B"
NCG = "Järvelin and Kekäläinen (2002), ACM TOIS 20(4), normalised cumulated gain of the example"
INEX_2006 = "Lalmas et al. (2007), INEX 2006 evaluation measures, BEPD at A = 0.1 and L = 1000"
CUT = "the slide cuts digits off"


class Line(NamedTuple):
    """One published figure and ours."""

    what: str
    published: str
    value: float
    because: str = ""

    def row(self) -> tuple[str, ...]:
        """Return the figure with a verdict."""
        ours = printed(self.value, self.published)
        return self.what, self.published, ours, verdict(self.published, ours, self.because)


def lines(what: Sequence[str], published: str, values: Sequence[float], because: str = "") -> list[Line]:
    """Return one line for each published figure of a list."""
    return [Line(*found, because) for found in zip(what, published.split(), values, strict=True)]


def graded(grades: Sequence[str]) -> fe.Gold:
    """Return one article's elements ``/a[1]/b[1]`` … with grades of exhaustivity and specificity such as ``33``."""
    paths = "".join(
        f'<path path="/a[1]/b[{number}]" exhaustiveness="{e}" specificity="{s}"/>'
        for number, (e, s) in enumerate(grades, 1)
    )
    text = f'<assessments topic="1"><file file="d">{paths}</file></assessments>'
    return fe.read_gold(source_of(text.encode(), "grades.xml"))


def highlighted(line: str) -> fe.Gold:
    """Return the gold of one line of the form of 2008–10."""
    return fe.read_gold(source_of(line.encode(), "qrels"))


def sized(highlighted: Sequence[int]) -> fe.Gold:
    """Return one article's elements ``/a[1]/b[1]`` … of 60 characters, so many of them highlighted."""
    found = "".join(
        f'<element path="/a[1]/b[{number}]" exhaustivity="2" size="60" rsize="{size}"/>'
        for number, size in enumerate(highlighted, 1)
    )
    text = f'<assessments pool="1" topic="1"><file collection="c" name="d">{found}</file></assessments>'
    return fe.read_gold(source_of(text.encode(), "sizes.xml"))


def elements(numbers: Sequence[int], spans: Sequence[tuple[int, int]] = ()) -> fe.Run:
    """Return a run of the elements ``/a[1]/b[n]``; 0 stands for one that is not relevant."""
    rows = [{"path": f"/a[1]/b[{number}]" if number else f"/a[1]/c[{rank}]"} for rank, number in enumerate(numbers)]
    places = [{"start": start, "end": end} for start, end in spans] or [{}] * len(rows)
    return run_from_frame([{"topic": "1", "doc": "d"} | row | place for row, place in zip(rows, places, strict=True)])


def inex_eval() -> list[Line]:
    """Gains 1 and .5 of 6.75 in all: the ideal run and its reverse."""
    gold = prepare(graded(["33", "22", *["33"] * 5, "31"]))

    def points(order: Sequence[int], masses: Sequence[float]) -> tuple[list[float], list[float]]:
        m = match(elements(order), gold)
        found = m.elements("sog", "full")
        units = np.array([[round(mass / found.base.unit) for mass in masses]])
        return [mass / found.base.gain.sum() for mass in masses], precall(found, weak_ranks(m, found), units)[
            0
        ].tolist()

    (recall, precision), (low, weak) = points([1, 2], [1, 1.5]), points([2, 1], [0.5])
    return [
        *lines(["i2 recall, ideal run, rank 1", "rank 2"], "0.14 0.22", recall, CUT),
        *lines(["i2 precision, ideal run, rank 1", "rank 2"], "1 0.9", precision),
        *lines(["i2 recall, reversed run, rank 1"], "0.07", low),
        *lines(["i2 precision, reversed run, rank 1"], "0.75", weak),
    ]


def inex_eval_ng() -> list[Line]:
    """Elements of 360 and 266 characters with grades 33 and 22; exhaustivity 11/3 in all."""
    gold = prepare(graded(["33", "22", "31", "31"]))
    places = {1: (0, 360), 2: (360, 626)}

    def points(order: Sequence[int]) -> tuple[list[float], list[float]]:
        mass, precision, total = recall_precision(match(elements(order, [places[n] for n in order]), gold))
        return (mass / total).tolist(), precision.tolist()

    (recall, precision), (low, weak) = points([1, 2]), points([2, 1])
    return [
        *lines(["i3 recall, ideal run, rank 1", "rank 2"], "0.27 0.45", recall),
        *lines(["i3 precision, ideal run, rank 1", "rank 2"], "1 0.86", precision),
        *lines(["i3 recall, reversed run, rank 1"], "0.18", low[:1]),
        *lines(["i3 precision, reversed run, rank 1"], "0.67", weak[:1]),
    ]


def gains(highlighted: Sequence[int], order: Sequence[int]) -> list[float]:
    """Return nxCG at every rank of a run."""
    names = [f"nxCG@{rank}" for rank in range(1, len(order) + 1)]
    found: list[float] = fe.evaluate(sized(highlighted), elements(order), names, task="focused").mean[0].tolist()
    return found


def normalised_gain() -> list[Line]:
    """Gains 1 and .5: the ideal run and its reverse."""
    return [
        *lines(["nXCG, ideal run, rank 1", "rank 2"], "1 1", gains([60, 30], [1, 2])),
        *lines(["nXCG, reversed run, rank 1", "rank 2"], "0.5 1", gains([60, 30], [2, 1])),
    ]


def classic_gain() -> list[Line]:
    """Gains 3 2 3 0 0 1 2 2 3 0 against an ideal list of 3 3 3 2 2 2 1 1 1 1."""
    values = gains([60, 60, 60, 40, 40, 40, 20, 20, 20, 20], [1, 4, 2, 0, 0, 7, 5, 6, 3, 0])
    published = "1 0.83 0.89 0.73 0.62 0.6 0.69 0.76 0.89 0.84"
    return lines([f"rank {rank}" for rank in range(1, 11)], published, values)


def hixeval() -> list[Line]:
    """Sections of 99 characters against paragraphs of 33, with one section highlighted, or two."""
    golds = {1: "1 Q0 d 99 400 0 0:99", 2: "1 Q0 d 198 400 0 0:198"}
    runs = {"A": [(0, 99), (99, 198), (198, 297)], "B": [(0, 33), (33, 66), (66, 99)]}
    published = {
        (1, "A"): "0.33 1.00 0.50 1.00",
        (1, "B"): "1.00 1.00 1.00 1.00",
        (2, "A"): "0.67 1.00 0.80 1.00",
        (2, "B"): "1.00 0.50 0.67 0.50",
    }
    found = []
    for (scenario, system), figures in published.items():
        rows = [{"topic": "1", "doc": "d", "start": start, "end": end} for start, end in runs[system]]
        scores = fe.evaluate(highlighted(golds[scenario]), rows, ["hP@3", "hR@3", "hF@3", "hAP"])
        names = [f"scenario {scenario}, system {system}, {name}" for name in ("P@3", "R@3", "F@3", "AP")]
        found += lines(names, figures, scores.mean[0].tolist())
    return found


def entry_points() -> list[Line]:
    """Score an entry point so many characters away from the best one."""
    distances = (0, 50, 100, 1000)
    gold = highlighted("1 Q0 d 10 1000 0 0:10")
    values = [
        float(fe.evaluate(gold, [{"topic": "1", "doc": "d", "start": place, "end": -1}], ["BEPD(A=0.1)"]).mean[0, 0])
        for place in distances
    ]
    return lines([f"{distance} characters away" for distance in distances], "1 0.6667 0.5 0.0909", values)


def tables() -> list[Table]:
    """Return every worked example, a table for each source."""
    sources = {
        NOTES: [*inex_eval(), *inex_eval_ng(), *normalised_gain()],
        NCG: classic_gain(),
        HIXEVAL: hixeval(),
        INEX_2006: entry_points(),
    }
    notes = {
        NOTES: ["The totals of the examples (6.75 for i2, 11/3 for i3) include elements that the slides do not list."],
        INEX_2006: ["The paper prints the formula; the figures are worked out from it by hand."],
    }
    heads = ("figure", "published", "ours", "verdict")
    return [compared(s, heads, [line.row() for line in found], notes.get(s, ())) for s, found in sources.items()]
