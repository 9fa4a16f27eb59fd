"""How often each significance test errs, and how often it finds a difference that is there.

Topics are drawn, with replacement, from the differences of two simulated systems (`reproductions.simulated_systems`):

* *equal systems*: each difference gets a random sign, as if every topic's two results had been exchanged by chance;
* *equal means*: a system with other windows, its mean difference subtracted: the means are equal, but the differences
  are skewed, and their median is not 0;
* *a known difference*: a system with less noise.

On the first two a test at .05 should call one pair in twenty different. Two claims of Smucker,
Allan and Carterette (2007), and what we expected of our own default, are held against what is found.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from focuseval.data.tables import Table, numbers, words
from focuseval.inference.paired_tests import p_values
from focuseval.inference.settings import Settings
from reproductions.published import compared, verdict
from reproductions.simulated_systems import BASE, BETTER, OTHER, differences

SOURCE = "Smucker, Allan and Carterette (2007), A comparison of statistical significance tests, CIKM"
TOPICS = (10, 25, 50, 100, 500)
ALPHA = 0.05
PAIRS = 600
"""Pairs drawn from every gold and measure, for every number of topics."""
DEFAULT = "randomisation"
TESTS = {
    "randomisation": Settings(resamples=1000),
    "t": Settings("t"),
    "bootstrap": Settings("bootstrap", resamples=1000),
    "bootstrap, one-tailed": Settings("bootstrap", tails=1, resamples=1000),
    "wilcoxon": Settings("wilcoxon"),
    "sign": Settings("sign"),
}


class Found(NamedTuple):
    """How many of all pairs a test called different."""

    called: int
    pairs: int

    @property
    def share(self) -> float:
        """Return the share in percent."""
        return 100 * self.called / self.pairs

    @property
    def errs(self) -> bool:
        """Whether so many calls of equal systems are more than chance (99 %, binomial) explains at .05."""
        return bool(self.called > binom.ppf(0.995, self.pairs, ALPHA))


def equal_systems(rng: np.random.Generator, drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give every difference a random sign."""
    return drawn * rng.choice([-1.0, 1.0], drawn.shape)


def populations(kind: str) -> list[NDArray[np.float64]]:
    """Return the differences that topics are drawn from."""
    if kind == "a known difference":
        return list(differences(BETTER, BASE).values())
    found = differences(OTHER, BASE)
    if kind == "equal systems":
        return list(found.values())
    return [values - values.mean() for (_, measure), values in found.items() if measure != "hit@5"]


def sampled(kind: str, topics: int) -> NDArray[np.float64]:
    """Return pairs of systems in rows, their differences on so many topics in columns."""
    rng = np.random.default_rng(topics)
    drawn = np.concatenate([rng.choice(values, (PAIRS, topics)) for values in populations(kind)])
    return equal_systems(rng, drawn) if kind == "equal systems" else drawn


@cache
def decisions(kind: str, topics: int) -> dict[str, NDArray[np.bool_]]:
    """Return, for every test, which pairs it calls different.

    A one-tailed test asks whether the run with the higher mean is better: the direction is chosen after looking.
    """
    pairs = sampled(kind, topics)
    seen = pairs * np.where(pairs.mean(axis=1) < 0, -1.0, 1.0)[:, None]
    return {
        name: p_values(seen if settings.tails == 1 else pairs, settings) <= ALPHA for name, settings in TESTS.items()
    }


def found(kind: str, test: str, topics: int) -> Found:
    """Return how often a test calls pairs different."""
    called = decisions(kind, topics)[test]
    return Found(int(called.sum()), len(called))


