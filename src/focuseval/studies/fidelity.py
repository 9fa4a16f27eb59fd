"""Whether a measure measures what it should: the S×R space, recall-base runs, constructed cases, passages.

Along S, a run that returns more irrelevant or less relevant text must score lower (S → S_L → S_LD, S → S_S → S_ST).
Along R, a run with an intruder on top must score lower (R → R_I, R_S → R_SI). Swapping the first two articles changes
nothing for perfect passages, because every article's score is 1. Elsewhere the swaps are judged as Pehcevski and Thom
(2007) judge them, by their means, and counted apart: R, the article with more relevant text first, should score higher.
No definition guarantees that. A measure of documents such as AP does not notice any swap of two relevant articles.

Passages against elements: a run of one kind is mapped to the other, and both are scored (Pehcevski and Thom, 2007). A
passage becomes the element that fits it best: of all elements of its document the one with the highest F-score against
the passage, ties to the smaller and then to the outer one. Elements become passages: their spans, united per article
where they touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.index import Collection
from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.data.spans import dense, pack, union
from focuseval.data.tables import Row, Table, numbers, words
from focuseval.engine.native import encoded
from focuseval.errors import FormatError, counted
from focuseval.evaluation.evaluation import evaluate
from focuseval.evaluation.scores import Scores, refuse_geometric
from focuseval.formats.convert import places
from focuseval.inference.paired_tests import paired_differences, t_test
from focuseval.measures.checks import repair, take
from focuseval.measures.measure import parse
from focuseval.measures.prepared import prepare
from focuseval.measures.profiles import Policies, profile_named
from focuseval.measures.topicwise import Integers, first_row
from focuseval.placing import place_run
from focuseval.studies.requirements import Answer, requirements
from focuseval.studies.simulation import RANKINGS, RECALL_BASE_KINDS, SELECTIONS, SPACE, recall_base_run, space_runs


@dataclass(frozen=True)
class Change:
    """Two neighbouring runs of the space, and what is expected of their scores: ``>`` or ``=``."""

    first: str
    second: str
    expected: str
    dimension: str  # ``S``, ``R``, or ``swap``: two imperfect articles change places

    def __str__(self) -> str:
        return f"{self.first} → {self.second}"


def steps() -> tuple[Change, ...]:
    """Return the 36 neighbouring pairs of the space: those along S first, then those along R.

    >>> len(steps()), str(steps()[0])
    (36, 'S-R → S_L-R')
    """
    s_steps = (("S", "S_L"), ("S", "S_S"), ("S_L", "S_LD"), ("S_S", "S_ST"))
    r_steps = (("R", "R_S"), ("R", "R_I"), ("R_S", "R_SI"), ("R_I", "R_SI"))
    along_s = [Change(f"{a}-{r}", f"{b}-{r}", ">", "S") for r in RANKINGS for a, b in s_steps]
    along_r = []
    for s in SELECTIONS:
        for a, b in r_steps:
            intruder, perfect = ("I" in a) != ("I" in b), s == "S"
            expected, dimension = "=" if perfect and not intruder else ">", "R" if perfect or intruder else "swap"
            along_r.append(Change(f"{s}-{a}", f"{s}-{b}", expected, dimension))
    return (*along_s, *along_r)


@dataclass(frozen=True)
class Outcome:
    """What one measure says of one step."""

    step: Change
    difference: float  # mean of the first less mean of the second, in percent points
    greater: int
    equal: int
    less: int
    p: float

    @property
    def kept(self) -> bool:
        """Whether the expected order was found."""
        if self.step.expected == "=":
            return self.greater == self.less == 0
        return self.difference > 0


@dataclass(frozen=True)
class SpaceTest:
    """Every measure's outcome at every step of the space."""

    measures: tuple[str, ...]
    scores: Scores
    outcomes: dict[str, list[Outcome]]  # per measure, one outcome per step
    runs: dict[str, Run]  # the runs of the space, by name

    def verdict(self, measure: str, dimension: str | None = None) -> tuple[int, int]:
        """Return how many expected orders were found, and how many were expected (on one dimension or all)."""
        judged = [o.kept for o in self.outcomes[measure] if dimension in (None, o.step.dimension)]
        return sum(judged), len(judged)

    def mean(self, measure: str) -> dict[str, float]:
        """Return the mean of every run of the space: the grid."""
        return {run: means[measure] for run, means in self.scores.means().items()}


