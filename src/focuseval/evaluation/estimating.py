"""`estimate`: what runs would score if people had judged all topics, from people's sample and a model's gold of all.

Runs are evaluated under both golds, so that any measure will do; `focuseval.inference.estimates` joins the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from focuseval.data.gold import ASSISTED, Gold
from focuseval.data.remarks import folded
from focuseval.data.tables import Table, notebook, numbers, render, words
from focuseval.errors import NotComparableError, counted
from focuseval.evaluation.comparing import plain
from focuseval.evaluation.evaluation import plan_evaluation
from focuseval.evaluation.scores import Scores
from focuseval.evaluation.sources import as_gold, as_index
from focuseval.inference.clusters import By, cluster_topics
from focuseval.inference.comparison import Comparison
from focuseval.inference.estimates import FEWEST, UNSURE, Estimated, compare_estimates, topics_to_judge
from focuseval.inference.sentences import fill, shown_p


class MeasureEstimate(NamedTuple):
    """What was estimated under one measure."""

    measure: str
    runs: Estimated
    pairs: Estimated
    """First less second, in the order of `Estimates.pairs`."""
    comparison: Comparison


class MoreTopics(NamedTuple):
    """How many more topics people would have to judge to tell two runs apart."""

    a: str
    b: str
    measure: str
    told_apart: bool
    """Whether they can be told apart already."""
    fewest: int | None
    most: int | None
    """More topics, by the ends of the interval of the deviation; None where not even all topics would do."""
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Estimates of runs and of their differences, by measure."""

    runs: tuple[str, ...]
    measures: tuple[MeasureEstimate, ...]
    topics: tuple[str, ...]
    """All topics, people's first, in the order of their sample."""
    judged: int
    """How many of them are people's."""
    scores: tuple[Scores, Scores]
    """Under people's gold and under the model's."""
    anytime: bool = False
    noticed: tuple[str, ...] = field(default=(), repr=False)
    """What the evaluations under both golds remark."""

    @property
    def signature(self) -> str:
        """What was decided on the way to the scores."""
        return self.scores[0].signature

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The runs of every pair."""
        first, second = np.triu_indices(len(self.runs), 1)
        return list(zip(first.tolist(), second.tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values; what is not known is null."""
        runs, pairs = list[dict[str, Any]](), list[dict[str, Any]]()
        for one in self.measures:
            e, d = one.runs, one.pairs
            for row, name in enumerate(self.runs):
                people = _plain(e.people[row], "mean", "low", "high") | {"topics": int(e.judged[row])}
                runs.append(
                    {"run": name, "measure": one.measure}
                    | _plain((e.estimate[row], e.low[row], e.high[row]), "estimate", "low", "high")
                    | {"topics": len(self.topics), "people": people}
                    | {"model": _plain((e.model[row],), "mean") | {"topics": int(e.topics[row])}}
                    | _plain((*e.bias[row], e.weight[row]), "bias", "bias_low", "bias_high", "weight")
                    | _plain((e.worth[row],), "worth")
                )
            for (a, b), *values in zip(self.pairs, d.estimate, d.low, d.high, d.p, strict=True):
                named = {"a": self.runs[a], "b": self.runs[b], "measure": one.measure}
                pairs.append(named | _plain(values, "difference", "low", "high", "p"))
        return {"signature": self.signature, "anytime": self.anytime, "runs": runs, "pairs": pairs}

    def tables(self, plans: Sequence[MoreTopics] = ()) -> list[Table]:
        """Return runs and pairs under every measure; with plans, what more topics would do."""
        found = []
        kind = "95 % interval at any time" if self.anytime else "95 % interval"
        heads = (*numbers("estimate", kind, "people alone", "model alone", "model less people", "weight"),)
        heads += numbers("worth, in topics", form=".0f")
        for one in self.measures:
            e, rows = one.runs, []
            for row, name in enumerate(self.runs):
                both = (part[row] for part in (e.people, e.bias))
                some = bool(e.judged[row] > 1)  # one topic has no interval
                alone, bias = (f"{mean:.4f}" + f" {_bracketed(low, high)}" * some for mean, low, high in both)
                own = float(e.estimate[row]), _bracketed(e.low[row], e.high[row])
                rest = float(e.model[row]), bias, float(e.weight[row]), float(e.worth[row])
                rows.append((name, *own, alone, *rest))
            title = f"{one.measure}, if people had judged all {counted(len(self.topics), 'topic')}"
            found.append(Table(title, (*words("run"), *heads), tuple(rows), tuple(self.notes(one))))
            d, pairs = one.pairs, []
            for k, (a, b) in enumerate(self.pairs):
                pair = one.comparison.against(a, b)
                known = () if np.isnan(d.p[k]) else (pair.p, pair.corrected)  # too few topics for any
                p = [shown_p(value, one.comparison.settings) for value in known] or (None, None)
                shown = _bracketed(d.low[k], d.high[k], "+.4f")
                pairs.append((self.runs[a], self.runs[b], float(d.estimate[k]), shown, *p, pair.word))
            columns = (*words("a", "b"), *numbers("a less b", kind, "p", "p (Holm)", form="+.4f"), *words("a is"))
            notes = [one.comparison.verdict_of(a, b).headline for a, b in self.pairs[:12]]
            notes += [fill("own weight")] if len({*e.weight.tolist(), *d.weight.tolist()}) > 1 else []
            found += [Table(f"Differences in {one.measure}", columns, tuple(pairs), tuple(notes))] if pairs else []
        said = tuple(plan.sentence for plan in plans)
        return [*found, Table("How many more topics", words("plan"), (), said)] if plans else found

    def notes(self, one: MeasureEstimate) -> list[str]:
        """Say what the numbers rest on, what the model was worth, and where intervals are missing or less sure."""
        judged = int(one.runs.judged.min())
        lines = [fill("judged", n=judged, all=len(self.topics))]
        if judged < FEWEST:
            return [*lines, fill("few judged", n=judged, fewest=FEWEST)]
        worth = zip(self.runs, one.runs.worth.tolist(), strict=True)
        lines += [fill("worth", run=run, n=round(number)) for run, number in worth if np.isfinite(number)][:12]
        return [*lines, fill("unsure", unsure=UNSURE)] if judged < UNSURE else lines

    def plan(self, within: float | None = None) -> list[MoreTopics]:
        """Return for every pair how many more topics would show a difference of `within`, or the one observed."""
        found = []
        for one in self.measures:
            reach = np.abs(one.pairs.estimate) if within is None else np.full(len(self.pairs), within)
            needed = topics_to_judge(one.pairs, reach, len(self.topics), anytime=self.anytime)
            needed -= one.pairs.judged[:, None]
            judged, size = int(one.pairs.judged.min()), fill("observed") if within is None else f"{within:g}"
            known: dict[str, Any] = {"all": len(self.topics), "fewest": FEWEST, "size": size}
            for k, (a, b) in enumerate(self.pairs):
                apart = bool(one.comparison.significant[one.comparison.pair(a, b)])
                few, many = (int(max(1, n)) if np.isfinite(n) else None for n in np.sort(needed[k])[[0, 2]].tolist())
                if judged < FEWEST:
                    said = fill("few judged", n=judged, **known)
                elif apart or few is None:
                    said = fill("enough" if apart else "not enough", **known)
                elif many is None:
                    said = fill("maybe enough", n=few, **known)
                else:
                    said = fill("about" if few == many else "about to", n=many, **known | {"fewest": few})
                sentence = f"{one.measure}: {one.comparison.verdict_of(a, b).headline} {said}"
                ends = (0, 0) if apart else (few, many)
                found.append(MoreTopics(self.runs[a], self.runs[b], one.measure, apart, *ends, sentence))
        return found

    def __repr__(self) -> str:
        runs, measures = counted(len(self.runs), "run"), ", ".join(one.measure for one in self.measures)
        return f"<Estimates of {runs} under {measures}: {self.judged} of {len(self.topics)} topics judged by people>"

    def __str__(self) -> str:
        """Return the tables: what ``print`` shows."""
        return "\n".join((render(self.tables(), "table", signature=self.signature).rstrip("\n"), *self.noticed))

    def _repr_html_(self) -> str:
        """Show the tables in a notebook."""
        return "".join(map(notebook, self.tables()))


