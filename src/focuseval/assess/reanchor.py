"""Accept a new text for an old judgement: what was found again moves, what was not is dropped by name only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from focuseval.assess.anchor import propose
from focuseval.assess.rules import OPEN, TODO, as_dict
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from focuseval.assess.document import Document
    from focuseval.assess.store import Key, Saved, Store


def reanchor(store: Store, key: Key, document: Document, *, version: int, token: str, drop_lost: bool = False) -> Saved:
    """Move a judgement to the text as it is now; the document is open again.

    Raises
    ------
    AssessError
        When a quote is lost or stands in two nearest places, unless the assessor said to drop those.
    """
    saved = store.judgement(key)
    proposal = propose(saved, store.quotes(key), document.text)
    doubtful = sum(one.after is None for one in proposal.highlights)
    if doubtful and not drop_lost:
        raise AssessError(f"{doubtful} of {len(proposal.highlights)} highlights were not found again; highlight anew")
    status = TODO if saved.judgement.status == TODO else OPEN
    kept = {path: grade for path, grade in saved.judgement.grades.items() if path in document.row_of}
    moved = replace(saved.judgement, highlights=proposal.spans, bep=proposal.bep, status=status, grades=kept)
    edit = {"kind": "replace", "judgement": as_dict(moved), "barrier": True, "source": "re-anchored"}
    return store.edit(key, document, edit, version=version, token=token)
