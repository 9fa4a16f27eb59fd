"""How often 95 % intervals hold the mean, and how often questions that share documents are starred by chance.

Values are drawn from a population whose mean is known; an interval should hold it 95 times in 100:

* *simulated systems*: differences of two systems (`reproductions.simulated_systems`) under spanR@5, with many ties, and
  IoU@5, which is skewed; and the values of one system, as a mean without a comparison has them, between 0 and 1;
* *made up*: normal differences; 40 % and 80 % ties; exponential ones, more skewed than any of ours;
* *clusters*: 20 documents with 10 questions each, and 20 of 2 to 40, whose differences are alike within a document: an
  intra-class correlation of .3. The mean difference is 0, so that each star is an error. Beside them, what clusters do
  to BM25 on the questions of XQuAD.

The default is the simplest interval that holds its level on differences with and without clusters, and on means:
Student's t, of means joined with a score interval. What that costs in width is printed, too.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

import focuseval as fe
from focuseval.data.tables import Table, numbers, words
from focuseval.inference.clusters import Clusters, cluster_topics, standard_error
from focuseval.inference.intervals import UNBOUNDED, interval
from focuseval.inference.paired_tests import p_values
from focuseval.inference.settings import INTERVALS, Settings
from reproductions.data import folder
from reproductions.simulated_systems import BASE, OTHER, differences, golds, run_of

Matrix = NDArray[np.float64]
Draw = Callable[..., Matrix]
TOPICS = (6, 10, 25, 50, 150)
PAIRS = 2000
SAMPLES = {"t": 20_000}
"""More pairs for an interval that draws no resamples."""
ICC = 0.3
DOCUMENTS = {"20 documents × 10 questions": [10] * 20, "20 documents of 2 to 40 questions": [2, 4, 6, 10, 40] * 4}


@cache
def values_of(gold: str, measure: str) -> Matrix:
    """Return the values of one simulated system."""
    own, lengths = golds()[gold]
    found: Matrix = fe.evaluate(own, [run_of(BASE, own, lengths)], [measure]).values[0, :, 0]
    return found


@cache
def populations() -> dict[str, tuple[Draw, float]]:
    """Return what draws each population, and its mean."""
    found: dict[str, tuple[Draw, float]] = {
        "normal": (lambda rng, size: rng.standard_normal(size), 0.0),
        "normal, 40 % ties": (lambda rng, size: rng.standard_normal(size) * (rng.random(size) < 0.6), 0.0),
        "normal, 80 % ties": (lambda rng, size: rng.standard_normal(size) * (rng.random(size) < 0.2), 0.0),
        "exponential": (lambda rng, size: rng.exponential(1.0, size), 1.0),
    }
    for (gold, measure), both in differences(OTHER, BASE).items():
        if measure != "hit@5":
            for kind, values in (("difference", both), ("mean", values_of(gold, measure))):
                draw: Draw = lambda rng, size, own=values: rng.choice(own, size)  # noqa: E731  as the others above
                found[f"{kind}, {gold}, {measure}"] = (draw, float(values.mean()))
    return found


def covered(
    values: Matrix, mean: float, how: str, clusters: Clusters | None = None, bounds: tuple[float, float] = UNBOUNDED
) -> float:
    """Return in how many of 100 rows the interval holds the mean."""
    low, high = interval(values, Settings(resamples=1000, interval=how), clusters, bounds)
    return 100 * float(((low <= mean + 1e-12) & (mean - 1e-12 <= high)).mean())


def coverage(how: str) -> Table:
    """Return how often intervals of a kind hold the mean, for every population and number of topics."""
    rows, pairs = [], SAMPLES.get(how, PAIRS)
    for name, (draw, mean) in populations().items():
        bounds = (0.0, 1.0) if name.startswith("mean") else UNBOUNDED
        shares = [covered(draw(np.random.default_rng(n), (pairs, n)), mean, how, bounds=bounds) for n in TOPICS]
        rows.append((name, *(f"{share:.1f}" for share in shares)))
    columns = (*words("population"), *numbers(*(f"{n} topics" for n in TOPICS)))
    title = f"95 % intervals that hold the mean, in percent: {how}{' (the default)' if how == INTERVALS[0] else ''}"
    ends = [95 + side * 195.996 * (0.95 * 0.05 / pairs) ** 0.5 for side in (-1, 1)]
    said = f"{pairs:,} intervals a cell: {ends[0]:.1f} to {ends[1]:.1f} is what chance allows."
    return Table(title, columns, tuple(rows), (said,))


def widths() -> Table:
    """Return how wide the default intervals of means are, beside Student's t alone."""
    rows, beta = [], np.random.default_rng(0).beta(2, 2, 20_000)
    drawn = {name: draw for name, (draw, _) in populations().items() if name.startswith("mean")}
    drawn["mean, symmetric around .5"] = lambda rng, size: rng.choice(beta, size)
    for name, draw in drawn.items():
        values = [draw(np.random.default_rng(n), (PAIRS, n)) for n in TOPICS]
        ends = ([np.clip(interval(own, Settings(), None, b), 0, 1) for b in ((0.0, 1.0), UNBOUNDED)] for own in values)
        ratios = (float((ours[1] - ours[0]).mean() / (plain[1] - plain[0]).mean()) for ours, plain in ends)
        rows.append((name, *(f"{ratio:.2f}" for ratio in ratios)))
    columns = (*words("population"), *numbers(*(f"{n} topics" for n in TOPICS)))
    return Table("Width of the default interval of a mean, over that of Student's t alone", columns, tuple(rows))