def estimate(
    people: Any, model: Any, runs: Any, measures: Iterable[Any] | str | None = None, *,
    clusters: By | None = None, anytime: bool = False, weight: float | None = None, random: bool = False,
    assisted: bool = False, sample: Sequence[str] | None = None, interval: str = "score", **choices: Any,
) -> Estimates:  # fmt: skip
    """Estimate what runs would score if people had judged all topics.

    Parameters
    ----------
    people
        A gold of some topics, which must be a random sample of all.
    model
        A gold of all topics, made by a language model or by any other means, right or wrong.
    runs, measures
        As for `evaluate`; other choices are its, too: ``index``, ``docs``, ``task``, ``profile`` and policies.
    clusters
        Topics that belong together, as for `Scores.compare`.
    anytime
        Whether intervals may be looked at after every topic that people judge.
    weight
        The model's weight, if not the best one: 1 is plain prediction-powered inference, 0 people alone.
    random
        Declares that people's topics are a random sample; without it, a remark asks.
    assisted
        Take judgements, too, that began with a model's suggestions.
    sample
        People's topics in the order in which they were drawn, where only some of them count.
    interval
        Of a mean between two bounds: ``score`` holds near them, too; ``t`` is the estimate ± t standard errors.
    """
    choices |= {"index": as_index(choices.pop("docs", None) if choices.get("index") is None else choices["index"])}
    golds = [as_gold(gold, choices["index"]) for gold in (people, model)]
    order, left = _sampled(golds[0], golds[1], sample, assisted=assisted)
    first = plan_evaluation(golds[0], runs, measures, **choices)
    second = plan_evaluation(golds[1], runs, first.plan.measures, **choices)
    scores = first.scores, second.scores
    topics = (*order, *(topic for topic in golds[1].topics if topic not in set(order)))
    inside = None if clusters is None else cluster_topics(golds[1], topics, clusters)
    values, found = [], []
    for own, some in zip(scores, (order, topics), strict=True):  # NaN for a topic that is in no mean
        place = {topic: number for number, topic in enumerate(own.topics)}
        kept = [number for number, topic in enumerate(some) if topic in place]
        values.append(np.full((len(own.names), len(some), len(own.measures)), np.nan))
        values[-1][:, kept] = own.averaged[:, [place[some[number]] for number in kept]]
    for column, name in enumerate(scores[0].measures):
        geometric = scores[0].geometric and scores[0].geometric[column]
        bounds = [own.bounds_of(name) for own in scores]
        both = (-np.inf, np.inf) if interval == "t" or geometric or bounds[0] != bounds[1] else bounds[0]
        mine, others = (part[:, :, column] for part in values)
        if np.isnan(mine).all(axis=1).any() or np.isnan(others).all(axis=1).any():
            raise NotComparableError(f"{name}: no topic of people's or of the model's gold has a base for it")
        label = f"ln {name}" if geometric else name
        how: Any = {"weight": weight, "anytime": anytime, "clusters": inside, "bounds": both}
        found.append(MeasureEstimate(label, *compare_estimates(label, scores[0].names, order, mine, others, **how)))
    remarks = list(dict.fromkeys((*scores[1].remarks(), *folded(scores[0].noticed))))
    remarks += [fill("left topics", n=left)] if left else []
    remarks += [] if random or sample is not None else [fill("not random")]
    remarks += [fill("assisted")] if assisted else []
    return Estimates(scores[0].names, tuple(found), topics, len(order), scores, anytime, tuple(remarks))


