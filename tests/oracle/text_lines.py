"""Blank-separated lines, one at a time, as Python splits and converts them: slow, and easy to believe."""

import math
import re

WHOLE = {"int": re.compile(r"[+-]?[0-9]{1,18}"), "rank": re.compile(r"[+-]?[0-9]{1,9}")}
REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
PASSAGE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


class RefusedError(Exception):
    """The line and the beginning of what is said of it."""


def fields(text):
    for line, raw in enumerate(text.split(b"\n"), 1):
        if words := raw.split():
            try:
                yield line, [word.decode() for word in words]
            except UnicodeDecodeError:
                raise RefusedError(line, "expected UTF-8") from None


def number(line, name, kind, word):
    if kind in WHOLE and WHOLE[kind].fullmatch(word):
        return int(word)
    if kind == "real" and REAL.fullmatch(word):
        return float(word)
    raise RefusedError(line, f"expected a {'whole' if kind in WHOLE else 'finite'} number as {name}, found {word!r}")


def check_width(line, words, layout):
    if not layout.least <= len(words) <= len(layout.columns):
        raise RefusedError(line, "expected ")


def table(text, layout):
    """Return lines, columns and the first line with a score that is no finite number."""
    if b"\0" in text:
        raise RefusedError(text[: text.index(b"\0")].count(b"\n") + 1, "expected text, found a NUL byte")
    kinds, lines, fault = list(layout.columns.items()), [], None
    columns = {name: [] for name, kind in kinds if kind}
    try:
        for line, words in fields(text):
            check_width(line, words, layout)
            for (name, kind), word in zip(kinds, [*words, None, None], strict=False):
                if kind:
                    value = word if word is None or kind in {"text", "block"} else number(line, name, kind, word)
                    if kind == "real" and not math.isfinite(value):
                        fault = fault or (line, f"expected a finite number as {name}, found {word!r}")
                    columns[name].append(value)
            lines.append(line)
    except RefusedError as refusal:
        raise (RefusedError(*fault) if fault else refusal) from None
    return lines, columns, fault


def assessments(text):
    """Return (topic, document, relevant characters, length, entry point, passages, line) of a gold of 2008–10."""
    judged, seen = [], set()
    for line, words in fields(text):
        if len(words) < 5:
            raise RefusedError(line, "expected 5 columns")
        if (words[0], words[2]) in seen:
            raise RefusedError(line, "expected one judgement")
        seen.add((words[0], words[2]))
        size, length = (number(line, name, "int", words[i]) for i, name in SIZES)
        if size < 0 or length < -1:
            raise RefusedError(line, "expected sizes that are not negative")
        bep = point(line, words[5], length) if len(words) > 5 else -1
        marks = [passage(line, word, length) for word in words[6:]]
        if size and not marks:
            raise RefusedError(line, "expected offset:length")
        judged.append((words[0], words[2], size, length, bep, marks, line))
    return judged


SIZES = ((3, "relevant characters"), (4, "document length"))


def point(line, word, length):
    if word in {"-1", "X", "x"}:
        return -1
    bep = number(line, "best entry point", "int", word)
    if bep < 0 or 0 <= length < bep:
        raise RefusedError(line, "expected a best entry point within")
    return bep


def passage(line, word, length):
    match = PASSAGE.fullmatch(word)
    if not match:
        raise RefusedError(line, "expected a passage as offset:length")
    start, size = int(match[1]), int(match[2])
    if 0 <= length < start + size:
        raise RefusedError(line, "expected a passage within")
    return start, start + size
