"""Whether a measure measures what it should: the S×R space, recall-base runs, constructed cases, passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from focuseval.evaluation.planning import evaluate
from focuseval.measures import parse
from focuseval.measures.matching.policies import Policies
from focuseval.measures.profiles import profile_named
from focuseval.studies.fidelity.mapping import Gap, passage_gap, to_elements, to_passages
from focuseval.studies.fidelity.requirements import Answer, requirements
from focuseval.studies.fidelity.space import SpaceTest, space_test
from focuseval.studies.simulation import RECALL_BASE_KINDS, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.data.gold import Gold
    from focuseval.evaluation.scores import Scores

__all__ = ["Answer", "Fidelity", "Gap", "SpaceTest", "fidelity", "requirements", "to_elements", "to_passages"]

IN_CONTEXT = ("MAgP", "MAgP(gain=length)", "AP")
"""The measures of Pehcevski and Thom: the defaults of the S×R space."""
OF_ELEMENTS = ("i2AP(quant=spec)", "MAep", "nxCG@10", "PRUM")
"""The measures of Kazai and Lalmas that highlights allow: the defaults of the recall-base runs."""


@dataclass(frozen=True)
class Fidelity:
    """Everything the tests found."""

    space: SpaceTest
    recall_base: Scores
    """The four runs of the recall base (full, ideal, reversed, leaves) under measures of elements."""
    requirements: dict[str, tuple[Answer, ...]]
    gaps: tuple[Gap, ...]


def fidelity(
    gold: Gold,
    measures: Sequence[str] | None = None,
    index: Any = None,
    *,
    profile: str | None = None,
    drop_tags: tuple[str, ...] = (),
) -> Fidelity:
    """Run every test of fidelity on a gold; `measures` replaces the defaults of both families.

    A measure of elements is shown on the runs of the recall base, any other in the S×R space; the table of
    requirements has them all. A profile sets the policies of its tasks, its recall base and, where no measure is named,
    its official ones; `drop_tags` are left out of the recall base.
    """
    asked = tuple(measures or _official(profile) or (*IN_CONTEXT, *OF_ELEMENTS))
    of_elements = [m for m in asked if {"elements", "grades"} & set(parse(m).needs)] or list(OF_ELEMENTS)
    in_context = [m for m in asked if m not in of_elements] or list(IN_CONTEXT)
    policies = {task: policies_under(profile, task) for task in ("thorough", "relevant-in-context")}
    without = Policies(drop_tags=drop_tags).but(**policies["thorough"]).left_out()
    runs = [simulate(gold, kind, index, without=without) for kind in RECALL_BASE_KINDS]
    of_base = policies["thorough"] | {"drop_tags": drop_tags}
    return Fidelity(
        space=space_test(gold, in_context, index, **policies["relevant-in-context"]),
        recall_base=evaluate(gold, runs, of_elements, task="thorough", index=index, **of_base),
        requirements={measure: requirements(measure) for measure in (*in_context, *of_elements)},
        gaps=passage_gap(gold, [m for m in in_context if m != "AP"] or ["MAgP"], index),
    )


def _official(profile: str | None) -> tuple[str, ...]:
    """Return the official measure of every task of a profile."""
    return tuple(dict.fromkeys(names[0] for names in profile_named(profile).tasks.values())) if profile else ()


def policies_under(profile: str | None, task: str) -> dict[str, Any]:
    """Return the policies of a profile's task; of a task that it does not have, those of the whole profile."""
    if profile is None:
        return {}
    chosen = profile_named(profile)
    return chosen.policies_of(task) if task in chosen.tasks else dict(chosen.policies)