def _sampled(people: Gold, model: Gold, sample: Sequence[str] | None, *, assisted: bool) -> tuple[tuple[str, ...], int]:
    """Return people's topics that the model judged, too, in their order, and how many others there are; or refuse."""
    known = set(model.topics)
    wanted = people.topics if sample is None else tuple(topic for topic in sample if topic in set(people.topics))
    order = tuple(topic for topic in wanted if topic in known)
    where = people.file or "people's gold"
    if not order:
        what = f"expected topics of {model.file or 'the model'}, found none of its {len(known):,}"
        raise NotComparableError(f"{where}: {what}; let the model judge people's topics, too")
    helped = [topic for topic in order if people.attributes.get(topic, {}).get(ASSISTED)]
    if helped and not assisted:
        what = f"expected judgements without a model's suggestions, found {counted(len(helped), 'topic')} with them"
        raise NotComparableError(
            f"{where}: {what} (first {helped[0]}); they are not independent of it: give assisted=True to use them"
        )
    return order, len(wanted) - len(order)


def _plain(values: Iterable[float], *names: str) -> dict[str, float | None]:
    return {name: plain(value) for name, value in zip(names, values, strict=True)}


def _bracketed(low: float, high: float, form: str = ".4f") -> str | None:
    return None if np.isnan(low) else f"[{low:{form}}, {high:{form}}]"
