"""What a sweep found: scores, cost, and verdicts against the best chunking, as tables, JSON and a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.tables import Column, Table, numbers, render, words
from focuseval.engine.lazy import cached_property
from focuseval.errors import counted
from focuseval.evaluation.comparing import compare_scores, order_of
from focuseval.inference.comparison import P_HEADINGS
from focuseval.inference.sentences import shown_p

if TYPE_CHECKING:
    from focuseval.collection.chunks import Chunks, Extent
    from focuseval.data.tables import Row
    from focuseval.evaluation import Evaluation, Scores
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings
    from focuseval.report.build import Report


@dataclass(frozen=True)
class Standing:
    """How a chunking stands against the best one under the measure that decides."""

    word: str
    """``best``, ``worse`` or ``cannot tell``, with the reason where no outcome could be significant."""
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
        found = {0: Standing("best")}
        c = self.comparison
        for pair in np.flatnonzero(c.better == 0).tolist():
            word = "worse" if c.significant[pair] else c.verdict(pair)
            found[int(c.worse[pair])] = Standing(word, float(c.difference[pair]), float(c.corrected[pair]))
        places = {number: place for place, number in enumerate(self.order)}
        return tuple(found[places[number]] for number in range(len(self.names)))

    @property
    def cheapest(self) -> str:
        """The chunking with the least text to index among those that are not worse than the best."""
        level = [number for number in self.order if self.standings[number].word != "worse"]
        return self.names[min(level, key=lambda number: self.extents[number].characters)]

    def sentence(self) -> str:
        """Say which chunking is best, how many are worse, and which of the others costs least."""
        others = [standing for standing in self.standings if standing.word != "best"]
        worse = sum(standing.word == "worse" for standing in others)
        top = f"{self.best} is best under {self.measure}: {self.scores.mean[self.order[0], 0]:.4f}"
        if not others:
            return f"{top}."
        if worse == len(others):
            return f"{top}; {'the other one is' if worse == 1 else f'all {worse} others are'} worse."
        cheap = self.cheapest
        text = self.extents[self.names.index(cheap)]
        least = (
            "it also indexes the least text of these" if cheap == self.best else f"of these {cheap} indexes the least"
        )
        rest = f"{worse} of {len(others)} others are worse, {len(others) - worse} cannot be told from it"
        told = rest if len(others) > 1 else "the other one cannot be told from it"
        return f"{top}; {told}; {least} ({counted(text.chunks, 'chunk')}, {text.times:.2f} × the text)."

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
        rows = tuple(self._row(number, tokens=tokens) for number in self.order)
        method = f"{self.comparison.method}; {counted(len(self.comparison.topics), 'topic')}."
        said = (self.sentence(), *((self.comparison.sentence(),) if len(rows) > 1 else ()), method)
        return Table("Chunkings, best first", columns, rows, (*said, *self._gaps()))

    def _row(self, number: int, *, tokens: bool) -> Row:
        text, stands = self.extents[number], self.standings[number]
        p = "" if stands.p is None else shown_p(stands.p, self.settings)
        cost = (text.chunks, text.characters, text.times, *((text.tokens,) if tokens else ()))
        return (self.names[number], stands.word.partition(":")[0], p, *self.scores.mean[number].tolist(), *cost)

    def _gaps(self) -> list[str]:
        """Say which chunkings leave text out."""
        texts = zip(self.names, self.extents, strict=True)
        return [f"{name}: {counted(text.left_out, 'character')} in no chunk." for name, text in texts if text.left_out]

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
            "chunkings": [self._json(number) for number in self.order],
        }

    def _json(self, number: int) -> dict[str, Any]:
        measured = zip(self.scores.measures, self.scores.mean[number].tolist(), strict=True)
        stands = self.standings[number]
        return {
            "chunking": self.names[number],
            "measures": dict(measured),
            "cost": vars(self.extents[number]) | {"times": self.extents[number].times},
            "against_best": {"verdict": stands.word, "difference": stands.difference, "p_corrected": stands.p},
        }

    def report(self, title: str = "") -> Report:
        """Return the report on the runs of all chunkings, with quality drawn against cost."""
        from focuseval.retrieval.sweeps.page import report_on_sweep  # noqa: PLC0415  only pages need it

        return report_on_sweep(self, title)

    def __str__(self) -> str:
        """Return the table, with the signature below: what ``print`` shows."""
        return render([self.table()], "table", signature=self.scores.signature).rstrip("\n")

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        from focuseval.data.tables.layouts import notebook  # noqa: PLC0415  only notebooks need it

        return notebook(self.table(), self.scores.signature)
