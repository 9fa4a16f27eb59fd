"""Read a run that is going to be checked: what a check would find must not be refused before.

Readers refuse scores that are no numbers, and a TREC run that names a document twice, because a measure computed with
them would be wrong. Whoever looks for what is wrong needs the run nevertheless. Only when a reader has refused, the
file is read again with marks that no run contains, and the marks are taken away from what was read: ``nan`` becomes
the lowest number there is, and then NaN, which ranks last by score; repeated documents are numbered for a moment.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import FormatError
from focuseval.formats import detect_source, find_format
from focuseval.formats.source import open_source, source_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from focuseval.formats.format import Format
    from focuseval.formats.source import Source
    from focuseval.run import Run

_LOWEST = float(np.finfo(np.float32).min)
_STAND_INS = {_LOWEST: np.nan, np.nextafter(_LOWEST, 0): np.inf, np.nextafter(_LOWEST, -np.inf): -np.inf}
"""Numbers that stand in for what is none: the lowest that single precision holds, too, so that nothing overflows; in
single precision, in which TREC runs are ranked, they are one."""

_NO_NUMBER = rb"([+-]?(?:nan|inf|infinity))"
_SCORES = tuple(
    re.compile(before + _NO_NUMBER + after, re.IGNORECASE | re.MULTILINE)
    for before, after in (
        (rb"(^[ \t]*(?:[^\s]+[ \t]+){4})", rb"(?=\s)"),
        (rb"(<rsv>\s*)", rb"(?=\s*</rsv>)"),
        (rb'("score"\s*:\s*)', rb"(?=\s*[,}])"),
    )
)
"""A score and what stands before it: the fifth column of a text run, XML's ``rsv``, JSON's ``score``."""


_DOCUMENT = re.compile(rb"^([ \t]*[^\s]+[ \t]+[^\s]+[ \t]+[^\s]+)", re.MULTILINE)
_MARK = "\x01"
"""Stands between a document's id and its number; it sorts before all letters, so that ids keep their order."""


def read_run_leniently(path: str | Path, format: str | None = None, index: Any = None) -> Run:  # noqa: A002  the field's word
    """Return the run in a file; a score that is no number is NaN, and a TREC run may repeat a document.

    An index serves formats whose places cannot be understood without the documents; no path is resolved.
    """
    source = open_source(path)
    chosen = find_format(format, "run") if format else detect_source(source, "run")
    try:
        run: Run = chosen.reader(index)(source)
    except FormatError as refusal:
        run = _read_marked(chosen, source, refusal, index)
    return run


def _read_marked(chosen: Format, source: Source, refusal: FormatError, index: Any) -> Run:
    """Read a refused run with marks; raise the refusal again if they do not help."""
    mended = _with_numbers(bytes(source.data))
    if chosen.name == "trec-run":
        number = count(1)
        mended = _DOCUMENT.sub(lambda found: found[1] + f"{_MARK}{next(number)}".encode(), mended)
    try:
        run: Run = chosen.reader(index)(source_of(mended, source.name))
    except FormatError:
        raise refusal from None
    names = pc.replace_substring_regex(run.document.cast(pa.string()), _MARK + "[0-9]+$", "")
    return replace(run, document=names, score=None if run.score is None else _without_stand_ins(run.score))


def _without_stand_ins(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores with NaN and infinities where the file has them."""
    score = score.copy()
    for number, meant in _STAND_INS.items():
        score[score == number] = meant
    return score


def _stand_in(found: re.Match[bytes]) -> bytes:
    """Return a score's beginning and a number in place of what is none."""
    meant = float(found[2])
    number = next(n for n, m in _STAND_INS.items() if m == meant or (np.isnan(m) and np.isnan(meant)))
    return found[1] + repr(float(number)).encode()


def _with_numbers(data: bytes) -> bytes:
    """Replace scores that are no numbers by their stand-ins."""
    for pattern in _SCORES:
        data, found = pattern.subn(_stand_in, data)
        if found:
            break
    return data
