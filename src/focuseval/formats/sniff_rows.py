"""Telling rows with named fields apart by the names of the first: of a run, of a gold, or of our own JSON lines."""

from __future__ import annotations

from focuseval.data.fields import KNOWN, NAMES, NESTED, QUESTION_IDS, spelled
from focuseval.formats.row_keys import first_keys
from focuseval.formats.sniff import gold_jsonl, run_jsonl

OURS = frozenset(NAMES) - {"results", "references"}
"""The names of our own files."""


def run_rows(head: bytes) -> bool:
    """Say whether these are rows of a run: results, or questions with a list of results."""
    keys = first_keys(head)
    if not _asked(keys) or (run_jsonl(head) and not _foreign(keys)):
        return False
    placed = any(spelled(keys, name) for name in ("text", "start", "path", "rank", "score"))
    named = bool(spelled(keys, "doc") or keys & {*NESTED, *NAMES["text"][1:]})
    return bool(spelled(keys, "results")) or (named and placed and not _judged(keys))


def gold_rows(head: bytes) -> bool:
    """Say whether these are rows of a gold: spans, graded documents, or questions with what answers them."""
    keys = first_keys(head)
    if not _asked(keys) or gold_jsonl(head) or (run_jsonl(head) and not _judged(keys)):
        return False
    ranked = bool(keys & {"rank", *NAMES["text"], "similarity"}) or ("score" in keys and len(keys) > 3)
    spans = bool(spelled(keys, "doc")) and (bool(spelled(keys, "start")) or "score" in keys) and not ranked
    return _judged(keys) or spans


def _asked(keys: frozenset[str]) -> bool:
    """Say whether a row names its topic or its question; an id alone is not enough to be one."""
    return bool(spelled(keys, "topic") or spelled(keys, "query") or (keys & set(QUESTION_IDS) and _listed(keys)))


def _listed(keys: frozenset[str]) -> bool:
    return bool(spelled(keys, "results") or spelled(keys, "references"))


def _judged(keys: frozenset[str]) -> bool:
    """Say whether a row has what only judgements have."""
    graded = keys & {"relevance", "grade", "quote", *NAMES["need"]} or ("answer" in keys and spelled(keys, "doc"))
    return bool(spelled(keys, "references") or graded)


def _foreign(keys: frozenset[str]) -> bool:
    """Say whether a row has names of fields that our own runs do not use."""
    return bool(keys & KNOWN - OURS)
