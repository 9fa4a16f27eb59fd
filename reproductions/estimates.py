"""How often intervals of people and a model together hold the truth, and how often looking after every topic errs.

Finished golds are replayed: chunking_evaluation's and XQuAD's are people's, and stand for the truth. A model's gold is
made of each: it finds the right place in a share of the topics (*quality*), elsewhere it marks another place of the
same document, and it always marks half as much again as people do. Systems of `reproductions.simulated_systems` are
scored under both. *Made up* scores are normal, or skewed with a quarter of zeros, with a known correlation.

* *Coverage*: topics are drawn, some of them are people's; the 95 % interval should hold the mean of all there are.
* *Histories*: topics are judged in a random order and the difference of two systems is looked at after every one. Of
  equal systems (each topic's two results exchanged by chance, under both golds) at most 5 % may ever be called
  different.
* *Saved*: the same with a better system, which is called better at some moment; no more topics are judged then.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

import focuseval as fe
from focuseval.data.tables import Table, numbers, words
from focuseval.inference.estimates import Estimated, estimate
from focuseval.inference.intervals import UNBOUNDED
from reproductions.simulated_systems import BASE, BETTER, OTHER, System, golds, run_of

Matrix = NDArray[np.float64]
SAMPLES = 2000
HISTORIES = 600
PEOPLE = {10: 100, 20: 100, 40: 200}
"""Topics by people → topics in all."""
FIRST, LAST, ALL = 10, 150, 300
"""A history is looked at from the first to the last topic by people; the model has judged all."""
QUALITIES = (0.4, 0.7, 0.95)
MEASURES = ("spanR@5", "IoU@5")
CORRELATIONS = (0.0, 0.3, 0.7, 0.9)


def model_gold(gold: fe.Gold, lengths: NDArray[np.int64], quality: float) -> fe.Gold:
    """Return what a model of some quality marks: as much again by half, and in the right place in so many topics."""
    rng, p = np.random.default_rng(round(100 * quality)), gold.passages
    right = (rng.random(len(gold.topics)) < quality)[p.topic]
    size, room = p.end - p.start, lengths[p.document]
    start = np.where(right, p.start, (rng.random(len(size)) * np.maximum(room - size, 1)).astype(np.int64))
    end = np.minimum(start + size + size // 2, room)
    passages = replace(p, start=start, end=end, size=end - start, quote=None)
    return replace(gold, passages=passages, placement=None, sha256="", attributes={})


@cache
def scored(system: System) -> dict[tuple[str, str, float], tuple[Matrix, Matrix]]:
    """Return a system's values under people's and under the model's gold, by gold, measure and quality."""
    found = {}
    for name, (gold, lengths) in golds().items():
        own, run = replace(gold, placement=None), run_of(system, gold, lengths)
        people = fe.evaluate(own, [run], list(MEASURES)).values[0]
        for quality in QUALITIES:
            model = fe.evaluate(model_gold(gold, lengths, quality), [run], list(MEASURES)).values[0]
            for column, measure in enumerate(MEASURES):
                found[name, measure, quality] = people[:, column], model[:, column]
    return found


def made_up(rng: np.random.Generator, shape: tuple[int, int], correlation: float, *, skewed: bool) -> list[Matrix]:
    """Return scores by people and by a model with this correlation before they are skewed."""
    y = rng.standard_normal(shape)
    f = correlation * y + np.sqrt(1 - correlation**2) * rng.standard_normal(shape)
    if not skewed:
        return [y, 0.3 + 1.2 * f]
    return [np.maximum(ndtr(part) - 0.25, 0.0) ** 2.5 for part in (y, f)]


def held(found: Estimated, mean: float) -> float:
    """Return in how many of 100 rows the interval holds the mean."""
    return 100 * float(((found.low <= mean + 1e-12) & (mean - 1e-12 <= found.high)).mean())


