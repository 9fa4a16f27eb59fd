"""A baseline: what ``focuseval score --per-topic --format json`` wrote, read back and held against new scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from focuseval.errors import FormatError, NotComparableError
from focuseval.evaluation.score_file import finite, read_score_file
from focuseval.evaluation.signature import decisions

if TYPE_CHECKING:
    from pathlib import Path

    from focuseval.evaluation import Scores

_REMEDY = "write it with 'focuseval score GOLD RUN --per-topic --format json -o FILE'"


@dataclass(frozen=True)
class Baseline:
    """One run's values per topic, with what they were computed from."""

    run: str
    per_topic: dict[str, dict[str, float]]
    """Topic → measure → value."""
    signature: str
    gold_sha256: str
    docs_sha256: str | None
    file: str = ""

    def values(self, measure: str) -> dict[str, float]:
        """Return topic → value of one measure."""
        return {topic: values[measure] for topic, values in self.per_topic.items() if measure in values}


def read_baseline(path: str | Path, run: str | None = None) -> Baseline:
    """Read a baseline; of several runs in the file, the one named `run`."""
    document = read_score_file(path, _REMEDY)
    runs = document["runs"]
    chosen = [r for r in runs if run is None or r.get("run") == run]
    if len(chosen) != 1:
        names = ", ".join(str(r.get("run")) for r in runs)
        raise FormatError(f"expected one run to compare with, found {names}", at=str(path), remedy="name it")
    docs = document.get("docs_sha256")
    return Baseline(
        run=str(chosen[0].get("run", "")),
        per_topic=_values(chosen[0].get("per_topic"), path),
        signature=str(document.get("signature", "")),
        gold_sha256=str(document.get("gold_sha256", "")),
        docs_sha256=None if docs is None else str(docs),
        file=str(path),
    )


def _values(per_topic: object, path: str | Path) -> dict[str, dict[str, float]]:
    """Return topic → measure → value, every one of them a finite number."""
    if not isinstance(per_topic, dict):
        raise FormatError("expected values per topic, found means alone", at=str(path), remedy=_REMEDY)
    for topic, values in per_topic.items():
        if not isinstance(values, dict):
            raise FormatError(f"expected the measures of topic {topic}, found none", at=str(path), remedy=_REMEDY)
    return {
        topic: {name: finite(value, f"{name} of topic {topic}", path, _REMEDY) for name, value in values.items()}
        for topic, values in per_topic.items()
    }


def refuse_other_ground(baseline: Baseline, scores: Scores) -> None:
    """Refuse scores that were not made from the same gold, documents and policies."""
    pairs = (
        ("gold", baseline.gold_sha256, scores.gold_sha256),
        ("documents", baseline.docs_sha256, scores.docs_sha256),
        *_policies(baseline.signature, scores.signature),
    )
    for what, old, new in pairs:
        if old != new:
            raise NotComparableError(
                f"{baseline.file}: other {what} than now (was {_short(old)}, is {_short(new)}); "
                "score the baseline again on the same ground"
            )


def _policies(old: str, new: str) -> list[tuple[str, str | None, str | None]]:
    """Return the policies of two signatures, by name; the quantisation counts where both have elements."""
    before, after = decisions(old), decisions(new)
    names = sorted({*before, *after} - ({"quant"} if before.keys() ^ after.keys() == {"quant"} else set()))
    return [(f"policies ({name})", before.get(name), after.get(name)) for name in names]


def _short(value: str | None) -> str:
    return "none" if not value else value if len(value) <= 24 else f"{value[:12]}…"
