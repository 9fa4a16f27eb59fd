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


def prum_at(history, R):
    """PRUM on the way to R targets, when the number of targets seen after every rank is certain."""
    before = [0, *history[:-1]] if history else []
    read = sum(b < R for b in before)
    useful = sum(b < R and now > b for b, now in zip(before, history, strict=True))
    return Fraction(useful, read) if read else Fraction(0)


def prum(results, targets, R=None):
    history = [len(seen) for seen in shown(results, targets)]
    wanted = [R] if R else range(1, len(targets) + 1)
    return sum(prum_at(history, R) for R in wanted) / len(wanted)


def prum_distance(p, R):
    """PRUM when item k shows a new target with probability p[k]: expectations over every possible history."""
    useful = read = Fraction(0)
    for outcome in product([0, 1], repeat=len(p)):
        chance = Fraction(1)
        for x, pk in zip(outcome, p, strict=True):
            chance *= pk if x else 1 - pk
        for k, x in enumerate(outcome):
            if sum(outcome[:k]) < R:
                read += chance
                useful += chance * x
    return useful / read if read else Fraction(0)


def eprum_at_rank(results, targets, r):
    """The fewest articles with as many targets as the first r results show, over r."""
    seen = shown(results, targets)[:r]
    return Fraction(fewest_articles(targets, len(seen[-1])) if seen and seen[-1] else 0, r)


def errel(results, targets, k):
    history = shown(results, targets)[:k]
    return Fraction(len(history[-1]) if history else 0, len(targets))
