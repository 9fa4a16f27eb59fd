"""Measures of whole documents from their definitions, one topic at a time.

`judged` is document → grade, `ranking` a list of documents; a document is relevant from a grade of `rel` on.
"""

from fractions import Fraction
from math import floor

EPSILON = Fraction(1, 100_000)


def relevant(judged, rel):
    return {document for document, grade in judged.items() if grade >= rel}


def at_ranks(judged, ranking, rel):
    """For every relevant document that is returned: its rank, and what stands above it."""
    good = relevant(judged, rel)
    return [(rank, ranking[: rank - 1]) for rank, document in enumerate(ranking, 1) if document in good]


def average_precision(judged, ranking, rel=1):
    good = relevant(judged, rel)
    return sum(Fraction(len(good & {*ranking[:rank]}), rank) for rank, _ in at_ranks(judged, ranking, rel)) / len(good)


def bpref(judged, ranking, rel=1):
    good = relevant(judged, rel)
    others = {document for document, grade in judged.items() if 0 <= grade < rel}
    right = Fraction(0)
    for _, above in at_ranks(judged, ranking, rel):
        wrong = min(len(others & {*above}), len(good))
        right += 1 - Fraction(wrong, min(len(others), len(good))) if wrong else 1
    return right / len(good)


def inferred_ap(judged, ranking, rel=1):
    good, total = relevant(judged, rel), Fraction(0)
    for rank, above in at_ranks(judged, ranking, rel):
        pool = [document for document in above if document in judged]
        known = [document for document in pool if judged[document] >= 0]
        share = (len(good & {*known}) + EPSILON) / (len(known) + 2 * EPSILON)
        expected = Fraction(len(pool), rank - 1) * share if rank > 1 else 0  # precision among the ranks above
        total += Fraction(1, rank) + Fraction(rank - 1, rank) * expected
    return total / len(good)


def interpolated(judged, ranking, level, rel=1, rule="trec_eval9"):
    good = relevant(judged, rel)
    need = floor(level * len(good) + 0.9) if rule == "trec_eval9" else floor(level * len(good) + 0.5)
    found = [len(good & {*ranking[:rank]}) for rank in range(1, len(ranking) + 1)]
    return max((Fraction(n, rank) for rank, n in enumerate(found, 1) if n >= need), default=0)


def set_values(judged, ranking, rel=1, beta=1):
    """Precision, F and average precision of the list as a set."""
    good = relevant(judged, rel)
    hits = len(good & {*ranking})
    p, r = Fraction(hits, max(len(ranking), 1)), Fraction(hits, len(good))
    return p, (1 + beta) * p * r / (beta * p + r) if hits else 0, p * r


def rbp(judged, ranking, p, rel=1):
    return sum((1 - p) * p ** (rank - 1) for rank, _ in at_ranks(judged, ranking, rel))


def err(judged, ranking, at, max_rel=4):
    value, here = Fraction(0), Fraction(1)
    for rank, document in enumerate(ranking[:at], 1):
        content = Fraction(2 ** max(judged.get(document, 0), 0) - 1, 2**max_rel)
        value, here = value + here * content / rank, here * (1 - content)
    return value


def judged_share(judged, ranking, at):
    return Fraction(sum(document in judged for document in ranking[:at]), max(len(ranking[:at]), 1))
