"""One run's match, or that of a block of its topics, and every measure's values on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MeasureError, NotComparableError
from focuseval.evaluation.counts import count_topics
from focuseval.evaluation.remarks import remarks_on_run
from focuseval.evaluation.sources import load
from focuseval.evaluation.task_rules import refuse_invalid
from focuseval.measures.matching import Matched, match
from focuseval.measures.matching.documents import shares_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.data.remarks import Remark
    from focuseval.evaluation.plan import Plan
    from focuseval.measures.matching import Prepared


@dataclass(frozen=True, eq=False)
class RunScores:
    """One run's values and counts."""

    run: str
    file: str
    values: NDArray[np.float64]
    """Topics × measures."""
    counts: NDArray[np.int64]
    """Topics × the counts that add up over topics; see `focuseval.evaluation.counts`."""
    unknown: int
    """Topics that the gold does not have."""
    results: int
    """How many results were evaluated."""
    remarks: tuple[Remark, ...] = ()
    """What its reader noticed, and why another tool would print other numbers."""


def match_source(source: Any, plan: Plan, prepared: Prepared, number: int | None = None) -> Matched:
    """Read a run, of such a number in the plan, and match it with the gold; one that breaks its task is refused."""
    if not len(prepared.gold.passages.topic) and any(asked.needs == ("spans",) for asked in plan.measures):
        _ = prepared.highlights  # refused for want of passages, before anybody asks for an index
    run = load(source, plan, prepared.index)
    return match(run, prepared, plan.policies, chunks=plan.chunks_of(number), tokenizer=plan.tokenizer)


def score_match(matched: Matched, plan: Plan) -> RunScores:
    """Compute every measure on a match; a run that breaks its task or shares no document with the gold is refused."""
    run, gold = matched.run, matched.prepared.gold
    refuse_invalid(run, plan.task, cutoff=plan.policies.cutoff)
    values = np.empty((matched.topics, len(plan.measures)))
    for column, asked in enumerate(plan.measures):
        computed = np.asarray(asked.measure.compute(matched, **asked.arguments(plan.policies)), np.float64)
        if computed.shape != (matched.topics,):  # of a user's own measure
            raise MeasureError(
                f"{asked.key}: expected a number for each of {matched.topics} topics, found a shape of {computed.shape}"
            )
        values[:, column] = computed
    if plan.policies.missing == "skip":
        values[~matched.answered] = np.nan
    if len(matched) and matched.unjudged == len(matched) and not shares_documents(matched):
        where = run.file or run.run_id
        named = next(filter(None, run.document.to_pylist()), None)
        if named is None:
            raise NotComparableError(
                f"{where}: none of its texts was found in one document of the collection; check that these are the "
                "documents that it was made from"
            )
        raise NotComparableError(
            f"{where}: no document in common with {gold.file or 'the gold'}: the run has {named!r}, the gold "
            f"{gold.documents[0].as_py()!r}; check that both name documents in the same way (an index or --docs "
            "translates between ids)"
        )
    unknown = 0 if run.topics == gold.topics else len(set(run.topics) - set(gold.topics))
    remarks = tuple(remarks_on_run(matched, values, plan))
    return RunScores(run.run_id, run.file, values, count_topics(matched), unknown, len(matched), remarks)
