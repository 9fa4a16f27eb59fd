"""Telling the formats of RAG and passage collections apart by their first bytes."""

from __future__ import annotations

import re

from focuseval.formats.row_keys import first_keys

FLAT_SQUAD = frozenset({"context", "question", "answers"})
"""The fields of a question in a SQuAD file of rows."""

_LINES = 50
_SEGMENT = re.compile(rb"[^\s#]+#[0-9]+(?:_[0-9]+)?")
_NUMBER = re.compile(rb"[-+0-9.eE]+")
_CSV = re.compile(
    rb"^[^\n]*\bquestion\b[^\n]*\breferences\b[^\n]*\bcorpus_id\b|^[^\n]*\bcorpus_id\b[^\n]*\breferences\b"
)


def legalbench(head: bytes) -> bool:
    """Say whether this is LegalBench-RAG."""
    return _object(head) and _keys(head, b"tests") and _keys(head, b"snippets")


def chroma(head: bytes) -> bool:
    """Say whether this is the CSV of chunking_evaluation."""
    return _CSV.match(head) is not None


def squad(head: bytes) -> bool:
    """Say whether this is of the SQuAD family, in articles and paragraphs or a question at a time."""
    nested = _object(head) and _keys(head, b"data", b"paragraphs")
    return nested or (head.lstrip()[:1] in {b"{", b"["} and first_keys(head) >= FLAT_SQUAD)


def qasper(head: bytes) -> bool:
    """Say whether this is Qasper."""
    return _object(head) and _keys(head, b"full_text", b"section_name")


def nothing(head: bytes) -> bool:
    """Say no: what no content tells is asked for by name."""
    del head
    return False


def natural_questions(head: bytes) -> bool:
    """Say whether these are Natural Questions; the first page may be longer than what is looked at."""
    return _object(head) and re.search(rb'"(?:document_html|long_answer|long_answer_candidates)"\s*:', head) is not None


def kilt(head: bytes) -> bool:
    """Say whether this is KILT: questions with provenance, or with inputs and outputs."""
    return _object(head) and (_keys(head, b"provenance") or _keys(head, b"input", b"output"))


def knowledge_source(head: bytes) -> bool:
    """Say whether this is KILT's knowledge source: pages with their paragraphs."""
    return _object(head) and _keys(head, b"wikipedia_id") and re.search(rb'"text"\s*:\s*\[', head) is not None


def genomics(head: bytes) -> bool:
    """Say whether this is TREC Genomics gold: columns separated by tabs, three numbers before the aspects."""
    rows = (line for line in _lines(head) if not line.startswith(b"#"))
    lines = [[field.strip() for field in line.split(b"\t")] for line in rows]
    return bool(lines) and all(
        len(fields) >= 5
        and all(map(bytes.isdigit, fields[1:4]))
        and fields[1] != b"0"
        and not _NUMBER.fullmatch(fields[4])
        for fields in lines
    )


def genomics_run(head: bytes) -> bool:
    """Say whether this is a TREC Genomics run: five numbers, or seven columns with offset and length before the tag."""
    lines = [line.split() for line in _lines(head)]
    return bool(lines) and all(
        (len(fields) == 5 and all(field.isdigit() for field in fields[1:]))
        or (len(fields) == 7 and all(fields[i].isdigit() for i in (1, 2, 4, 5)) and not fields[6].startswith(b"/"))
        for fields in lines
    )


def segments_run(head: bytes) -> bool:
    """Say whether this is a TREC run whose documents are segments: ``document#number``, or ``document#number_byte``."""
    return _segments(head, 6)


def segments_gold(head: bytes) -> bool:
    """Say whether these are TREC qrels of segments."""
    return _segments(head, 4)


def _segments(head: bytes, width: int) -> bool:
    """Say whether lines have so many columns and name a segment in the third; one bad line is a reader's error."""
    fields = [fields for line in _lines(head) if len(fields := line.split()) == width]
    return len(fields) * 2 > len(_lines(head)) and all(_SEGMENT.fullmatch(line[2]) for line in fields)


def _object(head: bytes) -> bool:
    return head.lstrip().startswith(b"{")


def _keys(head: bytes, *names: bytes) -> bool:
    return all(re.search(rb'"%s"\s*:' % name, head) for name in names)


def _lines(head: bytes) -> list[bytes]:
    """Return the first lines, without the last one, which may be cut."""
    lines = head.split(b"\n")
    whole = lines[:-1] if len(lines) > 1 else lines
    return [line for line in whole[:_LINES] if line.strip()]
