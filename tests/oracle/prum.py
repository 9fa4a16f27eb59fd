"""PRUM, EPRUM by containment and ERRel from their definitions, one topic at a time."""

from fractions import Fraction
from itertools import combinations, product

from oracle.recall_base import contains


def shown(results, targets):
    """For every rank, the targets seen so far."""
    seen, found = set(), []
    for x in results:
        seen = seen | {y for y in targets if contains(x, y)}
        found.append(seen)
    return found


def fewest_articles(targets, R):
    """The smallest number of whole articles whose targets total at least R, over all choices of articles."""
    articles = {y[:2] for y in targets}
    for many in range(1, len(articles) + 1):
        if any(sum(y[:2] in chosen for y in targets) >= R for chosen in combinations(articles, many)):
            return many
    raise AssertionError("R exceeds the number of targets")


def eprum(results, targets, R):
    for k, seen in enumerate(shown(results, targets), 1):
        if len(seen) >= R:
            return Fraction(fewest_articles(targets, R), k)
    return Fraction(0)


def mean_eprum(results, targets):
    return sum(eprum(results, targets, R) for R in range(1, len(targets) + 1)) / len(targets)


def prum_of_history(history, T):
    """PRUM when the number of targets seen after every rank is certain."""
    total = Fraction(0)
    for R in range(1, T + 1):
        before = [0, *history[:-1]] if history else []
        read = sum(b < R for b in before)
        useful = sum(b < R and now > b for b, now in zip(before, history, strict=True))
        total += Fraction(useful, read) if read else 0
    return total / T


def prum(results, targets):
    return prum_of_history([len(seen) for seen in shown(results, targets)], len(targets))


def prum_distance(p, T):
    """PRUM when item k shows a new target with probability p[k]: expectations over every possible history."""
    total = Fraction(0)
    for R in range(1, T + 1):
        useful = read = Fraction(0)
        for outcome in product([0, 1], repeat=len(p)):
            chance = Fraction(1)
            for x, pk in zip(outcome, p, strict=True):
                chance *= pk if x else 1 - pk
            for k, x in enumerate(outcome):
                if sum(outcome[:k]) < R:
                    read += chance
                    useful += chance * x
        total += useful / read if read else 0
    return total / T


def errel(results, targets, k):
    history = shown(results, targets)[:k]
    return Fraction(len(history[-1]) if history else 0, len(targets))
