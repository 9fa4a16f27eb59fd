"""What a sweep found: scores, cost, and verdicts against the best chunking, as tables, JSON and a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any

from focuseval.data.tables import Column, Table, numbers, render, words
from focuseval.data.tables.layouts import notebook
from focuseval.errors import counted
from focuseval.evaluation.scores import compare_scores, order_of
from focuseval.inference.comparison import P_HEADINGS
from focuseval.inference.intervals import bca
from focuseval.inference.paired import BETTER, WORSE
from focuseval.inference.sentences import shown_p
from focuseval.report.charts.chart import DIGITS, SHAPES, Chart, axis
from focuseval.report.charts.chart import number as rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.collection.chunks import Chunks, Extent
    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.evaluation.scores import Scores
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings
    from focuseval.report.build import Report

LINE, WIDTH = 0.04, 0.3
"""Height and width of a name, as shares of the plot's."""

WORDS = ("cannot tell", "worse", "best", "leads")
"""How a chunking stands: what has the first, second … of the report's colours and shapes."""


@dataclass(frozen=True)
class Standing:
    """How a chunking stands against the one with the highest mean under the measure that decides."""

    word: str
    """``best`` where all others are worse, else ``leads``; of the others ``worse`` or ``cannot tell``."""
    reason: str = ""
    """Why no outcome could be significant, where that is so."""
    difference: float | None = None
    """The best one's mean less its own."""
    p: float | None = None
    """Corrected for all pairs."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Chunkings, evaluated on the same questions; the columns of all tuples are in the order given."""

    evaluation: Evaluation
    chunks: tuple[Chunks, ...]
    extents: tuple[Extent, ...]
    settings: Settings
    noticed: tuple[str, ...] = ()
    """What was noticed while the runs were made."""

    @property
    def scores(self) -> Scores:
        """Every chunking's values, with the chunking as the run."""
        return self.evaluation.scores

    @property
    def names(self) -> tuple[str, ...]:
        """The chunkings."""
        return self.scores.names

    @property
    def measure(self) -> str:
        """The measure that decides: the first."""
        return self.scores.measures[0]

    @cached_property
    def order(self) -> list[int]:
        """The chunkings, best first."""
        found: list[int] = order_of(self.scores).tolist()
        return found

    @property
    def best(self) -> str:
        """The chunking with the highest mean."""
        return self.names[self.order[0]]

    @cached_property
    def comparison(self) -> Comparison:
        """Every pair of chunkings; its runs are in `order`.

        The correction is over all pairs: which one is best is seen in the same numbers, so any pair could have been one
        with the best.
        """
        return compare_scores(self.scores, self.measure, self.settings)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """How each chunking stands."""
        c, found = self.comparison, dict[int, Standing]()
        for place, number in enumerate(self.order):
            if place == 0:
                found[number] = Standing("best" if len(c.groups[0]) == 1 else "leads")
            else:
                pair = c.against(0, place)
                word = WORSE if pair.word == BETTER else pair.word
                found[number] = Standing(word, pair.reason, pair.difference, pair.corrected)
        return tuple(found[number] for number in range(len(self.names)))

    @property
    def cheapest(self) -> str:
        """The chunking with the least text to index among those that cannot be told from the best."""
        level = [self.order[place] for place in self.comparison.groups[0]]
        return self.names[min(level, key=lambda number: self.extents[number].characters)]

    def sentence(self) -> str:
        """Say which chunking is best, or which cannot be told from it, and which of these costs least."""
        c, cheap = self.comparison, self.cheapest
        lines = [c.conclusion("chunking").headline]
        if len(self.names) == 1:
            return lines[0]
        lines.append(f"The highest mean {self.measure} is {c.means[0]:.4f} over {counted(len(c.topics), 'topic')}.")
        if len(c.groups[0]) > 1:
            text = self.extents[self.names.index(cheap)]
            cost = f"({counted(text.chunks, 'chunk')}, {text.times:.2f} × the text)"
            lines.append(f"Of those that cannot be told apart, {cheap} indexes the least text {cost}.")
        return " ".join(lines)

    def table(self) -> Table:
        """Return a row for every chunking, best first: measures, ceilings, cost, and how it stands."""
        tokens = self.extents[0].tokens is not None
        columns = (
            *words("chunking", "against the best"),
            *numbers(P_HEADINGS.get(self.settings.correction, "p")),
            *(Column(name, best=not name.startswith("ceiling")) for name in self.scores.measures),
            *numbers("chunks", "characters", "× text", form=".2f"),
            *(numbers("tokens") if tokens else ()),
        )
        rows = []
        for number in self.order:
            text, stands = self.extents[number], self.standings[number]
            p = "" if stands.p is None else shown_p(stands.p, self.settings)
            cost = (text.chunks, text.characters, text.times, *((text.tokens,) if tokens else ()))
            rows.append((self.names[number], stands.word, p, *self.scores.mean[number].tolist(), *cost))
        lines = [self.sentence(), *([self.comparison.sentence()] if len(rows) > 1 else [])]
        lines.append(f"{self.comparison.method}; {counted(len(self.comparison.topics), 'topic')}.")
        for name, text in zip(self.names, self.extents, strict=True):
            if text.left_out:
                lines.append(f"{name}: {counted(text.left_out, 'character')} in no chunk.")
        return Table("Chunkings, best first", columns, tuple(rows), tuple(lines))

    def remarks(self) -> list[str]:
        """Return what a reader should know besides the numbers."""
        cut = (said for cut in self.chunks for said in cut.remarks)
        return list(dict.fromkeys((*self.noticed, *cut, *self.scores.remarks())))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, best first."""
        return {
            "signature": self.scores.signature,
            "gold_sha256": self.scores.gold_sha256,
            "docs_sha256": self.scores.docs_sha256,
            "decides": self.measure,
            "best": self.best,
            "cheapest": self.cheapest,
            "sentence": self.sentence(),
            "method": self.comparison.method,
            "topics": len(self.comparison.topics),
            "chunkings": [
                {
                    "chunking": self.names[number],
                    "measures": dict(zip(self.scores.measures, self.scores.mean[number].tolist(), strict=True)),
                    "cost": vars(self.extents[number]) | {"times": self.extents[number].times},
                    "against_best": {
                        "verdict": f"{stands.word}: {stands.reason}" if stands.reason else stands.word,
                        "difference": stands.difference,
                        "p_corrected": stands.p,
                    },
                }
                for number in self.order
                for stands in (self.standings[number],)
            ],
        }

    def report(self, title: str = "") -> Report:
        """Return the report on the runs of all chunkings, with quality drawn against cost first among its graphs."""
        from focuseval.report.build import evidence_on, report_on  # noqa: PLC0415  a hundred modules that only pages need

        evidence = evidence_on(self.evaluation, self.settings)
        report = report_on(evidence, title=title or f"{self.measure}: {len(self.names)} chunkings")
        cut = (remark for chunks in self.chunks for remark in chunks.remarks)
        remarks = (self.sentence(), *self.noticed, *cut, *report.remarks)
        return replace(report, charts=(quality_against_cost(self), *report.charts), remarks=remarks)

    def __str__(self) -> str:
        """Return the table, with the signature below: what ``print`` shows."""
        return render([self.table()], "table", signature=self.scores.signature).rstrip("\n")

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return notebook(self.table(), self.scores.signature)


def quality_against_cost(found: Sweep) -> Chart:
    """Draw every chunking's mean with its 95 % interval over its number of chunks; the size is that of their text."""
    unit = "characters" if found.extents[0].tokens is None else "tokens"
    low, high = bca(found.comparison.values, resamples=found.settings.of_interval, seed=found.settings.seed)
    rows: list[tuple[Any, ...]] = []
    for place, run in enumerate(found.order):
        text, stands = found.extents[run], found.standings[run].word
        numbers = (rounded(float(value)) for value in (found.comparison.means[place], low[place], high[place]))
        size = text.characters if text.tokens is None else text.tokens
        rows.append((found.names[run], text.chunks, size, *numbers, stands))
    caption = (
        f"Mean {found.measure} of every chunking with its 95 % interval, over the number of its chunks, all of which "
        f"have to be stored. The larger a point, the more {unit} have to be embedded. Up and to the left is better. "
        f"Colours and shapes say whether a chunking is worse than the best ({found.comparison.method})."
    )
    columns = ("chunking", "chunks", unit, "mean", "low", "high", "against the best")
    spec = _spec(found.measure, columns, labels([(name, chunks, mean) for name, chunks, _, mean, *_ in rows]))
    return Chart("chunking-cost", "Quality against cost of indexing", caption, "curves", columns, tuple(rows), spec)