def space_test(gold: Gold, measures: Sequence[str], index: Any, **policies: Any) -> SpaceTest:
    """Build the 20 runs of the space, score them, and hold every step against what is expected."""
    runs = {run.run_id: run for run in space_runs(prepare(gold, index), *SPACE)}
    scores = evaluate(gold, list(runs.values()), measures, task="relevant-in-context", index=index, **policies)
    refuse_geometric(scores, "fidelity")
    chosen, found = steps(), dict[str, list[Outcome]]()
    first, second = ([SPACE.index(getattr(step, run)) for step in chosen] for run in ("first", "second"))
    for column, measure in enumerate(scores.measures):
        values = scores.values[:, :, column]
        values = values[:, ~np.isnan(values).any(axis=0)]
        differences = np.ascontiguousarray(paired_differences(values[first], values[second]))
        mean = 100 * differences.mean(axis=1) if differences.size else np.full(len(chosen), np.nan)
        topics = [(differences > 0).sum(axis=1), (differences == 0).sum(axis=1), (differences < 0).sum(axis=1)]
        columns = (mean, *topics, t_test(differences, tails=2))
        found[measure] = list(map(Outcome, chosen, *(own.tolist() for own in columns)))
    return SpaceTest(scores.measures, scores, found, runs)


BATCH = 1 << 21  # elements that are compared with passages together


