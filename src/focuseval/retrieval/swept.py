"""What a sweep found: chunkings and retrievers on the same questions, with scores, costs and verdicts.

Which is best, what each factor gives by itself and whether they depend on each other is said by `focuseval.inference`;
here it is put into a table, JSON and a page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.chunks import Chunks, Extent
from focuseval.data.tables import Column, Table, notebook, numbers, render, words
from focuseval.errors import counted
from focuseval.evaluation.evaluation import Evaluation
from focuseval.evaluation.scores import Scores, order_of
from focuseval.inference.clusters import By
from focuseval.inference.comparison import P_HEADINGS, Comparison, compare
from focuseval.inference.paired import BETTER, WORSE, judge_pairs
from focuseval.inference.sentences import advice, fill, listed, shown_p, signed
from focuseval.inference.settings import Settings
from focuseval.report.build import Report
from focuseval.report.charts.chart import Chart, axis, hover, names_beside, scales, wide
from focuseval.report.charts.chart import number as rounded
from focuseval.retrieval.retrieving import MadeRun

CLEARLY = 0.9
"""The share of what the best one stores, up to which another one clearly stores less; its inverse is clearly more."""
STORED = ("chunks", "text", "vectors")
LOOKS = {
    "cannot tell": ("#808080", "circle"),
    "worse": ("#949494", "square"),
    "best": ("#0072B2", "triangle-up"),
    "leads": ("#0072B2", "diamond"),
}
"""How a chunking stands, with its colour and its shape: blue is what leads, as A is in the other graphs of a report."""


@dataclass(frozen=True)
class Standing:
    """How a chunking stands against the one with the highest mean under the measure that decides."""

    word: str  # ``best`` where all others are worse, else ``leads``; of the others ``worse`` or ``cannot tell``
    reason: str = ""  # why no outcome could be significant, where that is so
    difference: float | None = None  # the best one's mean less its own
    p: float | None = None  # corrected for all pairs


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """Chunkings, evaluated on the same questions; the columns of all tuples are in the order given."""

    evaluation: Evaluation
    chunks: tuple[Chunks, ...]
    extents: tuple[Extent, ...]
    settings: Settings
    noticed: tuple[str, ...] = ()
    """What was noticed while the runs were made."""
    clusters: By | None = None
    """What topics are clustered by, if by anything."""
    made_by: tuple[MadeRun, ...] = ()
    """How every run was retrieved, and what that cost."""
    retrievers: tuple[str, ...] = ()
    """The retriever of each, in words; empty where there is one for all chunkings that has no name of its own."""

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
        return list(order_of(self.scores).tolist())

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
        return self.scores.compare(self.measure, clusters=self.clusters, **vars(self.settings))

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """How each chunking stands."""
        c, (best, *others) = self.comparison, self.order
        found = {best: Standing("best" if len(c.groups[0]) == 1 else "leads")}
        for place, number in enumerate(others, 1):
            pair = c.against(0, place)
            word = WORSE if pair.word == BETTER else pair.word
            found[number] = Standing(word, pair.reason, pair.difference, pair.corrected)
        return tuple(found[number] for number in range(len(self.names)))

    @property
    def cheapest(self) -> str:
        """The one with the least text to index, then the fewest vectors, of those that cannot be told from the best."""
        level = [self.order[place] for place in self.comparison.groups[0]]
        return self.names[min(level, key=self.cost)]

    def cost(self, number: int) -> tuple[int, int]:
        """Return what is stored: characters and vectors."""
        return self.extents[number].characters, self.made_by[number].vectors if self.made_by else 0

    def share(self, one: int, of: int) -> NDArray[np.float64]:
        """Return what one chunking stores over what another does: chunks, text, vectors."""
        own, other = (np.array([self.extents[number].chunks, *self.cost(number)]) for number in (one, of))
        return np.asarray(np.divide(own, other, out=np.ones(3), where=other > 0))

    def cheaper(self, one: int, than: int) -> bool:
        """Whether one chunking stores clearly less of something than another, and clearly more of nothing."""
        share = self.share(one, than)
        return bool(share.max() <= 1 / CLEARLY and share.min() <= CLEARLY)

    @cached_property
    def frontier(self) -> tuple[bool, ...]:
        """Whether nothing that is clearly cheaper is as good, as far as these topics tell."""
        better, places = self.comparison.stars(), {number: place for place, number in enumerate(self.order)}
        every = range(len(self.names))
        return tuple(
            not any(self.cheaper(other, one) and not better[places[one], places[other]] for other in every)
            for one in every
        )

    def advice(self) -> str:
        """Say in a sentence what to use."""
        c, level = self.comparison, self.comparison.groups[0]
        if len(self.names) == 1:
            return c.conclusion("chunking").headline
        best = self.order[0]
        if len(level) == 1:
            more = self.share(best, self.order[1])
            most, times = int(more.argmax()), float(more.max()) if more.max() > 1 / CLEARLY else 1.0
            names = (self.best, self.names[self.order[1]])
            return advice(*names, len(self.names) - 1, (times, STORED[most]), alone=True, measurable=True)
        clearly = {self.order[place]: c.against(place, 0) for place in level if self.cheaper(self.order[place], best)}
        safe = [one for one, pair in clearly.items() if not pair.p <= c.settings.alpha]  # before any correction
        if clearly and not safe:
            return fill("use safer", run=self.best, p=shown_p(max(pair.p for pair in clearly.values()), self.settings))
        cheap = min(safe, key=self.cost, default=best)
        share = self.share(cheap, best)
        least = 0 if share[0] <= CLEARLY else int(share.argmin())
        cost = (float(share[least]), STORED[least])
        known: dict[str, Any] = {"alone": False, "measurable": True, "same": not c.differing.any()}
        if cheap != best:
            pair = clearly[cheap]
            p = "" if pair.reason else f", p {shown_p(pair.corrected, self.settings)}"
            seen = f" ({signed(pair.difference)}{p})" if pair.difference else ""
            known |= {"measurable": not pair.reason, "seen": seen}
        return advice(self.names[cheap], self.best, len(self.names) - 1, cost, **known)

    def sentence(self) -> str:
        """Say what to use, then which is best or cannot be told from it, and which of these costs least."""
        return " ".join((self.advice(), *self._reasons()))

    def _reasons(self) -> list[str]:
        """Return the sentences behind the advice: which is best, its mean, what costs least; none of a single one."""
        c, cheap = self.comparison, self.cheapest
        if len(self.names) == 1:
            return []
        lines = [c.conclusion("chunking").headline]
        lines.append(f"The highest mean {c.measure} is {c.means[0]:.4f} over {counted(len(c.topics), 'topic')}.")
        if self.share(self.names.index(cheap), self.order[0])[1] <= CLEARLY:
            text = self.extents[self.names.index(cheap)]
            cost = f"({counted(text.chunks, 'chunk')}, {text.times:.2f} × the text)"
            lines.append(f"Of those that cannot be told apart, {cheap} indexes the least text {cost}.")
        return lines

    @cached_property
    def factors(self) -> tuple[str, ...]:
        """What chunking and retriever do each by itself, and whether they depend on each other; of a grid only."""
        ways = tuple(dict.fromkeys(self.retrievers))
        if len(ways) < 2 or len(self.names) == len(ways):
            return ()
        c = self.comparison
        values = np.empty_like(c.values)
        values[self.order] = c.values
        grid = values.reshape(-1, len(ways), values.shape[1])
        chunkings = tuple(dict.fromkeys(chunks.name for chunks in self.chunks[:: len(ways)]))
        names = (chunkings if len(chunkings) == len(grid) else tuple(map(str, range(len(grid)))), ways)
        kept = np.isin(np.array(self.scores.topics, object), np.array(c.topics, object))
        clusters = self.scores.clustering(self.clusters).get("clusters")
        own = None if clusters is None else clusters.take(kept)
        lines, factors = [], ("chunking", "retriever")
        for axis_of, (factor, levels) in enumerate(zip(factors, names, strict=True)):
            order = np.argsort(-grid.mean(axis=(1 - axis_of, 2)), kind="stable")
            level = tuple(levels[one] for one in order)
            means = grid.mean(axis=1 - axis_of)[order]
            found = compare(c.measure, level, c.topics, means, self.settings, clusters=own)
            headline = found.conclusion(factor).headline
            lines.append(fill("factor", factor=factor, other=factors[1 - axis_of], headline=headline))
        contrasts = [
            (grid[a, x] - grid[b, x]) - (grid[a, y] - grid[b, y])
            for a, b in combinations(range(len(grid)), 2)
            for x, y in combinations(range(len(ways)), 2)
        ]
        judged = judge_pairs(np.stack([*contrasts, *(-one for one in contrasts)]), self.settings, clusters=own)
        p = shown_p(float(np.nanmin(judged.corrected)), self.settings)
        found_one = "interaction" if judged.significant.any() else "no interaction"
        return (*lines, fill(found_one, a="chunking", b="retriever", p=p))

    def equal(self) -> list[str]:
        """Name the chunkings that cut the same chunks."""
        groups: dict[tuple[bytes, ...], list[str]] = {}
        for chunks in self.chunks:
            key = (str(chunks.document.to_pylist()).encode(), chunks.start.tobytes(), chunks.end.tobytes())
            groups.setdefault(key, []).append(chunks.name)
        same = (list(dict.fromkeys(names)) for names in groups.values())
        return [f"{listed(names)} cut the same chunks." for names in same if len(names) > 1]

    def table(self) -> Table:
        """Return a row for every chunking, best first: measures, ceilings, cost, and how it stands."""
        tokens, grid = self.extents[0].tokens is not None, any(self.retrievers)
        columns = (
            *words("chunking", "against the best"),
            *numbers(P_HEADINGS.get(self.settings.correction, "p")),
            *words("rank"),
            *(Column(name, best=not name.startswith("ceiling")) for name in self.scores.measures),
            *numbers("chunks", "characters", "× text", form=".2f"),
            *(numbers("tokens") if tokens else ()),
            *((*numbers("vectors", "ms a question", form=".1f"), *words("frontier")) if grid else ()),
        )
        rows = []
        for place, number in enumerate(self.order):
            text, stands = self.extents[number], self.standings[number]
            p = "" if stands.p is None else shown_p(stands.p, self.settings)
            cost = (text.chunks, text.characters, text.times, *((text.tokens,) if tokens else ()))
            if grid:
                made = self.made_by[number]
                cost = (*cost, made.vectors, made.milliseconds, "yes" if self.frontier[number] else "")
            rank = self.comparison.standing(place)
            rows.append((self.names[number], stands.word, p, rank, *self.scores.mean[number].tolist(), *cost))
        many = len(rows) > 1  # then the advice is the title
        lines = [" ".join(self._reasons()) if many else self.advice(), *self.factors]
        lines += [self.comparison.sentence()] if many else []
        lines += [*self.equal(), *(f"Retriever: {way}." for way in self.ways)]
        lines.append(f"{self.comparison.method}; {counted(len(self.comparison.topics), 'topic')}.")
        lines += self.comparison.remarks()
        for name, text in zip(self.names, self.extents, strict=True):
            if text.left_out:
                lines.append(f"{name}: {counted(text.left_out, 'character')} in no chunk.")
        return Table(self.advice() if many else "Chunkings, best first", columns, tuple(rows), tuple(lines))

    @property
    def ways(self) -> tuple[str, ...]:
        """Every retriever with its settings, language and stemmer, once."""
        return tuple(dict.fromkeys(one.settings for one in self.made_by))

    def remarks(self) -> list[str]:
        """Return what a reader should know besides the numbers."""
        return list(dict.fromkeys((*self.noticed, *self.scores.remarks())))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, best first."""
        costs = []
        for number in self.order:
            one = self.made_by[number]
            counts = {"vectors": one.vectors, "embedded": one.embedded, "tokens_embedded": one.tokens, "cut": one.cut}
            spent = {"milliseconds_a_question": round(one.milliseconds, 3)} if any(self.retrievers) else {}
            costs.append({"retriever": one.settings, **counts, **spent})
        return {
            "signature": self.scores.signature,
            "gold_sha256": self.scores.gold_sha256,
            "docs_sha256": self.scores.docs_sha256,
            "decides": self.measure,
            "best": self.best,
            "cheapest": self.cheapest,
            "advice": self.advice(),
            "sentence": self.sentence(),
            "factors": list(self.factors),
            "equal": self.equal(),
            "retrievers": list(self.ways),
            "method": self.comparison.method,
            "topics": len(self.comparison.topics),
            "chunkings": [
                {
                    "chunking": self.names[number],
                    "measures": dict(zip(self.scores.measures, self.scores.mean[number].tolist(), strict=True)),
                    "cost": vars(self.extents[number]) | {"times": self.extents[number].times} | made,
                    "frontier": self.frontier[number],
                    "against_best": {
                        "verdict": f"{stands.word}: {stands.reason}" if stands.reason else stands.word,
                        "difference": stands.difference,
                        "p_corrected": stands.p,
                    },
                    "rank": None if self.comparison.ranks is None else self.comparison.ranks[place].tolist(),
                    "letters": None if self.comparison.ranks is None else self.comparison.letters[place],
                }
                for place, (number, made) in enumerate(zip(self.order, costs, strict=True))
                for stands in (self.standings[number],)
            ],
        }

    def report(self, title: str = "") -> Report:
        """Return the report on the runs of all chunkings, with quality drawn against cost first among its graphs."""
        from focuseval.report.build import evidence_on, report_on  # noqa: PLC0415  a hundred modules that only pages need

        evidence = evidence_on(self.evaluation, self.settings, clusters=self.clusters)
        report = report_on(evidence, title=title or f"{self.measure}: {len(self.names)} chunkings")
        said, own = self.sentence(), report.first.verdict
        if len(self.names) > 1:  # the page opens with what to use; who leads stands below it
            leads, *others = self._reasons()
            said, below = " ".join(others), " ".join(filter(None, (leads, own.caveat)))
            own = replace(own, word="advice", headline=self.advice(), caveat=below)
        ways = (f"Retriever: {way}." for way in self.ways)
        remarks = (said, *self.factors, *self.equal(), *ways, *self.noticed, *report.remarks)
        first, charts = replace(report.first, verdict=own), (quality_against_cost(self), *report.charts)
        return replace(report, first=first, charts=charts, remarks=remarks)

    def __repr__(self) -> str:
        return f"<Sweep of {', '.join(self.names)} under {self.measure}: {self.advice()}>"

    def __str__(self) -> str:
        """Return the table, with the signature below: what ``print`` shows."""
        return render([self.table()], "table", signature=self.scores.signature).rstrip("\n")

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return notebook(self.table(), self.scores.signature)


