"""Alignment done slowly: sliding windows, a full table of edit distances, every increasing sequence."""

import unicodedata
from itertools import pairwise, product

PLAIN = dict(zip("‘’‚‛“”„‟«»′″‐‑‒–—―−", "''''" + '""""""' + "'\"" + "-------", strict=True))
INVISIBLE = set("\u00ad\u200b\u200c\u200d\u2060\ufeff")


def all_starts(document, text):
    return [i for i in range(len(document) - len(text) + 1) if text and document[i : i + len(text)] == text]


def normal(text):
    visible = "".join(c for c in text if c not in INVISIBLE)
    decomposed = "".join(PLAIN.get(c, c) for c in unicodedata.normalize("NFKD", visible))
    return " ".join(decomposed.split())


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def fewest_edits(pattern, text):
    """The fewest edits between a pattern and any stretch of a text."""
    return min(edit_distance(pattern, text[i:j]) for i in range(len(text) + 1) for j in range(i, len(text) + 1))


def sellers(pattern, text):
    """The same from one table: an edit distance that may begin and end anywhere in the text, for longer texts."""
    column = list(range(len(pattern) + 1))
    best = column[-1]
    for y in text:
        last, column[0] = column[0], 0
        for i, x in enumerate(pattern, 1):
            last, column[i] = column[i], min(column[i] + 1, column[i - 1] + 1, last + (x != y))
        best = min(best, column[-1])
    return best


def forced_rows(candidates):
    """For each chunk the only row that every increasing choice agrees on; −1 where they differ or there is none."""
    choices = [range(len(starts)) if starts else [None] for starts in candidates]
    lawful = []
    for rows in product(*choices):
        starts = [candidates[i][row] for i, row in enumerate(rows) if row is not None]
        if all(a < b for a, b in pairwise(starts)):
            lawful.append(rows)
    if not lawful:
        return None
    return [rows[0] if rows[0] is not None and len(set(rows)) == 1 else -1 for rows in zip(*lawful, strict=True)]