def rate_table(kind: str, said: str) -> Table:
    """Return the share of pairs that each test calls different, for every number of topics."""
    error = kind != "a known difference"
    rows = []
    for test in TESTS:
        cells = [found(kind, test, topics) for topics in TOPICS]
        rows.append((test, *(f"{cell.share:.1f}{'!' if error and cell.errs else ''}" for cell in cells)))
    pairs = found(kind, DEFAULT, TOPICS[0]).pairs
    most = 100 * binom.ppf(0.995, pairs, ALPHA) / pairs
    least = 100 * binom.ppf(0.005, pairs, ALPHA) / pairs
    notes = [f"{pairs:,} pairs a cell. {said}"]
    if error:
        notes.append(f"By chance a test at .05 lies between {least:.1f} and {most:.1f} (99 %, binomial); ! is above.")
    return Table(
        f"Pairs called different, in percent: {kind}", (*words("test"), *numbers(*(f"{n} topics" for n in TOPICS))),
        tuple(rows), tuple(notes),
    )  # fmt: skip


def holds_from(test: str) -> int | None:
    """Return the number of topics from which a test errs no more often than it may; None if it errs with the most."""
    kinds = ("equal systems", "equal means")
    wrong = [n for n in TOPICS if any(found(kind, test, n).errs for kind in kinds)]
    return next((n for n in TOPICS if n > max(wrong, default=0)), None)


def power(test: str) -> float:
    """Return the mean share of known differences that a test finds, over all numbers of topics."""
    return float(np.mean([found("a known difference", test, topics).share for topics in TOPICS]))


def agreement(test: str) -> float:
    """Return on how many known differences a test decides as the default does, in percent, from 25 topics on."""
    found = [decisions("a known difference", topics) for topics in TOPICS[1:]]
    return 100 * float(np.mean([(own[test] == own[DEFAULT]).mean() for own in found]))


def summary() -> Table:
    """Return what each test is worth: from how many topics it can be trusted, what it finds, how it decides."""
    rows = []
    for test in TESTS:
        first = holds_from(test)
        trusted = f"{first} topics" if first else "never"
        name = test + (" (our default)" if test == DEFAULT else "")
        rows.append((name, trusted, f"{power(test):.1f}", f"{agreement(test):.1f}"))
    heads = ("test", "errs no more than it may from", "finds, in percent", "decides as the default, in percent")
    note = (
        "Finds: the mean of the table before. A randomisation test asks whether results could be exchanged, not "
        "whether means are equal: on skewed differences its level is not guaranteed."
    )
    return Table("What the tests are worth", words(*heads), tuple(rows), (note,))


def said(test: str) -> str:
    """Return in words from where a test can be trusted, and what it finds."""
    return f"{test} from {holds_from(test) or 'no number of'} topics on, finds {power(test):.1f} %"


def claims() -> Table:
    """Hold what the paper claims, and what we expected of our default, against what was found."""
    alike, apart = min(map(agreement, ("t", "bootstrap"))), max(map(agreement, ("wilcoxon", "sign")))
    never = [test for test in ("wilcoxon", "sign") if holds_from(test) is None]
    trusted = [test for test in TESTS if holds_from(test) == TOPICS[0]]
    best = max(trusted, key=power, default=DEFAULT)
    rows = [
        (
            "t and bootstrap decide as randomisation does, Wilcoxon and sign less so",
            f"t and bootstrap at least {alike:.1f} %, Wilcoxon and sign at most {apart:.1f} %",
            verdict("yes", "yes" if alike > apart else "no", "not explained"),
        ),
        (
            "Wilcoxon and sign are no tests of means",
            f"err too often even with {TOPICS[-1]} topics: {', '.join(never) or 'neither'}",
            verdict("2", str(len(never))),
        ),
        (
            "our default errs no more than it may with 10 to 500 topics, and no such test finds more",
            f"{said(DEFAULT)}; {said(best)}",
            verdict(DEFAULT, best, "see the tables above"),
        ),
    ]
    return compared(f"{SOURCE} (the first two), and our default", ("claim", "found", "verdict"), rows)


def tables() -> list[Table]:
    """Return both error rates, the power, and what follows."""
    return [
        rate_table("equal systems", "Each call is an error."),
        rate_table("equal means", "Each call is an error: the means are equal, the differences are skewed."),
        rate_table("a known difference", "Each call is right."),
        summary(),
        claims(),
    ]
