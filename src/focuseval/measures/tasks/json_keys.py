"""Lines of JSON that say a key twice: readers take the last value, and the other is lost."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.measures.tasks.findings import Broken, Findings
from focuseval.measures.tasks.rules import REPEATED_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator


def with_repeated_keys(findings: Findings, data: bytes) -> Findings:
    """Return what was found, and beside it the results on whose lines a key is repeated."""
    lines = list(repeated_keys(data))
    rows = np.flatnonzero(np.isin(findings.lines, lines))
    broken = Broken(REPEATED_KEY, rows, rows, "change" if findings.repaired else "error")
    return replace(findings, broken=(broken, *findings.broken)) if len(rows) else findings


def repeated_keys(data: bytes) -> Iterator[int]:
    r"""Yield the numbers of the lines whose object repeats a key.

    >>> list(repeated_keys(b'{"a":1}\n{"a":1,"a":2}'))
    [2]
    """
    for number, line in enumerate(data.split(b"\n"), 1):
        twice: list[str] = []

        def keep(pairs: list[tuple[str, Any]], twice: list[str] = twice) -> None:
            twice += [name for name, _ in pairs[len({name for name, _ in pairs}) :]]

        if line.strip():
            json.loads(line, object_pairs_hook=keep)
        if twice:
            yield number
