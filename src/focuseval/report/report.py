"""A report: everything that the page shows, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from focuseval.data.tables import Table
    from focuseval.report.charts.chart import Chart
    from focuseval.report.choices import Choices
    from focuseval.report.first_screen import FirstScreen


@dataclass(frozen=True)
class Provenance:
    """What was computed from what: enough to compute it again."""

    signature: str
    profile: str | None
    task: str | None
    gold: str
    gold_sha256: str
    docs: str
    docs_sha256: str | None
    test: str
    """How differences were judged."""
    measures: tuple[tuple[str, str], ...]
    """Name and summary of every measure."""
    remarks: tuple[str, ...] = ()
    """What the readers of gold and runs noticed."""


@dataclass(frozen=True)
class TextView:
    """Ranked lists of all topics, and which of their text is embedded."""

    runs: tuple[str, ...]
    a: int
    b: int | None
    topics: tuple[dict[str, Any], ...]
    """Per topic what `focuseval.report.lists.topic_view` returns, documents numbered."""
    said: str
    """What was left out, or why there is no text."""
    lost: tuple[str, ...] = ()
    """Sentences on documents that the index does not have."""
    highlighted: bool = True
    """Whether the gold says which text is relevant."""
    served: bool = False
    """Whether texts and complete lists are asked of a server."""
    documents: tuple[str, ...] = ()
    """The id of every numbered document."""
    depth: int = 0
    """Results of every list that are shown."""
    paths: tuple[str, ...] = ()
    """The paths of elements that topics name by number."""
    totals: tuple[Any, ...] = ()
    """For every run characters of the whole list and highlighted ones among them, topic by topic, or None."""
    budgets: tuple[dict[str, Any], ...] = ()
    """For every run the characters that budgets of words and tokens (``300 words``) pay for, topic by topic."""


@dataclass(frozen=True)
class Report:
    """Everything the page shows."""

    title: str
    about: Provenance
    first: FirstScreen
    choices: Choices
    remarks: tuple[str, ...]
    charts: tuple[Chart, ...]
    heat: TextView
    texts: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Document id → its text or pieces of it, blocks and elements."""
    grids: tuple[Table, ...] = ()
    """Tables of tests that have no place of their own: fidelity."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values: what ``focuseval report --format json`` prints."""
        return {
            "title": self.title,
            "about": asdict(self.about),
            "first": asdict(self.first) | {"runs": [_flat(asdict(line)) for line in self.first.runs]},
            "choices": asdict(self.choices),
            "remarks": list(self.remarks),
            "charts": [asdict(chart) for chart in self.charts],
            "heat": asdict(self.heat),
            "texts": dict(self.texts),
            "tables": [table.to_json() for table in self.grids],
        }

    def chart(self, name: str) -> Chart | None:
        """Return a graph by its id, or None where its data do not exist."""
        return next((chart for chart in self.charts if chart.id == name), None)


def _flat(line: dict[str, Any]) -> dict[str, Any]:
    """Return a run's line with its counts among the rest, as ``score --format json`` has them."""
    counts: dict[str, Any] = line.pop("counts")
    return line | counts