def quality_against_cost(found: Sweep) -> Chart:
    """Draw every chunking's mean with its 95 % interval over its number of chunks; the size is that of their text."""
    unit = "characters" if found.extents[0].tokens is None else "tokens"
    rows: list[tuple[Any, ...]] = []
    for run, mean, ends in zip(found.order, found.comparison.means, found.comparison.intervals.tolist(), strict=True):
        text, values = found.extents[run], (rounded(float(value)) for value in (mean, *ends))
        cost = text.characters if text.tokens is None else text.tokens
        edge = "yes" if found.frontier[run] else "no"
        rows.append((found.names[run], text.chunks, cost, *values, found.standings[run].word, edge))
    caption = (
        f"Mean {found.measure} of every chunking with its 95 % interval, over the number of its chunks, all of which "
        f"have to be stored. The larger a point, the more {unit} have to be embedded. Up and to the left is better. "
        f"Colours and shapes say whether a chunking is worse than the best ({found.comparison.method}). Pale: "
        f"another chunking stores clearly less and is not measurably worse."
    )
    columns = ("chunking", "chunks", unit, "mean", "low", "high", "against the best", "frontier")
    stands = {"field": columns[-2], "type": "nominal"}
    color, shape = (stands | {"scale": scale} for scale in scales(LOOKS, [row[-2] for row in rows]))
    paleness = {"domain": ["yes", "no"], "range": [1, 0.3]}
    pale = {"field": columns[-1], "type": "nominal", "scale": paleness, "legend": None}
    size = {"field": columns[2], "type": "quantitative", "scale": {"range": [40, 260]}, "legend": None}
    x = axis("chunks", "chunks", scale={"type": "log", "nice": False, "padding": 30}, axis={"format": "~s"})
    y, low = (axis(field, f"mean {found.measure}", scale={"zero": False}) for field in ("mean", "low"))
    drawn: dict[str, Any] = {"color": color, "tooltip": hover(**dict.fromkeys(columns, ""))}
    interval = drawn | {"y": low, "y2": {"field": "high"}}
    points, drawn_height = [(row[0], row[1], row[3]) for row in rows], float(np.ptp(found.comparison.intervals))
    layers = [
        {"mark": {"type": "rule", "strokeOpacity": 0.6}, "encoding": interval},
        {
            "mark": {"type": "point", "filled": True},
            "encoding": drawn | {"shape": shape, "size": size, "opacity": pale},
        },
        *names_beside(points, ("chunking", "chunks", "mean"), drawn_height, logarithmic=True),
    ]
    spec = wide(380, encoding={"x": x, "y": y}, layer=layers)
    return Chart("chunking-cost", "Quality against cost of indexing", caption, "answer", columns, tuple(rows), spec)
