"""Accept a new text for an old judgement: what was found again moves, what was not is dropped by name only.

`propose` of `focuseval.placing.anchor` says where highlights stand in the new text.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from focuseval.assessment.rules import OPEN, TODO, Judgement, as_dict
from focuseval.assessment.store import Key, Request, Saved, Store
from focuseval.errors import AssessError
from focuseval.placing.anchor import MOVED, Proposal, propose

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.collection.rendering import Document


def reanchor(store: Store, key: Key, document: Document, *, version: int, token: str, drop_lost: bool = False) -> Saved:
    """Move a judgement to the text as it is now; the document is open again.

    Raises
    ------
    AssessError
        When a quote is lost or stands in two nearest places, unless the assessor said to drop those.
    """
    saved = store.judgement(key)
    proposal = propose(saved.judgement.bep, store.quotes(key), document.text)
    doubtful = sum(one.after is None for one in proposal.highlights)
    if doubtful and not drop_lost:
        raise AssessError(f"{doubtful} of {len(proposal.highlights)} highlights were not found again; highlight anew")
    return store.edit(key, document, _edit(saved.judgement, proposal, document), version=version, token=token)


def _edit(judgement: Judgement, proposal: Proposal, document: Document, *, finished: bool = False) -> dict[str, object]:
    """Return the edit that moves a judgement; with `finished` it stays finished."""
    status = judgement.status if finished or judgement.status == TODO else OPEN
    kept = {path: grade for path, grade in judgement.grades.items() if path in document.row_of}
    moved = replace(judgement, highlights=proposal.spans, bep=proposal.bep, status=status, grades=kept)
    return {"kind": "replace", "judgement": as_dict(moved), "barrier": True, "source": "re-anchored"}


class ChangedText(NamedTuple):
    """A judgement of a text that is another one now, and what would become of its highlights."""

    saved: Saved
    document: Document
    proposal: Proposal
    moved: int
    lost: int


def changed_texts(store: Store, document: Callable[[str], Document]) -> list[ChangedText]:
    """Return the judgements whose text has changed since; documents that are gone are `check_project`'s business."""
    texts = "SELECT document, text_sha256 FROM judgements GROUP BY document, text_sha256 ORDER BY document"
    changed, found = {}, []
    for name, sha256 in store.database.read().execute(texts):
        with suppress(AssessError):
            if (now := document(name)).sha256 != sha256:
                changed[name, sha256] = now
    for saved in store.judgements() if changed else ():
        page = changed.get((saved.key.document, saved.text_sha256))
        if page is not None:
            proposal = propose(saved.judgement.bep, store.quotes(saved.key), page.text)
            moved = sum(one.verdict == MOVED for one in proposal.highlights)
            lost = sum(one.after is None for one in proposal.highlights)
            found.append(ChangedText(saved, page, proposal, moved, lost))
    return found


def reanchor_all(store: Store, document: Callable[[str], Document], *, finished: bool, actor: str) -> tuple[int, int]:
    """Move all judgements whose every highlight was found again, all of them or none.

    With `finished` finished judgements stay finished; else they are open again, for their assessors to look at. `actor`
    is whose name stands in the log. Return how many moved, and how many were left to their assessors because highlights
    are lost.
    """
    changed = changed_texts(store, document)
    requests = []
    for saved, page, proposal, _, lost in changed:
        if not lost:
            edit = _edit(saved.judgement, proposal, page, finished=finished)
            requests.append(Request(saved.key, page, edit, saved.version, uuid.uuid4().hex, actor))
    store.edit_all(requests)
    return len(requests), len(changed) - len(requests)
