"""Compare runs over the same topics under measures: every pair, with its test, interval and effect, and what it means.

A pair is written (better, worse) by the means over the topics that are compared, so that a star always says "better
improves significantly on worse". The pairs are one family: all of them, or those with a baseline. Every sentence about
a comparison that a command or a page prints is made here; its words are in `focuseval.inference.sentences`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.tables import Framed, Row, Table, notebook, numbers, render, words
from focuseval.errors import NotComparableError, counted
from focuseval.inference.clusters import Clusters
from focuseval.inference.intervals import UNBOUNDED, interval
from focuseval.inference.paired import BETTER, CANNOT_TELL, WORSE, Pair, Paired, judge_families, power
from focuseval.inference.paired_tests import Progress, Sides, noise_of, paired_differences, ranked
from focuseval.inference.sentences import equals_p, fill, listed, named, shown_p, shown_topics, signed
from focuseval.inference.settings import Settings

STAR = "⋆"
MOST_GAINING = 3  # topics that a sentence on the largest gains names
INTERVAL = "95 % interval, uncorrected"
P_HEADINGS = {"holm": "p (Holm)", "bh": "p (BH)"}
MOST_DIFFERENCES = 30_000_000
"""Pairs times topics that are compared under one measure, at about 70 bytes each; of more, those of the best runs."""
MOST_BEST = 24  # runs of which all pairs are compared then
SKEWED = 0.25
"""Skewness of differences, over the root of their number, from which a test of signs or ranks is no test of means: of
exponential differences with equal means it then stars 7 in 100, and more."""


@dataclass(frozen=True)
class Conclusion:
    """What a comparison says: a word, a headline, and the numbers behind it in a sentence or two."""

    word: str  # ``better``, ``worse``, ``cannot tell``, or ``alone`` for a single run
    headline: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Paired, Framed):
    """A family of pairs of runs under one measure, and what is said of it: sentences, a table, columns."""

    measure: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    """Runs × topics."""
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    """The runs of every pair, as rows of `values`."""
    baseline: int | None = None
    """Number of the run that all others are compared with, if only those pairs are."""
    left_out: int = 0
    """Topics that are not compared, because some run has no value for them."""
    among: tuple[int, ...] | None = None
    """The runs whose pairs are compared, if not all are."""
    shared: Clusters | None = None
    """The topics by document, where they share documents and no clusters were asked for."""

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Return the mean of every run over the topics that are compared."""
        return np.asarray(self.values.mean(axis=1))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of every run by these means, from 0; runs whose means differ by rounding alone share one."""
        return ranked(self.values)[1]

    @cached_property
    def order(self) -> list[int]:
        """The runs by their places, best first; those that share one stay in the order given."""
        return ranked(self.values)[0]

    @cached_property
    def offered(self) -> list[int]:
        """The runs whose pairs are compared, in this order."""
        return self.order if self.among is None else [run for run in self.order if run in self.among]

    @cached_property
    def groups(self) -> list[list[int]]:
        """The runs in groups that cannot be told apart from the group's first, best first.

        The first group holds the run with the highest mean and every run that is not significantly worse; the next one
        begins with the best of the others.
        """
        stars, rest, found = self.stars(), self.offered, list[list[int]]()
        while rest:
            first = rest[0]
            found.append([run for run in rest if not stars[first, run]])
            rest = [run for run in rest if stars[first, run]]
        return found

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Runs × low and high: the 95 % interval of every run's mean."""
        return np.stack(interval(self.values, self.settings, self.clusters, self.bounds), axis=1)

    @cached_property
    def ranks(self) -> NDArray[np.int64] | None:
        """Runs × best and worst: the ranks that the stars leave to every run; None where not all pairs are compared.

        A run cannot be better than those that improve on it significantly, nor worse than those it improves on. With
        Holm's correction the intervals of all runs hold together, with the probability that the level leaves.
        """
        if self.baseline is not None or self.among is not None or not self.family:
            return None
        stars = self.stars()
        return np.stack([1 + stars.sum(axis=0), len(self.runs) - stars.sum(axis=1)], axis=1)

    @cached_property
    def letters(self) -> list[str]:
        """Letters for every run: two runs share one if and only if they cannot be told apart.

        Each letter stands for a set of runs of which none improves on another, best first; a run may be in several.
        """
        stars = self.stars()
        alike, found, number = ~(stars | stars.T), [""] * len(self.runs), 0
        shared = np.zeros_like(alike)
        for first in self.order:
            for second in self.order:  # with itself as well: a run that is alike to no other has a letter of its own
                if not alike[first, second] or shared[first, second]:
                    continue
                group = list(dict.fromkeys((first, second)))
                for run in self.order:
                    if run not in group and alike[run, group].all():
                        group.append(run)
                for run in group:
                    found[run] += ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
                shared[np.ix_(group, group)] = True
                number += 1
        return found

    def standing(self, run: int) -> str:
        """Return the interval of a run's rank and its letters: ``1–2 a``; empty where not all pairs are compared."""
        if self.ranks is None:
            return ""
        low, high = self.ranks[run].tolist()
        return f"{low}{'' if low == high else f'–{high}'} {self.letters[run]}"

    @cached_property
    def by_document(self) -> Paired | None:
        """The same pairs judged by document, where topics share documents and no clusters were asked for."""
        if self.shared is None or not self.family:
            return None
        sides = Sides(self.values, self.better, self.worse)
        return judge_families(self._rows[None], self.settings, clusters=self.shared, sides=sides)[0]

    @property
    def power(self) -> float:
        """Discriminative power: the share of pairs with a significant difference (NaN for a single run)."""
        return float(self.significant.mean()) if self.family else float("nan")

    def pair(self, first: int, second: int) -> int:
        """Return the number of the pair of two runs."""
        return self._numbers[frozenset((first, second))]

    @cached_property
    def _numbers(self) -> dict[frozenset[int], int]:
        return {frozenset(pair): k for k, pair in enumerate(np.stack([self.better, self.worse], axis=1).tolist())}

    def against(self, a: int, b: int) -> Pair:
        """Return run `a` held against run `b`."""
        k, means, gains, gaining = self.pair(a, b), self.means, 0, tuple[str, ...]()
        first, second = int(self.better[k]), int(self.worse[k])
        if self.difference[k] != 0 and self.lost[k]:
            gains = int(self._gains[0][k])
            gaining = tuple(self.topics[i] for i in self._gains[1][k, :gains]) if gains <= MOST_GAINING else ()
        needed, fewest, most = (int(number) if np.isfinite(number) else None for number in self.needed[k].tolist())
        columns = ("difference", "low", "high", "p", "corrected", "won", "tied", "lost")
        found = Pair(
            a=first, b=second, means=(float(means[first]), float(means[second])),
            word=BETTER if self.significant[k] else CANNOT_TELL, reason=self.reason(k),
            detectable=float(self.detectable[k]) if np.isfinite(self.detectable[k]) else None,
            needed=needed, fewest=fewest, most=most, gains=gains, gaining=gaining, clustered=self.clusters is not None,
            **{name: getattr(self, name)[k].item() for name in columns},
        )  # fmt: skip
        return found if first == a else found.turned

    @property
    def _rows(self) -> NDArray[np.float64]:  # pairs × topics: the better run less the worse
        return paired_differences(self.values[self.better], self.values[self.worse])

    @cached_property
    def _gains(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For every pair how many of the largest gains make the whole difference, and the topics of the first ones."""
        rows = self._rows
        order = np.argsort(-rows, axis=1, kind="stable")
        sizes = np.take_along_axis(rows, order, axis=1)
        least = sizes.sum(axis=1) - noise_of(sizes)
        return np.argmax(np.cumsum(sizes, axis=1) >= least[:, None], axis=1) + 1, order[:, :MOST_GAINING]

    def stars(self) -> NDArray[np.bool_]:
        """Return the matrix whose cell (i, j) says that run i improves significantly on run j."""
        matrix = np.zeros((len(self.runs), len(self.runs)), np.bool_)
        matrix[self.better[self.significant], self.worse[self.significant]] = True
        return matrix

    def differences(self, first: int, second: int) -> NDArray[np.float64]:
        """Return the first run's values less the second's, topic by topic; rounding noise is no difference."""
        return np.asarray(paired_differences(self.values[[first]], self.values[[second]])[0])

    def wins(self, first: int, second: int) -> tuple[int, int, int]:
        """Return on how many topics the first run is better, equal and worse than the second."""
        pair = self.against(first, second)
        return pair.won, pair.tied, pair.lost

    def deciding(self, first: int, second: int, most: int = 5) -> list[tuple[str, float]]:
        """Return the topics with the largest absolute differences (first minus second), largest first."""
        difference = self.differences(first, second)
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        return [(self.topics[i], float(difference[i])) for i in order if difference[i] != 0]

    @property
    def members(self) -> str:
        """The family in words: ``all 3 pairs``, ``the 2 pairs with NAME``, ``1 pair``."""
        if self.family == 1:
            return "1 pair"
        if self.among is not None:
            return f"the {self.family} pairs of {len(self.among)} runs"
        if self.baseline is None:
            return f"all {self.family} pairs"
        return f"the {self.family} pairs with {self.runs[self.baseline]}"

    @property
    def method(self) -> str:
        """Test, tails, level, correction, family and clusters, in words."""
        inside = "" if self.clusters is None else f", in {self.clusters.number:,} clusters by {self.clusters.by}"
        return self.settings.words(exact=self.exact, family=self.members) + inside

    # sentences

    def sentence(self) -> str:
        """Say what the comparison found, in one sentence: ``112 of 190 pairs differ significantly``."""
        if not self.family:
            return "One run cannot be compared: give at least two."
        if len(self.topics) < 2:
            return "One topic says nothing about others: no difference can be called significant."
        if not self.differing.any():
            return f"All runs score the same on every topic under {self.measure}: there is no difference to test."
        number = int(self.significant.sum())
        pairs = "pair" if self.family == 1 else "pairs"
        verb = "differs" if number == 1 else "differ"
        found = f"{number} of {self.family} {pairs} {verb} significantly under {self.measure}"
        few = np.flatnonzero(~self.reachable)
        if not len(few):
            return f"{found}."
        which = "" if len(few) == self.family else f"for {len(few)} of them "
        return f"{found}; {which}nothing can be told: {self.reason(*few)}."

    def verdict_of(self, a: int, b: int) -> Conclusion:
        """Say whether run `a` is better than run `b`."""
        pair = self.against(a, b)
        names = {"a": self.runs[a], "b": self.runs[b]}
        headline = "same" if pair.won == pair.lost == 0 else pair.word
        if headline == CANNOT_TELL:  # the run with the higher mean is named first
            headline = CANNOT_TELL if pair.difference else "even"
            names = names if pair.difference >= 0 else {"a": self.runs[b], "b": self.runs[a]}
        reason = fill(
            "means", measure=self.measure, mean_a=f"{pair.means[0]:.4f}", mean_b=f"{pair.means[1]:.4f}",
            topics=fill("topics", n=pair.topics), tied=fill("tied", n=pair.tied) if pair.tied else "",
            numbers=self.numbers(pair), power=power(pair), test=self.test,
        )  # fmt: skip
        return Conclusion(pair.word, fill(headline, **names), reason)

    def conclusion(self, noun: str = "run") -> Conclusion:
        """Say which run is best, or which improves on the baseline; of two runs, whether the better one is better.

        `noun` is what the runs are: chunkings, for instance.
        """
        if len(self.runs) == 1:
            mean, topics = f"{self.means[0]:.4f}", fill("topics", n=len(self.topics))
            headline = fill("alone", run=self.runs[0], measure=self.measure, mean=mean, topics=topics)
            reason = "One run has nothing to be compared with: give a second one for a verdict."
            return Conclusion("alone", headline, reason)
        if len(self.runs) == 2:
            order = self.order if self.baseline is None else [1 - self.baseline, self.baseline]
            return self.verdict_of(*order)
        if self.baseline is None:
            return self._best(f"{noun}s" if self.among is None else f"{noun}s that are compared")
        pairs = [self.against(run, self.baseline) for run in self.offered if run != self.baseline]
        found = {word: sum(pair.word == word for pair in pairs) for word in (BETTER, WORSE, CANNOT_TELL)}
        counts = [f"{n:,} {'is' if n == 1 else 'are'} {word}" for word, n in found.items() if n and word != CANNOT_TELL]
        counts += [f"{n:,} cannot be told apart from it"] if (n := found[CANNOT_TELL]) else []
        best, wordings = pairs[0], {BETTER: "better than baseline", WORSE: "worse than baseline"}
        names = {"a": self.runs[best.a], "b": self.runs[self.baseline]}
        headline = fill(wordings.get(best.word, "baseline holds"), **names)
        reason = fill(
            "nearest", a=names["a"], numbers=self.numbers(best), measure=self.measure, power=power(best),
            runs=counted(len(pairs), "run"), counts=listed(counts),
        )  # fmt: skip
        return Conclusion(best.word, headline, f"{reason} {self.test}")

    def _best(self, runs: str) -> Conclusion:
        """Say whether the best run is really the best, of those whose pairs are compared."""
        order, (level, *_) = self.offered, self.groups
        first, leaders = order[0], [run for run in self.order if self.places[run] == 0]
        best, mean, topics = self.runs[first], f"{self.means[first]:.4f}", fill("topics", n=len(self.topics))
        worse = [self.runs[run] for run in order if run not in level]
        reason, subject = fill("each", measure=self.measure, mean=mean, topics=topics), f"{best} is"
        if not self.differing.any():
            return Conclusion(CANNOT_TELL, fill("all the same", n=len(order), runs=runs), reason)
        if len(leaders) > 1:
            headline = fill("share", names=named([self.runs[run] for run in leaders]))
        else:
            pair = self.against(first, order[1])
            reason = fill(
                "ahead", measure=self.measure, mean=mean, next=self.runs[pair.b], numbers=self.numbers(pair),
                power=power(pair),
            )  # fmt: skip
            if len(level) == 1:
                return Conclusion(BETTER, fill("best", best=best, n=len(order), runs=runs), f"{reason} {self.test}")
            others = [self.runs[run] for run in level[1:]]
            headline, subject = fill("leads", best=best, names=named(others)), "It is"
            if not worse:
                headline = fill("leads alone", best=best, n=len(others), runs=runs)
        reason += f" {fill('better than', subject=subject, names=named(worse))}" if worse else ""
        return Conclusion(CANNOT_TELL, headline, f"{reason} {self.test}")

    @property
    def test(self) -> str:
        """How the pairs were tested, in a sentence."""
        return fill("test", method=self.method)

    def numbers(self, pair: Pair) -> str:
        """Print a difference with its interval and p, corrected where that differs, and why nothing can be told."""
        shown, corrected = (shown_p(p, self.settings) for p in (pair.p, pair.corrected))
        return fill(
            "numbers", difference=signed(pair.difference), low=signed(pair.low), high=signed(pair.high),
            p=equals_p(shown), corrected="" if shown == corrected else fill("corrected", p=corrected),
            reason=fill("reason", reason=pair.reason) if pair.reason else "",
        )  # fmt: skip

    # as a table

    def table(self, *, means: bool = False) -> Table:
        """Return every pair, with the runs' means if they stand nowhere else; notes say what was found, and how."""
        names = [f"{run} ({mean:.4f})" if means else run for run, mean in zip(self.runs, self.means, strict=True)]
        corrects = self.settings.correction != "none"
        rows: list[Row] = []
        for k, (better, worse) in enumerate(zip(self.better.tolist(), self.worse.tolist(), strict=True)):
            p, corrected = (shown_p(float(column[k]), self.settings) for column in (self.p, self.corrected))
            star, counts = f" {STAR}" if self.significant[k] else "", f"{self.won[k]} / {self.tied[k]} / {self.lost[k]}"
            tested = (p, corrected + star) if corrects else (p + star,)
            sizes = float(self.difference[k]), f"[{self.low[k]:+.4f}, {self.high[k]:+.4f}]"
            power = float(self.detectable[k]), shown_topics(*self.needed[k].tolist())
            rows.append((names[better], names[worse], *sizes, *tested, float(self.effect[k]), counts, *power))
        columns = (
            *words("better", "worse"),
            *numbers("difference", INTERVAL, "p", form="+.4f"),
            *(numbers(P_HEADINGS[self.settings.correction], form="+.4f") if corrects else ()),
            *numbers("effect", "won / tied / lost", form=".2f"),
            *numbers("detectable", f"{'topics' if self.clusters is None else 'clusters'} needed"),
        )
        return Table(f"Pairs under {self.measure}" if rows else "", columns, tuple(rows), self.notes())

    def notes(self) -> tuple[str, ...]:
        """Return the sentences below the pairs: what was found, how it was tested, what the columns mean."""
        topics = counted(len(self.topics), "topic")
        topics += f" ({self.left_out} left out: some run has no value)" if self.left_out else ""
        if self.clusters is not None and self.clusters.alone:
            topics += f", {self.clusters.alone} of them in no cluster, each by itself"
        lines = [self.sentence(), f"{self.method}; {topics}."]
        noun = "topics" if self.clusters is None else "clusters"
        star = (
            f"The star decides, not the interval. Detectable: the smallest difference that these {noun} show "
            f"with probability .8 after the correction; {noun} needed: for the one observed, in brackets by the "
            "95 % interval of the deviation."
        )
        tail = "One tail, in the direction seen: of equal runs about twice as many get a star as the level says."
        lines += ([star, tail] if self.settings.tails == 1 else [star]) if self.family else []
        return (*lines, *self.limit(), *self.remarks())

    def limit(self) -> list[str]:
        """Say that all pairs were too many to compare, where they were."""
        if self.among is None:
            return []
        these, advice = f"the {len(self.among)} best", "Name a baseline to compare every run with it."
        return [fill("too many", runs=f"{len(self.runs):,}", these=these, tested="", advice=advice)]

    def remarks(self) -> list[str]:
        """Say where topics share documents, where intervals and stars differ, and where skewed differences have one."""
        lines, stars = list[str](), self.significant
        if (by := self.by_document) is not None and self.shared is not None:
            one, several = int(by.significant.sum()), int(stars.sum())
            k = int(np.argmax(by.p - self.p))
            p, own = (shown_p(float(found.p[k]), self.settings) for found in (by, self))
            would = "no p would be larger" if p == own else f"p would be {p} in place of {own}"
            if self.family > 1:
                apart = f"{one} of {self.family} pairs would differ significantly"
                apart += ", as now" if one == several else f" in place of {several}"
                pair = f" ({self.runs[self.better[k]]} against {self.runs[self.worse[k]]})" if p != own else ""
                would = f"{apart}; {would if p == own else f'the largest change is p = {p} in place of {own}'}{pair}"
            lines.append(
                f"The {counted(len(self.topics), 'topic')} share documents, but the test takes them as independent. "
                f"Judged in {counted(self.shared.number, 'cluster')} by document, {would}."
            )
        outside = (self.low > 0) | (self.high < 0)
        without, within = int((outside & ~stars).sum()), int((~outside & stars).sum())
        if without or within:
            said = [f"{without:,} without a star {'leaves' if without == 1 else 'leave'} out 0"] if without else []
            said += [f"{within:,} with a star {'holds' if within == 1 else 'hold'} 0"] if within else []
            lines.append(
                f"Of {counted(self.family, 'interval')}, {' and '.join(said)}: an interval is of one difference alone "
                f"({self.settings.interval}), and a star says what the test found, corrected over "
                f"{'all pairs' if self.among is None else self.members}."
            )
        skewed = stars & (np.abs(self.skewness) > SKEWED * np.sqrt(self.sample))
        if skewed.any() and self.settings.test in {"randomisation", "wilcoxon", "sign"}:
            k = int(np.argmax(np.where(skewed, np.abs(self.skewness), 0.0)))
            lines.append(
                f"The differences of {counted(int(skewed.sum()), 'pair')} with a star are skewed "
                f"({self.runs[self.better[k]]} less {self.runs[self.worse[k]]}: {self.skewness[k]:+.1f}): the star "
                "says that the runs differ, maybe not in their means alone, for which the studentised test asks."
            )
        return lines

    def to_arrow(self) -> pa.Table:
        """Return a row per pair: the two runs, and every number of the table."""
        names = ("difference", "low", "high", "p", "corrected", "effect", "won", "tied", "lost", "detectable")
        runs = pa.array(self.runs, pa.string())
        columns: dict[str, Any] = {"better": runs.take(pa.array(self.better)), "worse": runs.take(pa.array(self.worse))}
        columns |= {name: getattr(self, name) for name in names}
        columns |= dict(zip(("needed", "fewest", "most"), map(pa.array, self.needed.T), strict=True))
        return pa.table(columns | {"significant": self.significant})

    def __repr__(self) -> str:
        """Return one line: what was compared, and what came of it."""
        runs, topics = counted(len(self.runs), "run"), counted(len(self.topics), "topic")
        return f"<Comparison of {runs} under {self.measure} over {topics}: {self.sentence()}>"

    def __str__(self) -> str:
        """Return every pair as a table: what ``print`` shows."""
        return render([self.table(means=True)], "table").rstrip("\n")

    def _repr_html_(self) -> str:
        """Show every pair in a notebook."""
        return notebook(self.table(means=True))


def compare(
    measure: str, runs: tuple[str, ...], topics: tuple[str, ...], values: NDArray[np.float64],
    settings: Settings | None = None, **more: Any,
) -> Comparison:  # fmt: skip
    """Compare runs under one measure as `compare_all` does; where no topic has a value in every run, refuse.

    >>> found = compare("AP", ("a", "b"), tuple("123456"), np.array([[0.5] * 6, [0.1, 0.2, 0.3, 0.4, 0.2, 0.1]]))
    >>> found.sentence(), found.p.tolist()
    ('1 of 1 pair differs significantly under AP.', [0.03125])
    """
    (found,) = compare_all([measure], runs, topics, values[None], settings, **more)
    if found is None:
        raise NotComparableError(f"{measure}: no topic has a value in every run, so there is nothing to compare")
    return found


def compare_all(
    measures: Sequence[str], runs: tuple[str, ...], topics: tuple[str, ...], values: NDArray[np.float64],
    settings: Settings | None = None, *, baseline: int | None = None, among: tuple[int, ...] | None = None,
    clusters: Clusters | None = None, shared: Clusters | None = None,
    bounds: Sequence[tuple[float, float]] | None = None, progress: Progress | None = None,
) -> list[Comparison | None]:  # fmt: skip
    """Compare runs under many measures, each over the topics for which every run has a value; None where none has.

    `values` are measures × runs × topics, NaN where a topic is not in a mean. Every pair is compared, those with a
    baseline, or those of the runs `among` which a reader can choose. Measures over the same topics are tested
    together: a hundred times as quick as one after the other.

    Topics are judged in `clusters`, if given; where they share documents and none are given, `shared` are those by
    document. `bounds` are those of the measures. `progress` is called with draws done, and of how many.
    """
    settings, absent = settings or Settings(), np.asarray(np.isnan(values))
    kept, some = np.asarray(~absent.any(axis=1)), np.asarray(~absent.all(axis=1))
    found: list[Comparison | None] = [None] * len(measures)
    offered = np.arange(len(runs)) if among is None else np.sort(among)
    if baseline is None:
        first, second = offered[np.stack(np.triu_indices(len(offered), 1))]
    else:
        others = offered[offered != baseline]
        first, second = np.minimum(others, baseline), np.maximum(others, baseline)
    patterns, group = np.unique(kept, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        own, names = np.flatnonzero(group.reshape(-1) == number), np.array(topics, object)[pattern]
        here = values[own][:, :, pattern]
        pairs, differences = [], []
        for rows in here:
            places = ranked(rows)[1]
            swap = places[second] < places[first]  # of equal means the first run stands first
            better, worse = np.where(swap, second, first), np.where(swap, first, second)
            pairs.append((better, worse))
            differences.append(paired_differences(rows[better], rows[worse]))
        row = len(runs) * np.arange(len(own))[:, None]
        first_rows, second_rows = (np.concatenate(row + np.stack(side)) for side in zip(*pairs, strict=True))
        sides = Sides(here.reshape(-1, here.shape[2]), first_rows, second_rows)
        inside, by_document = (None if one is None else one.take(pattern) for one in (clusters, shared))
        judged = judge_families(np.stack(differences), settings, clusters=inside, sides=sides, progress=progress)
        for m, rows, (better, worse), columns in zip(own.tolist(), here, pairs, judged, strict=True):
            known = vars(columns) | {"bounds": UNBOUNDED if bounds is None else bounds[m]}
            found[m] = Comparison(
                **known, measure=measures[m], runs=runs, topics=tuple(names), values=rows, better=better, worse=worse,
                baseline=baseline, left_out=int((some[m] & ~kept[m]).sum()), among=among, shared=by_document,
            )  # fmt: skip
    return found


def other_order(comparisons: Sequence[Comparison | None], a: int, b: int | None, measure: str) -> str:
    """Name the measures under which another run leads, or the order of `a` and `b` is another one than under `measure`.

    Without `b`, all runs are asked whether one of them leads `a`.
    """
    known = {one.measure: one.places for one in comparisons if one is not None}
    if measure not in known:
        return ""
    if b is None:
        turned = [name for name, places in known.items() if places[a] > 0]
    else:
        ahead = np.sign(known[measure][b] - known[measure][a]) or 1
        turned = [name for name, places in known.items() if (places[a] - places[b]) * ahead > 0]
    if turned in ([], [measure]):
        return ""
    more = fill("more measures", n=len(turned) - 3, all=len(comparisons) - 1)
    names = listed(turned if len(turned) <= 4 else [*turned[:3], more])
    return fill("other leader" if b is None else "other order", measures=names)
