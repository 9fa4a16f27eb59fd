"""What became of every quotation: verdicts, places, counts; as tables and as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from focuseval.data.tables import Table, numbers, words

if TYPE_CHECKING:
    from focuseval.evaluation.quotes.answers import Quotation
    from focuseval.evaluation.quotes.search import QuotePlace

VERBATIM, ALTERED, SPLICED, ELSEWHERE, NOWHERE = "verbatim", "altered", "spliced", "elsewhere", "nowhere"
MEANING = {
    VERBATIM: "in the cited document (or, if none is cited, in some document) as it is quoted",
    ALTERED: "in the cited document with other words",
    SPLICED: "put together from separate places",
    ELSEWHERE: "in a document other than the cited one",
    NOWHERE: "in no document",
}
VERDICTS = tuple(MEANING)
_SHOWN = 60


@dataclass(frozen=True)
class QuoteCheck:
    """One quotation and where it stands."""

    quotation: Quotation
    verdict: str
    places: tuple[QuotePlace, ...] = ()
    """Every place of a text that stands in several; the pieces of a spliced one, in the order of the quotation."""
    similarity: float = 0.0
    found: str = ""
    """What the documents say there."""
    unknown: tuple[str, ...] = ()
    """Cited documents that the collection does not have."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        one, first = self.quotation, self.places[0] if self.places else None
        return {
            "id": one.answer,
            "line": one.at.line,
            "quote": one.text,
            "cited": list(one.cited),
            "verdict": self.verdict,
            "document": first.document if first else None,
            "start": first.start if first else None,
            "end": first.end if first else None,
            "similarity": self.similarity if first else None,
            "found": self.found or None,
            "places": [list(place) for place in self.places],
            "unknown": list(self.unknown),
        }


@dataclass(frozen=True)
class CheckedQuotes:
    """All quotations of a file."""

    checks: tuple[QuoteCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Verdict → number of quotations."""
        return {verdict: sum(check.verdict == verdict for check in self.checks) for verdict in VERDICTS}

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the verdicts, and one of all quotations."""
        return self._summary(), self._list()

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "counts": self.counts,
            "quotes": [check.to_json() for check in self.checks],
            "notes": list(self.notes),
        }

    def _summary(self) -> Table:
        total = len(self.checks)
        rows = tuple(
            (verdict, number, number / total if total else None, MEANING[verdict])
            for verdict, number in self.counts.items()
        )
        columns = (*words("verdict"), *numbers("quotes"), *numbers("share", form=".1%"), *words("the quotation is"))
        return Table("Quotations", columns, rows, self.notes)

    def _list(self) -> Table:
        columns = (
            *words("answer", "quotation", "cited", "verdict", "document"),
            *numbers("start", "end"),
            *numbers("similarity", form=".3f"),
            *numbers("places"),
        )
        return Table("Every quotation", columns, tuple(map(_row, self.checks)))


def _row(check: QuoteCheck) -> tuple[str | int | float | None, ...]:
    one = check.quotation
    text = " ".join(one.text.split())
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    cited = ", ".join(f"{name} (unknown)" if name in check.unknown else name for name in one.cited) or None
    if not check.places:
        return one.answer, shown, cited, check.verdict, None, None, None, None, 0
    document, start, end = check.places[0]
    return one.answer, shown, cited, check.verdict, document, start, end, check.similarity, len(check.places)
