"""From gold and runs to a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from focuseval.errors import NotComparableError
from focuseval.evaluation.comparing import find_run
from focuseval.evaluation.planning import plan_evaluation
from focuseval.inference.settings import Settings
from focuseval.measures.measure import Measure, MeasureCall, parse
from focuseval.report.charts import charts
from focuseval.report.charts.curves import wanted
from focuseval.report.charts.entry_points import wanted_distances
from focuseval.report.choices import choices_of
from focuseval.report.evidence import MOST_DRAWN, Evidence, distinct
from focuseval.report.excerpts import BUDGET
from focuseval.report.explained import explain
from focuseval.report.first_screen import first_screen, remarks
from focuseval.report.observe import observe
from focuseval.report.report import Provenance, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from focuseval.collection import Collection
    from focuseval.data.gold import Gold
    from focuseval.data.topics import Topic
    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.studies.fidelity import Fidelity


def build_report(
    gold: Any,
    runs: Any,
    measures: Iterable[str | MeasureCall | Measure] | None = None,
    *,
    index: Any = None,
    docs: Any = None,
    task: str | None = None,
    profile: str | None = None,
    baseline: str | None = None,
    settings: Settings | None = None,
    fidelity: bool = False,
    budget: int = BUDGET,
    title: str = "",
    topics: Sequence[Topic] = (),
    **policies: Any,
) -> Report:
    """Score runs and gather everything that a report shows.

    Parameters
    ----------
    gold, runs, measures, index, docs, task, profile, policies
        As for `focuseval.evaluate`; of the measures given the first decides, else the profile's.
    baseline
        The run (its id or its file) that the others are held against.
    settings
        How a difference is judged; by default as in `Scores.compare`.
    fidelity
        Whether the measures themselves are tested on simulated runs, too.
    budget
        Bytes of text that may be embedded in the page.
    title
        The page's title.
    topics
        What each topic asks; needed to read structure strictly (``cas="strict"``).
    """
    evidence = gather_evidence(
        gold, runs, measures, index=docs if index is None else index, task=task, profile=profile, baseline=baseline,
        settings=settings, fidelity=fidelity, topics=topics, **policies,
    )  # fmt: skip
    return report_on(evidence, title=title, budget=budget)


def report_on(evidence: Evidence, *, title: str = "", budget: int = BUDGET, served: bool = False) -> Report:
    """Return the report on what is already scored and observed."""
    heat, texts = explain(evidence, budget, served=served)
    grids: tuple[Any, ...] = ()
    if evidence.fidelity is not None:
        from focuseval.studies.fidelity import tables  # noqa: PLC0415  only asked for by name

        grids = tuple(tables(evidence.fidelity))
    return Report(
        title=title or f"{evidence.measure}: {_runs(evidence)}",
        about=_about(evidence),
        first=first_screen(evidence),
        choices=choices_of(evidence),
        remarks=remarks(evidence),
        charts=charts(evidence),
        heat=heat,
        texts=texts,
        grids=grids,
    )


def gather_evidence(
    gold: Any,
    runs: Any,
    measures: Iterable[str | MeasureCall | Measure] | None = None,
    *,
    index: Any = None,
    task: str | None = None,
    profile: str | None = None,
    baseline: str | None = None,
    settings: Settings | None = None,
    fidelity: bool = False,
    topics: Sequence[Topic] = (),
    watch: Callable[[list[int]], Iterable[int]] = iter,
    **policies: Any,
) -> Evidence:
    """Score all runs, and observe those that are drawn; `watch` goes through the latter and may show how far it is."""
    made = plan_evaluation(
        gold, runs, measures, task=task, profile=profile, index=index, topics=topics or None, **policies
    )
    return evidence_on(
        made, baseline=baseline, settings=settings or Settings(), fidelity=fidelity, topics=topics, watch=watch
    )


def evidence_on(
    made: Evaluation,
    settings: Settings,
    *,
    baseline: str | None = None,
    fidelity: bool = False,
    topics: Sequence[Topic] = (),
    watch: Callable[[list[int]], Iterable[int]] = iter,
) -> Evidence:
    """Return what a report says of an evaluation, which is not made a second time."""
    if not made.sources:
        raise NotComparableError("expected at least one run, found none; give the files of one or more")
    labels = distinct(made.scores.names)
    evidence = Evidence(
        evaluation=made,
        settings=settings,
        labels=labels,
        baseline=None if baseline is None else find_run(baseline, made.scores, labels),
        fidelity=_tested(made.prepared.gold, made.prepared.index) if fidelity else None,
        titles={topic.id: topic.title or topic.castitle for topic in topics},
    )
    return _observed(evidence, watch)


def _observed(evidence: Evidence, watch: Callable[[list[int]], Iterable[int]]) -> Evidence:
    """Look at the runs that are drawn, A and B among them, one after the other."""
    pair, plan = evidence.pair or (), evidence.evaluation.plan
    chosen = evidence.listed(MOST_DRAWN)
    for run in pair:
        if run not in chosen:
            chosen[-1 if chosen[-1] not in pair else -2] = run
    curves, means = wanted(plan), wanted_distances(plan)
    seen = tuple(observe(evidence.evaluation, run, curves, means) for run in watch(chosen))
    return replace(evidence, drawn=tuple(chosen), observed=seen)


def _tested(gold: Gold, index: Collection | None) -> Fidelity:
    from focuseval.studies.fidelity import fidelity  # noqa: PLC0415  only asked for by name

    return fidelity(gold, None, index)


def _about(evidence: Evidence) -> Provenance:
    scores = evidence.scores
    return Provenance(
        signature=scores.signature,
        profile=scores.profile,
        task=scores.task,
        gold=evidence.gold.file,
        gold_sha256=scores.gold_sha256,
        docs="" if evidence.index is None else evidence.index.name,
        docs_sha256=scores.docs_sha256,
        test=_method(evidence),
        measures=tuple((name, _summary(name)) for name in scores.measures),
        remarks=tuple(scores.remarks()),
    )


def _method(evidence: Evidence) -> str:
    """Return how differences were judged, with the family where there is one."""
    found = evidence.compared(evidence.measure) if evidence.pair else None
    return str(evidence.settings) if found is None else found.method


def _summary(name: str) -> str:
    from focuseval.errors import MeasureError  # noqa: PLC0415  only a user's own measure is unknown

    try:
        return parse(name).measure.summary
    except MeasureError:
        return ""


def _runs(evidence: Evidence) -> str:
    if evidence.pair is None or len(evidence.labels) > 2:
        return evidence.labels[0] if len(evidence.labels) == 1 else f"{len(evidence.labels)} runs"
    a, b = evidence.pair
    return f"{evidence.labels[a]} against {evidence.labels[b]}"
