"""How often the command stars runs that do not differ, and how often runs that do: with its own defaults."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import focuseval as fe
from focuseval.cli import main
from focuseval.cli.compare import compare as command
from focuseval.cli.options import given
from focuseval.inference.comparison import compare
from focuseval.inference.paired import judge_pairs
from focuseval.inference.settings import settings_of
from strategies.seeds import scipys_seed

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "significance.md"
PAIRS = 2000
TOPICS = (8, 30, 100)


def settings(*options):
    """How ``focuseval compare`` judges with these options."""
    return settings_of(**given(command.make_context("compare", ["gold", "run", *options]).params))


@cache
def differences(topics):
    """Pairs of equal systems whose topics differ by chance, continuously."""
    return np.random.default_rng(topics).normal(0, 0.2, (PAIRS, topics))


def starred(rows, *options):
    """Return which pairs the command stars if each stands alone: a family of one has nothing to correct."""
    towards = rows * np.where(rows.mean(axis=1, keepdims=True) < 0, -1, 1)
    return judge_pairs(towards, settings(*options, "--correction", "none")).significant


@cache
def starred_equals(topics, options=""):
    """Return the share of equal pairs that are starred."""
    return float(starred(differences(topics), *options.split()).mean())


def bounds(pairs=PAIRS, level=0.05):
    low, high = stats.binom.interval(0.99, pairs, level)
    return low / pairs, high / pairs


@pytest.mark.parametrize("topics", TOPICS)
def test_equal_runs_are_starred_as_often_as_the_level_says(topics):
    low, high = bounds()
    assert low <= starred_equals(topics, "--test randomisation") <= high


@pytest.mark.parametrize("topics", TOPICS)
@pytest.mark.parametrize("kind", ["steps", "mostly tied", "skewed"])
def test_equal_runs_are_never_starred_more_often_than_that(topics, kind):
    """Precision at 5 has six values, on easy topics most runs tie, and some topics decide everything."""
    rng = np.random.default_rng(topics)
    one, other = rng.binomial(5, 0.4, (2, PAIRS, topics)) / 5
    rows = {
        "steps": one - other,
        "mostly tied": (one - other) * (rng.random((PAIRS, topics)) < 0.2),
        "skewed": rng.choice([-1, 1], (PAIRS, topics)) * rng.exponential(1, (PAIRS, topics)) ** 3,
    }[kind]
    assert starred(rows).mean() <= bounds()[1]


def test_of_several_equal_runs_any_star_is_as_rare_as_the_level_says():
    rng = np.random.default_rng(5)
    names, topics = tuple("abcd"), tuple(map(str, range(12)))
    found = [compare("AP", names, topics, rng.normal(0.5, 0.1, (4, 12)), settings()) for _ in range(500)]
    assert np.mean([one.significant.any() for one in found]) <= bounds(500)[1]
    assert np.mean([(one.p <= 0.05).any() for one in found]) > bounds(500)[1]


@pytest.mark.parametrize(("topics", "effect"), [(8, 0.25), (30, 0.12)])
def test_runs_that_differ_are_starred_no_less_often_than_by_scipys_permutation_test(topics, effect):
    rows = np.random.default_rng(topics).normal(effect, 0.2, (200, topics))
    seed = scipys_seed(stats.permutation_test, 0)
    asked = {"permutation_type": "samples", "n_resamples": 9999, "vectorized": True, **seed}
    peer = [stats.permutation_test((row,), np.mean, **asked).pvalue <= 0.05 for row in rows]
    assert starred(rows).sum() >= np.sum(peer) - 2  # both draw: a pair at the level may fall to either side
    assert np.sum(peer) > 100


def test_the_page_says_what_is_measured():
    """The shares of equal pairs that are starred, in percent, row by row of its table."""
    lines = re.findall(r"^\| `([^`]*)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(lines) == 5
    for options, *shares in lines:
        found = [100 * starred_equals(topics, options) for topics in TOPICS]
        assert [float(share) for share in shares] == pytest.approx(found, abs=0.15), options


def test_the_page_says_how_many_topics_must_differ():
    lines = re.findall(r"^\| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(lines) == 5
    for pairs, topics in ((int(pairs), int(topics)) for pairs, topics in lines):
        for number, enough in ((topics, True), (topics - 1, False)):
            rows = np.tile(np.linspace(0.1, 0.2, number), (pairs, 1))
            assert judge_pairs(rows, settings()).significant.tolist() == [enough] * pairs


def test_the_command_stars_what_the_function_stars(tmp_path):
    """Six pairs through files: the same p and the same star as from the differences alone."""
    rng = np.random.default_rng(2)
    qrels, paths = tmp_path / "qrels", []
    qrels.write_text("".join(f"{t} 0 d{d} {int(d < 4)}\n" for t in range(30) for d in range(12)))
    for n, shift in enumerate((0, 0, 1, 1, 2)):
        ranked = [np.argsort(rng.normal(0, 1, 12) - shift * (np.arange(12) < 4), kind="stable") for _ in range(30)]
        lines = [f"{t} Q0 d{d} {r + 1} {-r} run{n}\n" for t, docs in enumerate(ranked) for r, d in enumerate(docs)]
        paths.append(tmp_path / f"run{n}")
        paths[-1].write_text("".join(lines))
    scores = fe.evaluate(str(qrels), list(map(str, paths)), ["AP"])
    seen = []
    for n in range(4):
        call = ["compare", str(qrels), str(paths[n]), str(paths[n + 1]), "-m", "AP", "--format", "json"]
        (pair,) = json.loads(CliRunner().invoke(main, call).stdout)["comparisons"][0]["pairs"]
        row = (scores.values[n] - scores.values[n + 1])[:, 0][None]
        assert pair["p"] == pytest.approx(judge_pairs(row, settings()).p[0])
        assert pair["significant"] == starred(row)[0]
        seen.append(pair["significant"])
    assert sorted(set(seen)) == [False, True]
