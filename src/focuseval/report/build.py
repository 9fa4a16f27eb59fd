"""A report: everything that the page shows, as plain values, made from gold and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from focuseval.data.tables import Table
from focuseval.data.topics import Topic
from focuseval.errors import NotComparableError
from focuseval.evaluation.estimating import Estimates
from focuseval.evaluation.evaluation import Evaluation, plan_evaluation
from focuseval.evaluation.scores import find_run, refuse_geometric
from focuseval.inference.clusters import By
from focuseval.inference.settings import Settings
from focuseval.measures import Measure, MeasureCall
from focuseval.report.charts import curves
from focuseval.report.charts import runs as run_charts
from focuseval.report.charts.chart import Chart
from focuseval.report.choices import choices_of
from focuseval.report.evidence import MOST_DRAWN, Evidence, observe
from focuseval.report.first_screen import FirstScreen, first_screen, remarks
from focuseval.report.text_view import explain
from focuseval.report.texts import BUDGET, as_json

CHARTS = (
    run_charts.means_with_intervals,
    run_charts.people_and_model,
    run_charts.differences_per_topic,
    run_charts.values_per_run,
    curves.cost_and_quality,
    curves.curve_charts,
    curves.distance_by_tolerance,
    run_charts.significance_stars,
    run_charts.tau_heat_map,
    run_charts.fidelity_grid,
)
"""What draws the graphs, in the order of the page; each yields those whose data exist."""
OBSERVED = ("settings", "baseline", "clusters", "fidelity", "watch")
"""Arguments of `evidence_on`; the others are `plan_evaluation`'s."""
NUMBERS = 600_000  # bytes that values and comparisons may take in a page; what they take beyond is taken from the text


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
    measures: tuple[tuple[str, str], ...]  # name and summary of every measure
    remarks: tuple[str, ...] = ()  # what the readers of gold and runs noticed


