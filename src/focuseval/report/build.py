"""From gold and runs to a report."""

from __future__ import annotations

from dataclasses import replace
from os import fspath
from typing import TYPE_CHECKING, Any

from focuseval.errors import NotComparableError
from focuseval.evaluate.evaluation import evaluate
from focuseval.evaluate.plan import plan_for
from focuseval.evaluate.sources import as_gold, as_index, as_runs, read
from focuseval.evaluate.structure import queries_of, strict_gold
from focuseval.match import prepare
from focuseval.measures import Asked, Measure, parse
from focuseval.report.charts import charts
from focuseval.report.charts.curves import wanted
from focuseval.report.charts.entry_points import wanted_distances
from focuseval.report.choose import BUDGET
from focuseval.report.explained import explain
from focuseval.report.first_screen import first_screen, remarks
from focuseval.report.ground import MOST_DRAWN, Ground, distinct
from focuseval.report.observe import observe
from focuseval.report.report import Provenance, Report
from focuseval.report.verdict import VERDICT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from focuseval.evaluate import Scores
    from focuseval.evaluate.plan import Plan
    from focuseval.gold import Gold
    from focuseval.significance.comparison import Settings
    from focuseval.topics import Topic


def build_report(
    gold: Any,
    runs: Any,
    measures: Iterable[str | Asked | Measure] | None = None,
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
        As for `focuseval.evaluate`; the first measure decides.
    baseline
        The run (its id or its file) that the others are held against.
    settings
        How a difference is judged; by default two-tailed, with Holm's correction for several runs.
    fidelity
        Whether the measures themselves are tested on simulated runs, too.
    budget
        Bytes of text that may travel in the page.
    title
        The page's title.
    topics
        What each topic asks; needed to read structure strictly (``cas="strict"``).
    """
    ground = lay_ground(
        gold, runs, measures, index=docs if index is None else index, task=task, profile=profile, baseline=baseline,
        settings=settings, fidelity=fidelity, topics=topics, **policies,
    )  # fmt: skip
    return report_on(ground, title=title, budget=budget)


def report_on(ground: Ground, *, title: str = "", budget: int = BUDGET, served: bool = False) -> Report:
    """Return the report on what is already scored and observed."""
    heat, texts = explain(ground, budget, served=served)
    grids: tuple[Any, ...] = ()
    if ground.fidelity is not None:
        from focuseval.fidelity.tables import tables  # noqa: PLC0415  only asked for by name

        grids = tuple(tables(ground.fidelity))
    return Report(
        title=title or f"{ground.measure}: {_runs(ground)}",
        about=_about(ground),
        first=first_screen(ground),
        remarks=remarks(ground),
        charts=charts(ground),
        heat=heat,
        texts=texts,
        grids=grids,
    )


def lay_ground(
    gold: Any,
    runs: Any,
    measures: Iterable[str | Asked | Measure] | None = None,
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
) -> Ground:
    """Score all runs, and observe those that are drawn; `watch` goes through the latter and may show how far it is."""
    index = as_index(index)
    gold = as_gold(gold, index)
    loaded = [read(source, policies.get("run_format"), index) for source in as_runs(runs)]
    if not loaded:
        raise NotComparableError("expected at least one run, found none; give the files of one or more")
    asked = tuple(Asked(m) if isinstance(m, Measure) else parse(m) if isinstance(m, str) else m for m in measures or ())
    plan = plan_for(gold, loaded[0], asked, task=task, profile=profile, changes=policies)
    strict = queries_of(topics or None, gold) if plan.policies.cas == "strict" else {}
    scores = evaluate(
        gold, loaded, asked or None, task=task, profile=profile, index=index, topics=topics or None, **policies
    )
    labels = distinct(scores.names)
    ground = Ground(
        gold=gold,
        prepared=prepare(strict_gold(gold, strict) if strict else gold, index),
        scores=scores,
        settings=settings or VERDICT,
        labels=labels,
        baseline=None if baseline is None else find_run(baseline, scores, labels),
        fidelity=_tested(gold, index) if fidelity else None,
        titles={topic.id: topic.title or topic.castitle for topic in topics},
    )
    return _observed(ground, loaded, replace(plan, queries=strict), watch)


def _observed(ground: Ground, runs: list[Any], plan: Plan, watch: Callable[[list[int]], Iterable[int]]) -> Ground:
    """Look at the runs that are drawn, A and B among them, one after the other."""
    pair = ground.pair or ()
    chosen = ground.listed(MOST_DRAWN)
    for run in pair:
        if run not in chosen:
            chosen[-1 if chosen[-1] not in pair else -2] = run
    curves, means = wanted(plan), wanted_distances(plan)
    seen = tuple(observe(runs[run], ground.prepared, plan, curves, means) for run in watch(chosen))
    return replace(ground, drawn=tuple(chosen), observed=seen)


def find_run(name: str, scores: Scores, labels: tuple[str, ...]) -> int:
    """Return the number of the run with this id, label or file."""
    for names in (labels, scores.runs, scores.files):
        found = [number for number, known in enumerate(names) if known == fspath(name)]
        if len(found) == 1:
            return found[0]
    raise NotComparableError(f"baseline {name!r} is none of the runs; there are {', '.join(labels[:10])}")


def _tested(gold: Gold, index: Any) -> Any:
    from focuseval.fidelity import fidelity  # noqa: PLC0415  only asked for by name

    return fidelity(gold, None, index)


def _about(ground: Ground) -> Provenance:
    scores = ground.scores
    return Provenance(
        signature=scores.signature,
        profile=scores.profile,
        task=scores.task,
        gold=ground.gold.file,
        gold_sha256=scores.gold_sha256,
        docs=str(getattr(ground.index, "name", "") or ""),
        docs_sha256=scores.docs_sha256,
        test=str(ground.settings),
        measures=tuple((name, _summary(name)) for name in scores.measures),
        remarks=tuple(dict.fromkeys(scores.remarks())),
    )


def _summary(name: str) -> str:
    from focuseval.errors import MeasureError  # noqa: PLC0415  only a user's own measure is unknown

    try:
        return parse(name).measure.summary
    except MeasureError:
        return ""


def _runs(ground: Ground) -> str:
    if ground.pair is None or len(ground.labels) > 2:
        return ground.labels[0] if len(ground.labels) == 1 else f"{len(ground.labels)} runs"
    a, b = ground.pair
    return f"{ground.labels[a]} against {ground.labels[b]}"
