"""Telling formats apart by their first bytes, never by a file's name."""

from __future__ import annotations

import re
from collections import Counter

from focuseval.data.fields import KNOWN
from focuseval.formats.row_keys import keys_of
from focuseval.formats.sniff_spans import genomics

_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")
_PASSAGE = re.compile(rb"-?[0-9]+:-?[0-9]+")
_SPANS = re.compile(rb'"spans"\s*:\s*\[\s*\{')
_LINES = 200


def inex_xml(head: bytes) -> bool:
    """Say whether this is an INEX submission."""
    return root(head) == b"inex-submission"


def coverage(head: bytes) -> bool:
    """Say whether these are assessments of 2002."""
    return _assessments(head) and re.search(rb"<path\s[^>]*\b(?:coverage|relevance)\s*=", head) is not None


def graded(head: bytes) -> bool:
    """Say whether these are assessments of 2003–2004."""
    return _assessments(head) and not coverage(head) and _first_file(head) in {b"file", b"path"}


def highlighted(head: bytes) -> bool:
    """Say whether these are assessments of 2005–2007."""
    return _assessments(head) and not coverage(head) and not graded(head)


def unjudged(head: bytes) -> bool:
    """Say whether these are assessments in which nothing is judged that would tell the year."""
    return _assessments(head) and not re.search(rb"<(?:path|passage|element|best-entry-point)\s", head)


def trec_run(head: bytes) -> bool:
    """Say whether lines have six columns."""
    return _width(head) == 6 and not passages(head)


def inex_text(head: bytes) -> bool:
    """Say whether lines have seven or eight columns and none is a passage."""
    return _width(head) in {7, 8} and not passages(head)


def offsets(head: bytes) -> bool:
    """Say whether this is an INEX text run without paths."""
    return inex_text(head) and not any(fields[6:7] and fields[6].startswith(b"/") for fields in _fields(head))


def qrels(head: bytes) -> bool:
    """Say whether lines have four columns."""
    return _width(head) == 4


def passages(head: bytes) -> bool:
    """Say whether these are assessments of 2008–2010: five columns, or passages as offset:length."""
    return _width(head) == 5 or any(
        len(fields) > 6 and all(_PASSAGE.fullmatch(field) for field in fields[6:]) for fields in _fields(head)
    )


def run_jsonl(head: bytes) -> bool:
    """Say whether this is JSON with results."""
    return _json(head) and not gold_jsonl(head)


def gold_jsonl(head: bytes) -> bool:
    """Say whether this is JSON with judgements, whose spans have our own names."""
    judged = _json(head) and re.search(rb'"(?:spans|relevance)"\s*:', head) is not None
    spans = _SPANS.search(head) if judged else None
    keys = frozenset() if spans is None else keys_of(head, spans.start())
    return judged and (bool(keys & {"start", "quote"}) or not keys & KNOWN)


def _json(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"topic"' in head and b'"doc"' in head


def root(head: bytes) -> bytes:
    """Return the name of the root element; UTF-16 is read with its NUL bytes left out."""
    text = head.replace(b"\0", b"") if head[:2] in {b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"} else head
    match = _ROOT.search(re.sub(rb"<!--.*?-->|<!DOCTYPE[^>]*>", b"", text, flags=re.DOTALL))
    return match[1] if match and text.lstrip(b"\xff\xfe \t\r\n").startswith(b"<") else b""


def _assessments(head: bytes) -> bool:
    return root(head) in {b"assessments", b"inex-assessments"}


def _first_file(head: bytes) -> bytes:
    """Return the attribute of ``<file>`` that carries the document's name, or the tag of a graded path."""
    match = re.search(rb"<file\s[^>]*?\b(file|name)\s*=", head)
    if match:
        return match[1]
    return b"path" if re.search(rb"<path\s", head) else b""


def _fields(head: bytes) -> list[list[bytes]]:
    """Return the columns of the first lines, without the last one, which may be cut; JSON and XML have none."""
    if head.lstrip()[:1] in {b"{", b"[", b"<"} or genomics(head):
        return []
    lines = head.split(b"\n")
    whole = lines[:-1] if len(lines) > 1 else lines
    return [fields for line in whole[:_LINES] if (fields := line.split())]


def _width(head: bytes) -> int:
    """Return how many columns most lines have, so that one bad line is a reader's error and not a riddle."""
    widths = Counter(len(fields) for fields in _fields(head))
    return widths.most_common(1)[0][0] if widths else 0