def clustered(sizes: list[int], pairs: int = PAIRS, seed: int = 0) -> tuple[Matrix, Clusters]:
    """Return differences of questions, alike within their documents, and their documents."""
    rng, code = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.standard_normal((pairs, len(sizes)))[:, code] * np.sqrt(ICC)
    return shared + rng.standard_normal((pairs, len(code))) * np.sqrt(1 - ICC), Clusters("document", code)


def in_clusters() -> Table:
    """Return how often questions of the same documents are starred by chance, and how often intervals hold 0."""
    rows = []
    for name, sizes in DOCUMENTS.items():
        values, clusters = clustered(sizes, pairs=PAIRS * 2)
        for said, by in (("by question", None), ("by document", clusters)):
            tests = (Settings(test, resamples=1000) for test in ("randomisation", "t"))
            stars = (p_values(values, settings, 1, clusters=by) <= 0.05 for settings in tests)
            shares = [*(100 * float(some.mean()) for some in stars)]
            shares += [covered(values, 0.0, how, by) for how in INTERVALS]
            gate = p_values(values, Settings(tails=1, resamples=1000), 1, clusters=by) <= 0.05
            shares.append(100 * float(gate.mean()))
            rows.append((f"{name}, {said}", *(f"{share:.1f}" for share in shares)))
    heads = numbers("randomisation", "t", *(f"interval: {how}" for how in INTERVALS), "gate")
    said = f"{2 * PAIRS:,} pairs of equal systems a row, intra-class correlation {ICC:g}. Stars at .05 (errors) and"
    notes = (f"{said} intervals that hold 0, and gates that fail: one tail (errors); in percent.",)
    return Table("Questions that share documents", (*words("questions"), *heads), tuple(rows), notes)


def of_xquad() -> Table:
    """Return z (mean over standard error) of a mean and of differences of BM25 on XQuAD, by what is taken for one."""
    file = folder("xquad") / "xquad.en.json"
    index, gold = fe.open_documents(file), fe.read_gold(file)
    runs = [
        fe.retrieve(index, file, unit=unit, limit=5, run_id=unit) for unit in ("sentences:1", "sentences:2", "words:30")
    ]
    scores = fe.evaluate(gold, runs, ["spanR@1"])
    values = scores.values[:, :, 0]
    rows = {"mean, sentences:1": values[0], "difference, sentences:2 less sentences:1": values[1] - values[0],
            "difference, sentences:1 less words:30": values[0] - values[2]}  # fmt: skip
    found = np.array(list(rows.values()))
    clusters = (None, *(cluster_topics(gold, scores.topics, by) for by in ("document", "group")))
    errors = [standard_error(found, by)[:2] for by in clusters]
    cells = np.transpose([mean / error for mean, error in errors])
    heads = numbers("by question", "by paragraph", "by article")
    shown = tuple((name, *(f"{z:.2f}" for z in row)) for name, row in zip(rows, cells, strict=True))
    counts = ", ".join(
        f"{one.number} {name}" for one, name in zip(clusters[1:], ("paragraphs", "articles"), strict=True) if one
    )
    note = f"z: a mean over its standard error, under spanR@1. {len(scores.topics):,} questions, {counts}."
    return Table("Questions of XQuAD: z by what is taken for one sample", (*words(""), *heads), shown, (note,))


def skewed() -> Table:
    """Return how often tests star differences of mean 0 that are skewed."""
    rows, tests = [], ("randomisation", "studentised", "t")
    for n in TOPICS[1:]:
        values = np.random.default_rng(n).exponential(1.0, (PAIRS, n)) - 1
        shares = (100 * float((p_values(values, Settings(test, resamples=1000), 1) <= 0.05).mean()) for test in tests)
        rows.append((f"{n} topics", *(f"{share:.1f}" for share in shares)))
    note = "Exponential differences less their mean: skewness 2. Each star is an error, if one asks for means."
    title = "Skewed differences with equal means: stars in percent"
    return Table(title, (*words(""), *numbers(*tests)), tuple(rows), (note,))


def tables() -> list[Table]:
    """Return the coverage of every kind of interval, clusters, and skewed differences."""
    return [*(coverage(how) for how in INTERVALS), widths(), in_clusters(), of_xquad(), skewed()]
