"""Whether the power that is stated is the power that is had, and how sure the number of topics needed is.

Topics are drawn from the differences of a better simulated system and a base (`reproductions.simulated_systems`), whose
mean and deviation are therefore known. `topics_needed` says how many show the difference with probability .8 in a
family of so many pairs. So many are drawn and tested by randomisation, p of the other pairs is that of equal systems
(uniform), all are corrected by Holm, and the stars of the known difference are counted. *Before*, the number was that
of a pair by itself.
"""

import numpy as np
from numpy.typing import NDArray

from focuseval.data.tables import Table, numbers, words
from focuseval.inference.paired import detectable, deviations, topics_needed
from focuseval.inference.paired_tests import adjust, p_values
from focuseval.inference.settings import Settings
from reproductions.significance_tests import populations

FAMILIES = (1, 10, 190)
MOST = 400
"""Topics: populations that need more are left out."""
SAMPLES = 400
PILOTS = (10, 25, 50, 100)
SETTINGS = Settings(resamples=2000)


def had(values: NDArray[np.float64], topics: int, family: int) -> float:
    """Return the share of samples of so many topics in which the known difference gets a star in its family."""
    rng = np.random.default_rng(family)
    rows = rng.choice(values, (SAMPLES, topics))
    known = p_values(rows, SETTINGS, family)
    others = rng.random((SAMPLES, family - 1))  # what p is where there is no difference
    every = np.concatenate([known[:, None], others], axis=1)
    corrected = np.array([adjust(row, "holm")[0] for row in every])
    return float(((corrected <= SETTINGS.alpha) & (rows.mean(axis=1) > 0)).mean())


def power_table() -> Table:
    """Return the power had with the topics that are said to be needed, before and now."""
    rows: list[tuple[str, ...]] = []
    for family in FAMILIES:
        found = []
        for values in populations("a known difference"):
            size = np.array([values.mean()]), np.array([values.std()])
            alone, now = (int(topics_needed(*size, SETTINGS, pairs)[0]) for pairs in (1, family))
            if now <= MOST:
                found.append((alone, now, had(values, alone, family), had(values, now, family)))
        before, needed, was, power = np.transpose(found)
        sizes = (f"{column.min():.0f} to {column.max():.0f}" for column in (before, needed))
        shares = (f"{100 * column.min():.0f} to {100 * column.max():.0f}" for column in (was, power))
        cells = (text for pair in zip(sizes, shares, strict=True) for text in pair)
        rows.append((str(family), str(len(found)), *cells))
    heads = ("pairs", "populations", "topics needed, before", "power had, %", "topics needed, now", "power had, %")
    notes = (f"{SAMPLES} samples of every population and family; 80 is stated.",)
    return Table("Power with the topics that are said to be needed", words(*heads), tuple(rows), notes)


def normal_table() -> Table:
    """Return the power of a t-test on normal differences of exactly the detectable size."""
    rows, settings = [], Settings("t")
    for family in FAMILIES:
        shares = []
        for topics in PILOTS:
            rng = np.random.default_rng(topics)
            size = float(detectable(np.ones(1), topics, settings, family)[0])
            p = p_values(rng.normal(size, 1, (20_000, topics)), settings)
            shares.append(100 * float((p <= settings.level(family)).mean()))
        rows.append((str(family), *shares))
    columns = (*words("pairs"), *numbers(*(f"{topics} topics" for topics in PILOTS), form=".1f"))
    note = "20,000 samples a cell, at the level of the first step of Holm; 80 is stated."
    return Table("Power at the detectable difference, normal differences, in percent", columns, tuple(rows), (note,))


def pilot_table() -> Table:
    """Return how often the interval of the deviation, and so of the topics needed, holds the true one."""
    rows = []
    for kind in ("a known difference", "equal systems"):
        for place, values in enumerate(populations(kind), 1):
            shares = []
            for topics in PILOTS:
                rng = np.random.default_rng(topics)
                _, low, high = deviations(rng.choice(values, (2000, topics))).T
                shares.append(100 * float(((low <= values.std()) & (values.std() <= high)).mean()))
            kurtosis = float(((values - values.mean()) ** 4).mean() / values.var() ** 2)
            rows.append((f"{kind}, {place}", kurtosis, *shares))
    columns = (*words("population"), *numbers("kurtosis", form=".1f"))
    columns += numbers(*(f"pilot of {topics}" for topics in PILOTS), form=".0f")
    note = "2,000 pilots a cell; 95 is stated. A normal distribution has a kurtosis of 3."
    return Table("Intervals that hold the deviation, in percent", columns, tuple(rows), (note,))


def tables() -> list[Table]:
    """Return the power had, on real and on normal differences, and what pilots are worth."""
    return [power_table(), normal_table(), pilot_table()]