def coverage() -> Table:
    """Return how often intervals hold the mean of all topics, and how wide they are beside people's own."""
    rows = []
    for skewed in (False, True):
        mean = 0.0 if not skewed else 0.75**3.5 / 3.5  # the integral of (x − .25)^2.5 from .25 to 1
        for correlation in CORRELATIONS:
            cells = []
            for n, topics in PEOPLE.items():
                y, f = made_up(np.random.default_rng(n), (SAMPLES, topics), correlation, skewed=skewed)
                cells += _cells(y[:, :n], f, mean, (0.0, 1.0) if skewed else UNBOUNDED)
            rows.append((f"{'skewed' if skewed else 'normal'}, correlation {correlation:g}", *cells))
    for (name, measure, quality), (people, model) in scored(BASE).items():
        cells = []
        for n, topics in PEOPLE.items():
            drawn = np.random.default_rng(n).integers(0, len(people), (SAMPLES, topics))
            cells += _cells(people[drawn][:, :n], model[drawn], float(people.mean()), (0.0, 1.0))
        rows.append((f"{name}, {measure}, quality {quality:g}", *cells))
    heads = [
        head for n, topics in PEOPLE.items() for head in (f"{n} of {topics}", "people alone", "model alone", "width")
    ]
    note = f"{SAMPLES:,} samples a cell. Width: beside the interval of people alone, the median."
    columns = (*words("scores"), *numbers(*heads))
    return Table("95 % intervals that hold the truth, in percent", columns, tuple(rows), (note,))


def _cells(people: Matrix, model: Matrix, mean: float, bounds: tuple[float, float]) -> list[str]:
    """Return how often the truth is held: together, by people alone, by the model alone; and the width."""
    found = estimate(people, model, bounds=bounds)
    alone = replace(found, low=found.people[:, 1], high=found.people[:, 2])
    reach = 1.96 * model.std(axis=1, ddof=1) / np.sqrt(model.shape[1])
    own = replace(found, low=found.model - reach, high=found.model + reach)
    wide = alone.high > alone.low
    width = np.median((found.high - found.low)[wide] / (alone.high - alone.low)[wide])
    return [*(f"{held(part, mean):.1f}" for part in (found, alone, own)), f"{width:.2f}"]


def looks(
    people: Matrix, model: Matrix, *, anytime: bool, weight: float | None = None
) -> tuple[NDArray[np.int64], ...]:
    """Return after how many topics each history is first called different (0: never), and which side was called."""
    when, side = np.zeros(len(people), np.int64), np.zeros(len(people), np.int64)
    for n in range(FIRST, LAST + 1):
        still = when == 0
        found = estimate(people[still, :n], model[still], anytime=anytime, weight=weight)
        called = found.p <= 0.05
        when[np.flatnonzero(still)[called]] = n
        side[np.flatnonzero(still)[called]] = np.sign(found.estimate[called])
    return when, side


def histories() -> list[Table]:
    """Return how often equal systems are ever called different, and what stopping early saves."""
    equal, saved = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for key, (people, model) in scored(BASE).items():
        rng, name = np.random.default_rng(7), f"{key[0]}, {key[1]}, quality {key[2]:g}"
        drawn = np.array([rng.permutation(len(people))[:ALL] for _ in range(HISTORIES)])
        flip = rng.choice([-1.0, 1.0], drawn.shape)
        (y, f), (better_y, better_f) = scored(OTHER)[key], scored(BETTER)[key]
        null = (y - people)[drawn] * flip, (f - model)[drawn] * flip
        shares = [100 * float((looks(*null, anytime=how)[0] > 0).mean()) for how in (False, True)]
        equal.append((name, *(f"{share:.1f}" for share in shares)))
        real = (better_y - people)[drawn], (better_f - model)[drawn]
        cells: list[str] = []
        for weight in (None, 0.0):
            when, side = looks(*real, anytime=True, weight=weight)
            used = np.where(when > 0, when, LAST)
            wrong = 100 * float((side < 0).mean())
            cells += [f"{100 * float((when > 0).mean()):.0f}", f"{wrong:.1f}", f"{100 * (1 - used.mean() / LAST):.0f}"]
        saved.append((name, f"{float((better_y - people).mean()):+.3f}", *cells))
    note = f"{HISTORIES} histories a row, looked at after every topic from {FIRST} to {LAST}; in percent."
    fixed = ("fixed interval", "interval at any time")
    first = Table(
        "Equal systems that are ever called different", (*words("golds"), *numbers(*fixed)), tuple(equal), (note,)
    )
    heads = ("difference", "called better", "called worse", "judgements saved", "people alone: called better")
    columns = (*words("golds"), *numbers(*heads, "called worse", "judgements saved"))
    title = "A better system: judging ends when the interval at any time says so"
    return [first, Table(title, columns, tuple(saved), (note,))]


def tables() -> list[Table]:
    """Return coverage, histories of equal systems, and what is saved."""
    return [coverage(), *histories()]
