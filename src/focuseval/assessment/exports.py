"""A project's gold as a file, with the names of imported assessors and models in it, or beside it if it has no place.

A file beside ``gold.jsonl`` is ``gold.jsonl.assessors.json``::

    {"gold": "gold.jsonl", "topics": {"101": "ann, model-x (imported)"}}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.assessment.golds import whose_gold
from focuseval.assessment.plan import IMPORTED, MODEL_PREFIX
from focuseval.errors import AssessError
from focuseval.formats import find_format
from focuseval.formats.convert import write_gold
from focuseval.formats.output import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from focuseval.assessment.golds import Whose
    from focuseval.assessment.store import Store
    from focuseval.collection import Index
    from focuseval.collection.rendering.documents import DocumentCache
    from focuseval.data.gold import Gold

EXPORTS = ("gold-jsonl", "inex-2005", "inex-2008", "trec-qrels")
"""The formats of `focuseval.formats` that finished judgements are written in."""

SIDE = ".assessors.json"


def export_gold(
    store: Store, documents: DocumentCache, target: Path, wanted: str, *, whose: Whose, queries: Mapping[str, str]
) -> tuple[str, ...]:
    """Write judgements in a gold format, whole or not at all; return the counts, and what the format could not say."""
    gold, name = whose_gold(store, documents, whose, queries=queries, graded=wanted == "inex-2005")
    if not gold.topics:
        raise AssessError(f"expected finished judgements of {name}, found none yet")
    return (*gold.remarks, *write_judged(gold, target, wanted, documents.index, lossy=True))


def write_judged(
    gold: Gold, target: str | Path, wanted: str, index: Index | None, *, lossy: bool = False
) -> tuple[str, ...]:
    """Write a project's gold; models and imported assessors whom it cannot name are named beside it; return remarks."""
    remarks = write_gold(gold, target, wanted, index, lossy=lossy)
    whose = {topic: facts["assessor"] for topic, facts in gold.attributes.items() if "assessor" in facts}
    named = {name for names in whose.values() for name in names.split(", ")}
    imported = sorted(name for name in named if f"({IMPORTED})" in name or name.startswith(MODEL_PREFIX))
    remarks += tuple(f"these are the judgements of {name}" for name in imported)
    if str(target) == "-" or "attributes" in find_format(wanted, "gold").says:
        return remarks
    side = Path(f"{target}{SIDE}")
    if imported:
        told = {"gold": Path(target).name, "topics": whose}
        write_whole(side, [json.dumps(told, ensure_ascii=False, indent=1).encode(), b"\n"])
        return (*remarks, f"{wanted} cannot name assessors: {side} does")
    side.unlink(missing_ok=True)
    return remarks
