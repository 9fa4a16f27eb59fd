"""Measures of needed items written from their definitions, with Python sets and fractions: slow and obvious.

`spans` is a list of (document, start, end, name): spans with one name are alternatives, one without (None) stands for
itself. `results` is a list of (document, start, end) in rank order.
"""

from fractions import Fraction

from oracle.highlighted import shown_text


def items(spans):
    """The needed items, each as a list of sets of characters."""
    found = {}
    for number, (document, start, end, name) in enumerate(spans):
        text = {(document, i) for i in range(start, end)}
        found.setdefault(number if name is None else name, []).append(text)
    return list(found.values())


def needR(spans, results, at=None):
    shown = shown_text(results, at)
    best = [max(Fraction(len(text & shown), len(text)) for text in item) for item in items(spans)]
    return sum(best) / len(best)


def found(spans, results, at, share):
    shown = shown_text(results, at)
    return [
        any(text & shown and Fraction(len(text & shown), len(text)) >= Fraction(share) for text in item)
        for item in items(spans)
    ]


def s_recall(spans, results, at=None, share="1"):
    said = found(spans, results, at, share)
    return Fraction(sum(said), len(said))


def all_recall(spans, results, at=None, share="1"):
    return Fraction(all(found(spans, results, at, share)))
