"""How often the gate fails a change that changes nothing, one commit by itself and over a history of commits.

Two simulated systems of the same quality (`reproductions.simulated_systems`, equal windows and noise) are scored under
the 44 measures of ``--profile rag``. A *neutral change* draws questions, and takes the results of either system for
each of them by chance, before and after. In some, most questions keep their results, as after a small change.

* *One commit*: the share of neutral changes that fail, by the rule that the README prints and by that of 0.2.0, under
  which any of the 44 measures failed the build, each at 5 %.
* *Twenty commits*: the share of histories in which some commit fails although every change is neutral.
* *Slow decay*: at every commit one question in fifty loses its answer and half as many get one back.
"""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import focuseval as fe
from focuseval.cli.gate import gate
from focuseval.data.tables import Table, numbers, words
from focuseval.inference.regression import GateRule, judge_changes
from focuseval.measures.profiles import profile_named
from reproductions.simulated_systems import BASE, System, golds, run_of

README = Path(__file__).parents[1] / "README.md"
AGAIN = System("again", BASE.window, BASE.noise, 4)
TOPICS = (10, 25, 50, 150)
RATES = (0.1, 0.3, 1.0)
"""The share of questions whose results may change."""
CHANGES, HISTORIES, COMMITS = 2000, 200, 20
EARLIER = 200
"""Changes under the earlier rule, which tests 44 measures each."""
DECIDES = profile_named("rag").deciding("spans")


def readme_rule() -> GateRule:
    """Return the rule of the gate's command in the README, with fewer resamples."""
    text = README.read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^\$ focuseval gate (.*)$", text, re.MULTILINE)
    options = gate.make_context("gate", line.split()).params
    names = ("test", "tails", "alpha", "min_effect", "max_lost", "decide", "strict")
    return GateRule(resamples=1000, **{name: options[name] for name in names})


@cache
def scored() -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the measures, and both systems × the questions of both golds × measures."""
    found = []
    for gold, lengths in golds().values():
        scores = fe.evaluate(gold, [run_of(system, gold, lengths) for system in (BASE, AGAIN)], profile="rag")
        found.append(scores.values)
    return scores.measures, np.concatenate(found, axis=1)


def neutral(rng: np.random.Generator, topics: int, rate: float, versions: int = 2) -> NDArray[np.float64]:
    """Return versions × questions × measures of systems among which nothing is better."""
    _, values = scored()
    drawn = values[:, rng.integers(0, values.shape[1], topics)]
    system = rng.integers(0, 2, (versions, topics)) * (rng.random(topics) < rate)
    return drawn[system, np.arange(topics)]


def fails(before: NDArray[np.float64], after: NDArray[np.float64], rule: GateRule) -> bool:
    """Say whether the gate fails: topics × measures before and after, the deciding measure first."""
    topics = [str(i) for i in range(len(before))]
    changes = [("m", topics, old, new) for old, new in zip(before.T, after.T, strict=True)]
    return any(verdict.fails for verdict in judge_changes(changes, rule))


def one_commit(rule: GateRule, topics: int, rate: float, changes: int, *, measures: bool = False) -> float:
    """Return the percentage of neutral changes that fail, under the deciding measure or under all."""
    rng, names = np.random.default_rng([topics, int(100 * rate)]), scored()[0]
    columns = slice(None) if measures else [names.index(DECIDES)]
    drawn = (neutral(rng, topics, rate)[..., columns] for _ in range(changes))
    return 100 * float(np.mean([fails(*pair, rule) for pair in drawn]))


def versions_of(rng: np.random.Generator, topics: int, *, decay: bool) -> NDArray[np.float64]:
    """Return the deciding measure's values of a release and of the commits after it."""
    column = scored()[0].index(DECIDES)
    if not decay:
        return neutral(rng, topics, 0.3, COMMITS + 1)[..., column]
    found = [neutral(rng, topics, 0.0, 1)[0, :, column]]
    answered = np.ones(topics, bool)
    for _ in range(COMMITS):
        answered = np.where(answered, rng.random(topics) >= 0.02, rng.random(topics) < 0.01)
        found.append(found[0] * answered)
    return np.array(found)


def history_fails(versions: NDArray[np.float64], rule: GateRule, *, anchor: bool) -> bool:
    """Say whether some commit of a history fails, against the commit before it or against the release."""
    steps = replace(rule, alpha=rule.alpha / 2) if anchor else rule
    pinned = replace(steps, max_lost=None)
    for k in range(1, len(versions)):
        before, release, now = (versions[i][:, None] for i in (k - 1, 0, k))
        if fails(before, now, steps) or (anchor and fails(release, now, replace(pinned, alpha=pinned.spent(k)))):
            return True
    return False


def histories(rule: GateRule, topics: int, *, anchor: bool = False, decay: bool = False) -> float:
    """Return the percentage of histories in which some commit fails."""
    rng = np.random.default_rng(topics)
    return 100 * float(
        np.mean([history_fails(versions_of(rng, topics, decay=decay), rule, anchor=anchor) for _ in range(HISTORIES)])
    )


def tables() -> list[Table]:
    """Return alarms of one commit, of twenty, and what is found of slow decay."""
    rule = readme_rule()
    earlier = GateRule(min_effect=0.02, decide="all", correction="none", resamples=1000)
    heads = numbers(*(f"{n} questions" for n in TOPICS), form=".1f")
    most = 100 * binom.ppf(0.995, CHANGES, rule.alpha) / CHANGES
    rows = [(f"{100 * rate:.0f} %", *(one_commit(rule, n, rate, CHANGES) for n in TOPICS)) for rate in RATES]
    rows.append(("100 %, as 0.2.0", *(one_commit(earlier, n, 1.0, EARLIER, measures=True) for n in TOPICS)))
    one = Table(
        "Neutral changes that fail, in percent: the README's command",
        (*words("results that may change"), *heads), tuple(rows),
        (f"{CHANGES:,} changes a cell ({EARLIER} in the last row). By chance a gate at .05 fails up to {most:.1f}.",),
    )  # fmt: skip
    rules = {
        "--alpha 0.05": (rule, False),
        "--false-alarms 100": (replace(rule, alpha=0.01), False),
        "--alpha 0.05 --anchor": (rule, True),
        "--false-alarms 100 --anchor": (replace(rule, alpha=0.01), True),
    }
    many = [
        Table(
            title, (*words("options"), *heads[2:]),
            tuple((name, *(histories(own, n, anchor=anchor, decay=decay) for n in TOPICS[2:]))
                  for name, (own, anchor) in rules.items()),
            (f"{HISTORIES} histories a cell, of {COMMITS} commits each.",),
        )
        for title, decay in (("Neutral histories in which some commit fails, in percent", False),
                             ("Slowly decaying histories in which some commit fails, in percent", True))
    ]  # fmt: skip
    return [one, *many]
