"""Texts to spans: where a chunk stands in its document, and whether a gold span says what its quote says.

Each text is looked for in its own document,

1. as it stands (*exact*);
2. in normal form: NFKD, white space, quotes, dashes and invisible characters made equal (*normalised*);
3. by the fewest edits in normal form, down to a stated similarity (*approximate*).

The first way that finds anything decides. A text that is found in several places goes between its neighbours in chunk
order, else to the place nearest to what was claimed for it; where both leave a choice it is *ambiguous*, and has no
span. (The order comes first: a splitter that searches for its own chunks claims the place of a later copy, and the
text there is the same.) A text that is found nowhere is *lost*. Nothing is ever put at the first place because it is
the first.
"""

from __future__ import annotations

from focuseval.align.alignment import Alignment
from focuseval.align.chunks import SIMILARITY, align_chunks, align_run
from focuseval.align.documents import Documents, TextMapping, as_documents
from focuseval.align.place import HOW
from focuseval.align.quotes import align_gold, overlapping

__all__ = [
    "HOW",
    "SIMILARITY",
    "Alignment",
    "Documents",
    "TextMapping",
    "align_chunks",
    "align_gold",
    "align_run",
    "as_documents",
    "overlapping",
]
