"""Qasper, sentences: the evidence as annotators highlighted it, in place of whole paragraphs.

::

    {"1909.00694": {…, "qas": [{…, "answers": [{"answer": {…, "highlighted_evidence": ["…"]}}]}]}}

The same files as ``qasper``, read for `highlighted_evidence`. Nothing in a file asks for one or the other, so it is
asked for by name: ``--gold-format qasper-highlighted``. Everything else is as in 'focuseval formats qasper'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.formats import qasper

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.data.gold import Gold
    from focuseval.formats.source import Source

EVIDENCE = "highlighted_evidence"


def read(sources: Sequence[Source]) -> Gold:
    """Return the highlighted sentences of all answers, at their places in the papers."""
    return qasper.read(sources, EVIDENCE)


def read_quotes(sources: Sequence[Source]) -> Gold:
    """Return the sentences as quotes without places, to be aligned."""
    return qasper.read_quotes(sources, EVIDENCE)


def carried(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of every paper."""
    return qasper.carried(sources)
