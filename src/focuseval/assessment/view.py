"""What a browser needs to know of a document and of its judgement, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.assessment.rules import as_dict, inferred, ungraded, warnings
from focuseval.collection.rendering import layout
from focuseval.placing.anchor import diff, propose

if TYPE_CHECKING:
    from focuseval.assessment.store import Saved, Store
    from focuseval.collection.rendering import Document


def document_view(document: Document) -> dict[str, Any]:
    """Return text, blocks and elements; all positions are code points."""
    return {
        "id": document.id,
        "text": document.text,
        "sha256": document.sha256,
        "blocks": [[block.start, block.end, block.kind, block.level] for block in layout(document)],
        "elements": {
            "path": [element.path for element in document.elements],
            "start": [element.start for element in document.elements],
            "end": [element.end for element in document.elements],
            "parent": [element.parent for element in document.elements],
        },
    }


def state_view(saved: Saved, document: Document, *, exhaustivity: bool) -> dict[str, Any]:
    """Return a judgement with what follows from it: the entry point, warnings, inferred grades."""
    judgement = saved.judgement
    view = {
        **as_dict(judgement),
        "version": saved.version,
        "at": saved.at,
        "entry_point": judgement.entry_point,
        "warnings": list(warnings(judgement, document.text)),
    }
    if exhaustivity:
        view["inferred"] = inferred(document, judgement.grades)
        view["ungraded"] = ungraded(document, judgement.highlights, judgement.grades)
    return view


def changed_view(store: Store, saved: Saved, document: Document) -> dict[str, Any] | None:
    """Return what re-anchoring would do when the text is not the one that was assessed; None when it is."""
    if not saved.version or saved.text_sha256 == document.sha256:
        return None
    proposal = propose(saved.judgement.bep, store.quotes(saved.key), document.text)
    return {
        "complete": proposal.complete,
        "highlights": [
            {
                "before": list(one.before),
                "after": list(one.after) if one.after else None,
                "verdict": one.verdict,
                "quote": one.quote[:400],
                "diff": diff(one.quote, document.text, one.before[0]) if not one.after else [],
            }
            for one in proposal.highlights
        ],
    }