@dataclass(frozen=True)
class Report:
    """Everything the page shows."""

    title: str
    about: Provenance
    first: FirstScreen
    choices: dict[str, Any]
    """What `focuseval.report.choices.choices_of` returns."""
    remarks: tuple[str, ...]
    charts: tuple[Chart, ...]
    heat: dict[str, Any]
    """What `focuseval.report.text_view.explain` returns."""
    texts: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Document id → its text or pieces of it, blocks and elements."""
    beside: tuple[Table, ...] = ()
    """Means over topics with forbidden text, over questions that nothing answers, and estimates over all topics."""
    grids: tuple[Table, ...] = ()
    """Tables of tests that have no place of their own: fidelity."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values: what ``focuseval report --format json`` prints."""
        runs = [asdict(line) for line in self.first.runs]
        runs = [line | line.pop("counts") for line in runs]  # as ``score --format json`` has them
        return {
            "title": self.title,
            "about": asdict(self.about),
            "first": asdict(self.first) | {"runs": runs},
            "choices": self.choices,
            "remarks": list(self.remarks),
            "charts": [asdict(chart) for chart in self.charts],
            "heat": self.heat,
            "texts": dict(self.texts),
            "tables": [table.to_json() for table in (*self.beside, *self.grids)],
        }

    def chart(self, name: str) -> Chart | None:
        """Return a graph by its id, or None where its data do not exist."""
        return next((chart for chart in self.charts if chart.id == name), None)


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
    clusters: By | None = None,
    fidelity: bool = False,
    estimates: Estimates | None = None,
    budget: int = BUDGET,
    pages: int = 0,
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
    clusters
        What topics are clustered by, as in `Scores.compare`.
    fidelity
        Whether the measures themselves are tested on simulated runs, too.
    estimates
        What `focuseval.estimate` says of the same runs, to be drawn beside their means.
    budget
        Bytes of text that may be embedded in the page.
    pages
        Pages of PDFs that are embedded as pictures, beyond the budget.
    title
        The page's title.
    topics
        What each topic asks; needed to read structure strictly (``cas="strict"``).
    """
    evidence = gather_evidence(
        gold, runs, measures, index=index, docs=docs, task=task, profile=profile, baseline=baseline,
        settings=settings, clusters=clusters, fidelity=fidelity, topics=topics, **policies,
    )  # fmt: skip
    return report_on(replace(evidence, estimates=estimates), title=title, budget=budget, pages=pages)


def report_on(
    evidence: Evidence, *, title: str = "", budget: int = BUDGET, served: bool = False, pages: int = 0
) -> Report:
    """Return the report on what is already scored and observed."""
    choices = choices_of(evidence)
    values = evidence.scores.values[list(evidence.drawn)].size
    numbers = 11 * values + len(as_json([choices[name] for name in ("comparisons", "slices", "means")]))
    heat, texts = explain(evidence, max(0, budget - max(0, numbers - NUMBERS)), served=served, pages=pages)
    grids: tuple[Any, ...] = ()
    if evidence.fidelity is not None:
        from focuseval.studies.fidelity import tables  # noqa: PLC0415  only asked for by name

        grids = tuple(tables(evidence.fidelity))
    estimated = [] if evidence.estimates is None else evidence.estimates.tables()
    scores, labels = evidence.scores, evidence.labels
    runs = labels[0] if len(labels) == 1 else f"{len(labels)} runs"
    if evidence.pair is not None and len(labels) == 2:
        runs = " against ".join(labels[run] for run in evidence.pair)
    about = Provenance(
        signature=scores.signature,
        profile=scores.profile,
        task=scores.task,
        gold=evidence.prepared.gold.file,
        gold_sha256=scores.gold_sha256,
        docs="" if evidence.index is None else evidence.index.name,
        docs_sha256=scores.docs_sha256,
        test=str(evidence.settings) if evidence.compared is None else evidence.compared.method,
        measures=tuple((name, one.measure.summary) for name, one in zip(scores.measures, evidence.asked, strict=True)),
        remarks=tuple(scores.remarks()),
    )
    return Report(
        title=title or f"{evidence.measure}: {runs}",
        about=about,
        first=first_screen(evidence),
        choices=choices,
        remarks=remarks(evidence),
        charts=tuple(chart for draw in CHARTS for chart in draw(evidence)),
        heat=heat,
        texts=texts,
        beside=(*(table for table in evidence.evaluation.scores.tables() if table.title), *estimated),
        grids=grids,
    )


def gather_evidence(
    gold: Any, runs: Any, measures: Any = None, *, topics: Sequence[Topic] = (), **choices: Any
) -> Evidence:
    """Plan as `focuseval.evaluate` does, score all runs, and observe those that are drawn, as `evidence_on` does."""
    own = {name: choices.pop(name) for name in OBSERVED if name in choices}
    evaluation = plan_evaluation(gold, runs, measures, topics=topics or None, **choices)
    return evidence_on(evaluation, own.pop("settings", None) or Settings(), topics=topics, **own)


def evidence_on(
    evaluation: Evaluation,
    settings: Settings,
    *,
    baseline: str | None = None,
    clusters: By | None = None,
    fidelity: bool = False,
    topics: Sequence[Topic] = (),
    watch: Callable[[list[int]], Iterable[int]] = iter,
) -> Evidence:
    """Return what a report says of an evaluation; `watch` goes through the drawn runs and may show how far it is."""
    if not evaluation.sources:
        raise NotComparableError("expected at least one run, found none; give the files of one or more")
    if evaluation.scores.trials:
        raise NotComparableError("a report shows single runs, found trials; give each as a run, or compare them")
    if not evaluation.scores.topics:
        raise NotComparableError("no topic of the gold has anything relevant, so there is nothing to report")
    tested = None
    if fidelity:
        from focuseval.studies.fidelity import fidelity as test_fidelity  # noqa: PLC0415  only asked for by name

        tested = test_fidelity(evaluation.prepared.gold, None, evaluation.prepared.index)
    refuse_geometric(evaluation.scores, "a report")
    if all(asked.measure.base != "relevance" for asked in evaluation.plan.measures):
        names = ", ".join(evaluation.scores.measures)
        raise NotComparableError(
            f"a report compares what is relevant, found {names} alone; add a measure such as spanR"
        )
    labels = tuple(name.strip() or f"run {number}" for number, name in enumerate(evaluation.scores.names, 1))
    evidence = Evidence(
        evaluation=evaluation,
        settings=settings,
        labels=labels,
        baseline=None if baseline is None else find_run(baseline, evaluation.scores, labels),
        fidelity=tested,
        titles={topic.id: topic.title or topic.castitle for topic in topics},
        cluster_by=clusters,
    )
    pair, plan = evidence.pair or (), evaluation.plan
    drawn = evidence.listed(MOST_DRAWN)
    for run in pair:
        if run not in drawn:
            drawn[-1 if drawn[-1] not in pair else -2] = run
    observed = tuple(observe(evidence, run, *curves.wanted(plan)) for run in watch(drawn))
    return replace(evidence, drawn=tuple(drawn), observed=observed)