def fitting_elements(run: Run, index: Collection) -> Run:
    """Map every passage of a run to the element that fits it best, in rank order; an element stays what it is.

    So passages can be scored by the measures of elements (Pehcevski and Thom, 2007: "Passage versus element
    retrieval"). An element that comes back is left out; a result without a place in the collection is refused.
    """
    placed = place_run(run, index)
    if placed.start is None or placed.end is None or placed.placement is None:
        return run
    document, start, end = placed.placement.document, placed.start, placed.end
    if len(lost := np.flatnonzero((document < 0) | (start < 0) | (end < start))):
        what = f"expected a start and an end in a document of the collection, {counted(len(lost), 'result')} without"
        raise FormatError(what, at=run.at(int(lost[0])), remedy="give a run of passages, and its own collection")
    counts = np.diff(index.element_bounds)[document]
    best = np.empty(len(run), np.int64)  # the number of the element in the whole collection
    for some in np.split(np.arange(len(run)), np.flatnonzero(np.diff(np.cumsum(counts) // BATCH)) + 1):
        elements, owner = index.elements_of(document[some]), np.repeat(some, counts[some])
        common = np.minimum(elements.end, end[owner]) - np.maximum(elements.start, start[owner])
        size = elements.end - elements.start
        fit = 2 * np.maximum(common, 0) / np.maximum(size + (end - start)[owner], 1)
        order = np.lexsort((elements.depth, size, -fit, owner))
        best[some] = elements.row[order[np.searchsorted(owner[order], some)]]
    path = index.path_strings(best)
    path = path if run.path is None else pc.if_else(pa.array(places(run) == "element"), run.path.cast(path.type), path)
    start, end = index.resolve(document, path)
    key = np.stack([_articles(run), encoded(path).indices.to_numpy()])
    first = np.sort(np.unique(key, axis=1, return_index=True)[1])
    return replace(run, path=path, end_path=None, start=start, end=end, text=None).take(first)


def to_elements(run: Run, index: Collection) -> Run:
    """Map every passage of a run to the element that fits it best; of nested picks the outermost stays."""
    mapped = fitting_elements(run, index)
    if mapped.start is None or mapped.end is None:
        return mapped
    outer = np.lexsort((mapped.start, mapped.start - mapped.end, _articles(mapped)))
    return repair(replace(take(mapped, outer), rank=None, score=None), "relevant-in-context", index)[0]


def to_passages(run: Run, index: Collection) -> Run:
    """Turn a run of elements into passages, united per article where they touch; articles keep their order."""
    placed = place_run(run, index)
    if placed.start is None or placed.end is None:
        return run
    article = _articles(run)
    spans = union(article, placed.start, placed.end)
    first = np.unique(article, return_index=True)[1][spans.group]
    bare = replace(run, rank=None, score=None, path=None, line=None, placement=None).take(first)
    return replace(bare, start=spans.start, end=spans.end)


def _articles(run: Run) -> Integers:
    """Return a number for every result's (topic, document) pair, in order of first appearance."""
    first = first_row(dense(pack(run.topic, encoded(run.document).indices.to_numpy())))
    return (np.cumsum(first == np.arange(len(first))) - 1)[first]


@dataclass(frozen=True)
class Gap:
    """Perfect passages, the best elements for them, and what each mapping costs, under one measure."""

    measure: str
    means: dict[str, float]  # run name → mean: passages, their best elements, element selections, and those as passages

    @property
    def gap(self) -> float:
        """How far the best run of elements stays behind perfect passages."""
        elements = [mean for name, mean in self.means.items() if name != "S-R" and "passages" not in name]
        return self.means["S-R"] - max(elements)


def passage_gap(gold: Gold, measures: Sequence[str], index: Collection, space: dict[str, Run]) -> tuple[Gap, ...]:
    """Score perfect passages, perfect elements, both from the S×R space, and each mapped to the other kind."""
    passages, *others = (space[kind] for kind in ("S-R", "S_L-R", "S_S-R", "S_ST-R"))
    runs = [passages, replace(to_elements(passages, index), run_id="S-R as elements")]
    for run in others:
        runs += [run, replace(to_passages(run, index), run_id=f"{run.run_id} as passages")]
    scores = evaluate(gold, runs, measures, task="relevant-in-context", index=index)
    means = scores.means()
    return tuple(Gap(measure, {run: own[measure] for run, own in means.items()}) for measure in scores.measures)


IN_CONTEXT = ("MAgP", "MAgP(gain=length)", "AP")  # the measures of Pehcevski and Thom: the defaults of the S×R space
OF_ELEMENTS = ("i2AP(quant=spec)", "MAep", "nxCG@10", "PRUM")
"""The measures of Kazai and Lalmas that highlights allow: the defaults of the recall-base runs."""
OF_GRADES = {
    "grades": ("i2AP(quant=sog)", "i3AP(quant=gen)", "nxCG(quant=sog)@10", "PRUM(quant=sog)"),
    "coverage": ("i2AP(quant=gen)", "nxCG(quant=gen)@10", "PRUM(quant=gen)"),
}
"""Scale → the same where elements were graded; on grades of 2003–04, as there, under SOG."""


@dataclass(frozen=True)
class Fidelity:
    """Everything the tests found."""

    space: SpaceTest | None
    """None, as without `gaps`, where the gold has no highlighted text that passages could be made of."""
    recall_base: Scores
    """The four runs of the recall base (full, ideal, reversed, leaves) under measures of elements."""
    requirements: dict[str, tuple[Answer, ...]]
    gaps: tuple[Gap, ...]
    remarks: tuple[str, ...] = ()
    """What was left out, and why."""


def fidelity(
    gold: Gold, measures: Sequence[str] | None = None, index: Any = None, *,
    profile: str | None = None, drop_tags: tuple[str, ...] = (),
) -> Fidelity:  # fmt: skip
    """Run every test of fidelity on a gold; `measures` replaces the defaults of both families.

    A measure of elements is shown on the runs of the recall base, any other in the S×R space; the table of
    requirements has them all. A profile sets the policies of its tasks, its recall base and, where no measure is named,
    its official ones; `drop_tags` are left out of the recall base.

    Graded elements without passages (2002–04) have the runs of the recall base alone: the experiment of Kazai and
    Lalmas (2005, pp. 15–19). Its runs use SOG on grades of 2003–04, unless a profile says something else.
    """
    official = dict.fromkeys(names[0] for names in profile_named(profile).tasks.values()) if profile else ()
    defaults, remarks = OF_GRADES.get(gold.scale, OF_ELEMENTS), []
    if index is None and gold.scale == "grades" and not (measures or official):
        defaults = tuple(m for m in defaults if "spans" not in parse(m).needs)
        remarks.append("i3AP is left out: it needs the sizes of elements, which only the documents tell")
    asked = tuple(measures or official or (*IN_CONTEXT, *defaults))
    of_elements = [m for m in asked if {"elements", "grades"} & set(parse(m).needs)] or list(defaults)
    in_context = [m for m in asked if m not in of_elements] or list(IN_CONTEXT)
    if not (highlighted := len(gold.passages.topic) > 0):
        in_context = [m for m in measures or () if m in in_context]
        what = "no highlighted text, so the S×R space and passages against elements are left out"
        only = f"; only the requirements have {', '.join(in_context)}" if in_context else ""
        remarks.append(f"{gold.file or 'the gold'}: {what}{only}")
    tasks = ("thorough", "relevant-in-context")
    policies = {task: profile_named(profile).policies_of(task) if profile else {} for task in tasks}
    without = Policies(drop_tags=drop_tags).but(**policies["thorough"]).left_out()
    quant = profile_named(profile).quant if profile else "sog" if gold.scale == "grades" else "auto"
    prepared = prepare(gold, index)
    runs = [recall_base_run(prepared, kind, quant, without) for kind in RECALL_BASE_KINDS]
    of_base = policies["thorough"] | {"drop_tags": drop_tags}
    space = space_test(gold, in_context, index, **policies["relevant-in-context"]) if highlighted else None
    as_text = [m for m in in_context if m != "AP"] or ["MAgP"]
    return Fidelity(
        space=space,
        recall_base=evaluate(gold, runs, of_elements, task="thorough", index=index, **of_base),
        requirements={measure: requirements(measure) for measure in (*in_context, *of_elements)},
        gaps=passage_gap(gold, as_text, index, space.runs) if space is not None else (),
        remarks=tuple(remarks),
    )


def tables(found: Fidelity) -> list[Table]:
    """Return everything as tables, the verdict first."""
    shown = space_tables(found.space) if found.space is not None else []
    answers = list(found.requirements.values())
    rows: tuple[Row, ...] = tuple(
        (first.requirement + ("" if first.observed else " (declared)"), *(own[row].answer for own in answers))
        for row, first in enumerate(answers[0])
    )
    observed = "Observed by running the measure on constructed cases, except where it says declared."
    shown += [recall_base_table(found), Table("Requirements", words("", *found.requirements), rows, (observed,))]
    if gaps := found.gaps:  # passages against elements: every run and its counterpart of the other kind
        rows = tuple((name, *(gap.means[name] for gap in gaps)) for name in gaps[0].means)
        notes = tuple(f"No run of elements comes closer than {100 * g.gap:.1f} % under {g.measure}." for g in gaps)
        columns = (*words("run"), *numbers(*(gap.measure for gap in gaps)))
        shown.append(Table("Passages and elements", columns, rows, notes))
    return shown


def space_tables(test: SpaceTest) -> list[Table]:
    """Return the expected orders that every measure keeps, its grid of means, and Pehcevski and Thom's steps."""
    rows: tuple[Row, ...] = tuple(
        (measure, *("{} / {}".format(*test.verdict(measure, dimension)) for dimension in ("S", "R", "swap", None)))
        for measure in test.measures
    )
    notes = (
        "S: which parts of an article; R: the order of articles. Kept / expected orders of neighbouring runs.",
        "R has two swaps of perfect articles, which should tie, and do where a measure does not notice swaps (AP).",
        "Swaps: of two imperfect articles the one with more relevant text should come first, judged by the means.",
    )
    shown = [Table("Expected orders kept", (*words("measure"), *numbers("S", "R", "swaps", "all")), rows, notes)]
    for measure in test.measures:
        means = test.mean(measure)
        rows = tuple((s, *(means[f"{s}-{r}"] for r in RANKINGS)) for s in SELECTIONS)
        shown.append(Table(f"S×R space under {measure}", (*words(""), *numbers(*RANKINGS)), rows))
    counts, p = numbers("diff %", ">", "=", "<", form="+.2f"), numbers("p", form=".2g")
    columns = (*words("run ordering"), *counts, *p, *words("order"))
    note = f"{len(test.scores.topics)} topics; ✓ the expected order, ✗ another one."
    for measure, outcomes in test.outcomes.items():
        rows = tuple(
            (str(o.step), o.difference, o.greater, o.equal, o.less, o.p if o.greater or o.less else None, "✗✓"[o.kept])
            for o in outcomes
        )
        shown.append(Table(f"Steps of the S×R space under {measure}", columns, rows, (note,)))
    return shown


def recall_base_table(found: Fidelity) -> Table:
    """Return the four runs of the recall base under measures of elements."""
    scores = found.recall_base
    rows = tuple((run, *means) for run, means in zip(scores.runs, scores.mean.tolist(), strict=True))
    notes = ("An overlap-free ideal run should not lose to the full recall base, nor to leaves.",)
    return Table("Runs of the recall base", (*words("run"), *numbers(*scores.measures)), rows, notes)


def as_json(found: Fidelity) -> dict[str, Any]:
    """Return everything the tables show, as plain values."""
    test, space = found.space, dict[str, Any]()
    if test is not None:
        kept = {measure: test.verdict(measure) for measure in test.measures}
        space["space"] = {measure: test.mean(measure) for measure in test.measures}
        space["kept"] = {measure: {"kept": own, "expected": all_of} for measure, (own, all_of) in kept.items()}
        space["steps"] = {
            measure: [
                {"first": o.step.first, "second": o.step.second, "expected": o.step.expected,
                 "difference": o.difference, "topics": [o.greater, o.equal, o.less], "p": o.p, "kept": o.kept}
                for o in own
            ]
            for measure, own in test.outcomes.items()
        }  # fmt: skip
    return space | {
        "recall_base": found.recall_base.means(),
        "requirements": {
            measure: {a.requirement: {"answer": a.answer, "observed": a.observed} for a in answers}
            for measure, answers in found.requirements.items()
        },
        "passages_and_elements": {gap.measure: {"means": gap.means, "gap": gap.gap} for gap in found.gaps},
        "remarks": list(found.remarks),
    }
