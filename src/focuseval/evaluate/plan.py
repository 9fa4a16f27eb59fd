"""What is computed, and how: measures and policies from a profile, a task, or the data themselves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from focuseval.errors import MeasureError
from focuseval.match.policies import Policies, inex_eval
from focuseval.measures import parse
from focuseval.measures.profiles import DEFAULTS, TASKS, profile_named, task_named
from focuseval.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.match import Prepared
    from focuseval.measures import Asked


@dataclass(frozen=True)
class Plan:
    """Measures and policies of one evaluation."""

    measures: tuple[Asked, ...]
    policies: Policies
    task: str | None
    profile: str | None
    run_format: str | None = None
    repair: bool = False
    """Whether runs that break the task's rules are repaired rather than refused."""
    chunks: Any = None
    queries: dict[str, Any] = field(default_factory=dict)
    """Topic → its structural query, when structure is read strictly."""

    def reading(self, topics: Any, chunks: Any) -> Plan:
        """Return the plan with the chunks, and the topics' queries where structure is read strictly."""
        if self.policies.cas != "strict":
            return replace(self, chunks=chunks)
        if topics is None:
            raise MeasureError("strict structure (SCAS) needs the topics' queries; give them with --topics")
        return replace(self, chunks=chunks, queries={t.id: t.query for t in topics if t.query is not None})


def plan_for(
    prepared: Prepared,
    sources: Sequence[Any],
    asked: tuple[Asked, ...],
    *,
    task: str | None,
    profile: str | None,
    changes: dict[str, Any],
) -> Plan:
    """Decide what to compute: what was asked, else the profile's measures of the task, else the task's own."""
    run_format, repair = changes.pop("run_format", None), changes.pop("repair", False)
    chosen = profile_named(profile) if profile else None
    task = task_named(task) if task else _task_of(sources, chosen)
    policies = Policies()
    if chosen:
        task = chosen.task(task)
        policies = policies.but(**chosen.policies_of(task))
    if changes.get("compat") == "inex_eval":
        policies = inex_eval(policies)
    policies = policies.but(**{name: value for name, value in changes.items() if value is not None})
    if not asked:
        names = chosen.measures_of(task) if chosen and task else default_measures(prepared, task)
        asked = tuple(replace(parse(name), written="") for name in names)
    return Plan(asked, policies, task, profile, run_format, repair=repair)


def _task_of(sources: Sequence[Any], chosen: Any) -> str | None:
    """Take the task that the run itself names, where it names one that is known."""
    if chosen is None or not sources or not isinstance(sources[0], Run):
        return None
    named = [name for name in TASKS if sources[0].task and name == sources[0].task]
    return named[0] if named else None


def default_measures(prepared: Prepared, task: str | None) -> tuple[str, ...]:
    """Return the measures that fit a task, or, without one, the data: spans for spans, documents for qrels."""
    gold = prepared.gold
    if gold.scale in {"coverage", "grades"}:
        return DEFAULTS["grades"]
    if gold.scale == "trec":
        return DEFAULTS["documents"]
    if task is None:
        task = "spans" if len(gold.passages.topic) else "documents"
    elements = len(gold.elements.topic) and task in {"thorough", "focused"}
    return DEFAULTS[f"{task} elements" if elements else task]
