"""How often the 95 % interval of Kendall's τ holds it, and how often chance alone would be called equivalent.

Two measures give every run a score; runs are drawn from a population in which τ is known, of three kinds: normal, with
heavy tails (Student's t with 3 degrees of freedom), and one in which measures agree on bad runs more than on good ones
(Clayton's copula). A bootstrap over runs (percentiles) is beside ours.
"""

import numpy as np
from numpy.typing import NDArray

from focuseval.data.tables import Table, numbers, words
from focuseval.inference.correlation import correlate, tau_interval

RUNS = (3, 5, 8, 12, 20, 50)
TRUE = (0.3, 0.6, 0.9)
SAMPLES = 400
DRAWS = 100


def scores(kind: str, tau: float, runs: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return samples × two measures × runs."""
    shape = (SAMPLES, 2, runs)
    if kind == "Clayton":
        shared = rng.gamma((1 - tau) / (2 * tau), size=(SAMPLES, 1, runs))
        return np.asarray(-np.log(rng.exponential(size=shape) / np.maximum(shared, 1e-300)))
    found, along = rng.standard_normal(shape), np.sin(np.pi * tau / 2)
    found[:, 1] = along * found[:, 0] + np.sqrt(1 - along**2) * found[:, 1]
    return found / np.sqrt(rng.chisquare(3, (SAMPLES, 1, runs)) / 3) if kind == "heavy tails" else found


def coverage(kind: str, tau: float, runs: int) -> tuple[float, float]:
    """Return how often the interval of τ holds it: ours, and that of a bootstrap."""
    rng, held, resampled = np.random.default_rng(runs), 0, 0
    for both in scores(kind, tau, runs, rng):
        low, high = tau_interval(float(correlate(both)[0, 1]), runs)
        held += low <= tau <= high
        drawn = both[:, rng.integers(0, runs, (DRAWS, runs))].transpose(1, 0, 2)
        signs = np.sign(drawn[:, :, :, None] - drawn[:, :, None, :])
        with np.errstate(invalid="ignore"):  # the same run drawn every time
            taus = (signs[:, 0] * signs[:, 1]).sum(axis=(1, 2)) / (signs[:, 0] ** 2).sum(axis=(1, 2))
        low, high = np.nanquantile(taus, [0.025, 0.975])
        resampled += low <= tau <= high
    return held / SAMPLES, resampled / SAMPLES


def equivalent(tau: float, runs: int) -> float:
    """Return the share of samples whose τ would be called equivalent."""
    rng = np.random.default_rng(runs)
    every = np.concatenate([scores("normal", tau, runs, rng) for _ in range(10)])
    return float(np.mean([correlate(both)[0, 1] >= 0.9 for both in every]))


def tables() -> list[Table]:
    """Return the coverage, and what chance gives."""
    rows = []
    for kind in ("normal", "heavy tails", "Clayton"):
        for tau in TRUE:
            found = [coverage(kind, tau, runs) for runs in RUNS]
            rows.append((kind, f"{tau:.1f}", *(f"{100 * own:.0f} / {100 * other:.0f}" for own, other in found)))
    heads = (f"{runs} runs" for runs in RUNS)
    note = f"{SAMPLES:,} samples a cell. First ours, then a bootstrap over runs; 95 is stated."
    intervals = Table(
        "Intervals that hold τ, in percent", (*words("kind", "τ"), *numbers(*heads)), tuple(rows), (note,)
    )
    shares = [(f"{tau:.1f}", *(100 * equivalent(tau, runs) for runs in RUNS)) for tau in (0.0, *TRUE[:2], 0.8)]
    columns = (*words("τ"), *numbers(*(f"{runs} runs" for runs in RUNS), form=".1f"))
    note = f"{10 * SAMPLES:,} samples a cell, normal."
    return [intervals, Table("Samples with τ of .9 or more, in percent", columns, tuple(shares), (note,))]