def labels(points: Sequence[tuple[str, int, float]]) -> list[dict[str, Any]]:
    """Return where names stand: each beside its point, best first, moved down where it would hide another.

    >>> [row["mean"] for row in labels([("a", 100, 0.5), ("b", 101, 0.5), ("c", 900, 0.5), ("d", 90, 0.0)])]
    [0.5, 0.48, 0.5, 0.0]
    """
    heights = [mean for _, _, mean in points]
    line = LINE * (max(heights) - min(heights))
    wide = WIDTH * (log(max(chunks for _, chunks, _ in points)) - log(min(chunks for _, chunks, _ in points)))
    placed: list[tuple[float, float]] = []
    found = []
    for name, chunks, mean in points:
        at, height = log(max(chunks, 1)), mean
        near = sorted((y for x, y in placed if abs(x - at) <= wide), reverse=True)
        for y in near:
            if abs(y - height) < line:
                height = y - line
        placed.append((at, height))
        found.append({"chunking": name, "chunks": chunks, "mean": round(height, DIGITS)})
    return found


def _spec(measure: str, columns: tuple[str, ...], names: list[dict[str, Any]]) -> dict[str, Any]:
    """Return points with intervals and names."""
    stands = {"field": columns[-1], "type": "nominal"}
    words = {"domain": list(WORDS)}
    color, shape = stands | {"scale": words}, stands | {"scale": words | {"range": list(SHAPES[: len(WORDS)])}}
    size = {"field": columns[2], "type": "quantitative", "scale": {"range": [40, 260]}, "legend": None}
    x = axis("chunks", "chunks", scale={"type": "log", "nice": False, "padding": 30}, axis={"format": "~s"})
    title = f"mean {measure}"
    mean = axis("mean", title, scale={"zero": False})
    interval = {"y": axis("low", title, scale={"zero": False}), "y2": {"field": "high"}}
    drawn = {"color": color, "tooltip": [{"field": name} for name in columns]}
    return {
        "width": "container",
        "height": 380,
        "data": {"name": "rows"},
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "rule", "strokeOpacity": 0.6}, "encoding": drawn | interval},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": drawn | {"y": mean, "shape": shape, "size": size},
            },
            {
                "data": {"values": names},
                "mark": {"type": "text", "align": "left", "dx": 10, "limit": 190},
                "encoding": {"y": mean, "text": {"field": "chunking"}},
            },
        ],
    }
