"""Telling formats apart by their first bytes, never by a file's name: a function for each format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from focuseval.data.fields import AROUND, KNOWN, NAMES, NESTED, QUESTION_IDS, column_name, delimiter_of, short, spelled

FLAT_SQUAD = frozenset({"context", "question", "answers"})  # the fields of a question in a SQuAD file of rows

_OURS = frozenset(NAMES) - {"results", "references", "distance", "answers", "page", "bbox"}
"""The names of the fields in our own files."""

_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")
_PASSAGE = re.compile(rb"-?[0-9]+:-?[0-9]+")
_SPANS = re.compile(rb'"spans"\s*:\s*\[\s*\{')
_PAGED = re.compile(rb'[{,]\s*"(?:page|page_number|page_no|page_num|bbox|boxes)"\s*:')
_SCORES = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.DOTALL)
_NEXT_LINE = re.compile(rb"\}\s*\n\s*\{")
_SEGMENT = re.compile(rb"[^\s#]+#[0-9]+(?:_[0-9]+)?")
_NUMBER = re.compile(rb"[-+0-9.eE]+")
chroma = re.compile(
    rb"^[^\n]*\bquestion\b[^\n]*\breferences\b[^\n]*\bcorpus_id\b|^[^\n]*\bcorpus_id\b[^\n]*\breferences\b"
).match
"""The header of the CSV of chunking_evaluation."""
_SENTENCES = re.compile(rb'"(?:answer|content)"\s*:\s*\[\s*\{\s*"(?:text|type|citations)"')
_GENERATED = frozenset({"answer", "response", "actual_output", "output", "generated_answer"})
_CITED = frozenset({"sources", "docs", "references", "citations", "abstains", "abstained", "refused"})


def _lines(head: bytes, most: int) -> list[bytes]:
    """Return the first lines that are not blank, without the last one, which may be cut."""
    lines = head.split(b"\n", most)
    return [line for line in (lines[:-1] if len(lines) > 1 else lines) if line.strip()]


# INEX in XML


def root(head: bytes) -> bytes:
    """Return the name of the root element; UTF-16 is read with its NUL bytes left out."""
    text = head.replace(b"\0", b"") if head[:2] in {b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"} else head
    match = _ROOT.search(re.sub(rb"<!--.*?-->|<!DOCTYPE[^>]*>", b"", text, flags=re.DOTALL))
    return match[1] if match and text.lstrip(b"\xff\xfe \t\r\n").startswith(b"<") else b""


def assessments(head: bytes) -> str:
    """Return what assessments in XML hold, by which their years differ; nothing where these are none.

    Coverage in 2002; grades, in files that are named by ``file``, in 2003–2004; highlights in 2005–2007.
    """
    if root(head) not in {b"assessments", b"inex-assessments"}:
        return ""
    if re.search(rb"<path\s[^>]*\b(?:coverage|relevance)\s*=", head):
        return "coverage"
    named = re.search(rb"<file\s[^>]*?\b(file|name)\s*=", head)
    graded = named[1] == b"file" if named else re.search(rb"<path\s", head) is not None
    return "grades" if graded else "highlights"


def unjudged(head: bytes) -> bool:
    """Say whether these are assessments in which nothing is judged that would tell the year."""
    return bool(assessments(head)) and not re.search(rb"<(?:path|passage|element|best-entry-point)\s", head)


# columns separated by blanks or tabs


@lru_cache(maxsize=1)  # several formats ask for the columns of the same bytes
def _fields(head: bytes) -> tuple[list[list[bytes]], int]:
    """Return the columns of the first lines, and how many most of them have; JSON and XML have none.

    By most, so that the reader refuses a bad line, and not the detection.
    """
    if head.lstrip()[:1] in {b"{", b"[", b"<"} or genomics(head):
        return [], 0
    lines = [line.split() for line in _lines(head, 200)]
    named = [one for one in lines if {*one[:2]} & {b"Q0", b"q0", b"0"} or all(map(_NUMBER.fullmatch, one[3:5]))]
    lines = lines if 2 * len(named) >= len(lines) else []  # else these are sentences
    return lines, Counter(map(len, lines)).most_common(1)[0][0] if lines else 0


def columns(head: bytes, *widths: int) -> bool:
    """Say whether most lines have so many columns, and none has passages."""
    return _fields(head)[1] in widths and not passages(head)


def offsets(head: bytes) -> bool:
    """Say whether this is an INEX text run without paths."""
    return columns(head, 7, 8) and not any(fields[6:7] and fields[6].startswith(b"/") for fields in _fields(head)[0])


def passages(head: bytes) -> bool:
    """Say whether these are assessments of 2008–2010: five columns, or passages as offset:length."""
    lines, width = _fields(head)
    return width == 5 or any(len(fields) > 6 and all(map(_PASSAGE.fullmatch, fields[6:])) for fields in lines)


def genomics(head: bytes) -> bool:
    """Say whether this is TREC Genomics gold: columns separated by tabs, three numbers before the aspects."""
    rows = (line.split(b"\t") for line in _lines(head, 50) if not line.startswith(b"#"))
    lines = [[field.strip() for field in row] for row in rows]
    return bool(lines) and all(
        len(fields) >= 5
        and all(map(bytes.isdigit, fields[1:4]))
        and fields[1] != b"0"
        and not _NUMBER.fullmatch(fields[4])
        for fields in lines
    )


def genomics_run(head: bytes) -> bool:
    """Say whether this is a TREC Genomics run: five numbers, or seven columns with offset and length before the tag."""
    lines = [line.split() for line in _lines(head, 50)]
    return bool(lines) and all(
        (len(fields) == 5 and all(field.isdigit() for field in fields[1:]))
        or (len(fields) == 7 and all(fields[i].isdigit() for i in (1, 2, 4, 5)) and not fields[6].startswith(b"/"))
        for fields in lines
    )


def segments(head: bytes, width: int) -> bool:
    """Say whether most lines have so many columns, and all of those name a segment in the third.

    A segment is ``document#number``, or ``document#number_byte``.
    """
    lines = _lines(head, 50)
    fields = [fields for line in lines if len(fields := line.split()) == width]
    return len(fields) * 2 > len(lines) and all(_SEGMENT.fullmatch(line[2]) for line in fields)


# JSON lines of our own


def _our_json(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"topic"' in head and b'"doc"' in head


def run_jsonl(head: bytes) -> bool:
    """Say whether this is JSON with results."""
    return _our_json(head) and not gold_jsonl(head) and not _SPANS.search(head)


def gold_jsonl(head: bytes) -> bool:
    """Say whether this is JSON with judgements, whose spans have our own names."""
    judged = _our_json(head) and re.search(rb'"(?:spans|relevance)"\s*:', head) is not None
    spans = _SPANS.search(head) if judged else None
    keys = frozenset() if spans is None else _keys_after(head, spans.start())
    if spans is not None and _PAGED.search(head, spans.start()):  # pages and boxes are read as rows
        return False
    return judged and (bool(keys & {"start", "quote"}) or not keys & KNOWN)


# JSON, CSV and TSV with named fields


def first_keys(head: bytes) -> frozenset[str]:
    r"""Return the field names of the first row in a file's first bytes; none where they are no rows with names.

    >>> sorted(first_keys(b'[{"qid": 1, "metadata": {"page": 1}, "text": "\xc3'))
    ['metadata', 'qid', 'text']
    >>> sorted(first_keys(b"qid,doc_id,score\n1,a,2\n")), first_keys(b"1 Q0 a 1 2.0 run\n")
    (['doc_id', 'qid', 'score'], frozenset())
    """
    begin = head.lstrip()[:1]
    if begin == b"[" and not re.match(rb"\s*\[\s*\{", head):
        return frozenset()
    if begin in {b"{", b"["}:
        outer, inner = _keys_after(head, 0), re.search(rb"\[\s*\{", head)
        if _SCORES.match(head) and not outer & KNOWN:
            return frozenset({"topic", "doc", "score"})
        lines = _NEXT_LINE.search(head) is not None
        around_list = inner is not None and begin == b"{" and not outer & AROUND and not lines
        return _keys_after(head, inner.start()) if inner and around_list else outer
    header = head.partition(b"\n")[0].decode("utf-8", "replace").strip("\ufeff\r")
    if begin == b"<" or (not header.isprintable() and "\t" not in header):
        return frozenset()
    names = header.split(delimiter_of(header))
    return frozenset(map(column_name, names)) if len(names) > 1 else frozenset()


def _keys_after(head: bytes, at: int) -> frozenset[str]:
    """Return the keys of the first object behind a place, as far as it goes."""
    keys, depth, last, begin = set[bytes](), 0, b"", head.find(b"{", at)
    for token in _TOKEN.finditer(head, begin) if begin >= 0 else ():
        sign = token[0]
        if sign in b"{[":
            depth += 1
        elif sign in b"}]":
            depth -= 1
            if not depth:
                break
        elif sign == b":" and depth == 1:
            keys.add(last)
        last = sign
    return frozenset(column_name(key.strip(b'"').decode("utf-8", "replace")) for key in keys)


def answers(head: bytes) -> bool:
    """Say whether these are answers with what they cite: a list of sentences, or a text with its sources."""
    keys = first_keys(head)
    listed = head.lstrip()[:1] in {b"{", b"["} and (_SENTENCES.search(head) or b'"groundingSupports"' in head)
    return bool(listed) or bool(keys & _GENERATED and keys & _CITED and not spelled(keys, "results"))


def run_rows(head: bytes) -> bool:
    """Say whether these are rows of a run: results, or questions with a list of results."""
    keys = first_keys(head)
    nested = keys & set(NESTED) and not keys & {"text", "start", "path"}  # where their place stands, then
    if not _names_topic(keys) or (run_jsonl(head) and not nested and not keys & KNOWN - _OURS):
        return False
    placed = any(spelled(keys, name) for name in ("text", "start", "path", "rank", "score", "distance", "page"))
    ranked = keys & {"rank", *NAMES["score"], *NAMES["distance"]}
    named = bool(spelled(keys, "doc") or keys & {*NESTED, *NAMES["text"][0 if ranked else 1 :]})
    return bool(spelled(keys, "results")) or (named and placed and not _judges(keys))


def gold_rows(head: bytes) -> bool:
    """Say whether these are rows of a gold: spans, graded documents, or questions with what answers them."""
    keys = first_keys(head)
    if not _names_topic(keys) or gold_jsonl(head) or (run_jsonl(head) and not _judges(keys) and not rather_gold(head)):
        return False
    returned = {"rank", *NAMES["text"], *NAMES["score"][1:], *NAMES["distance"]}
    ranked = bool(keys & returned) or ("score" in keys and len(keys) > 3)
    spans = bool(spelled(keys, "doc")) and (bool(spelled(keys, "start")) or "score" in keys) and not ranked
    return _judges(keys) or spans


def rather_gold(head: bytes) -> bool:
    """Say whether rows that could be a run are a gold where nobody says which: qrels of BEIR, or spans without a rank.

    Judgements have a question or a quote beside a document, and nothing that only results have.
    """
    keys = first_keys(head)
    returned = keys & {"rank", "run", *NAMES["score"], *NAMES["distance"], *NAMES["text"]}
    judged = (spelled(keys, "query") or "quote" in keys) and spelled(keys, "doc") and not returned
    return keys == {"query-id", "corpus-id", "score"} or bool(judged and spelled(keys, "start"))


def _names_topic(keys: frozenset[str]) -> bool:
    """Say whether a row names its topic or its question; an id alone is not enough to be one."""
    listed = spelled(keys, "results") or spelled(keys, "references")
    return bool(spelled(keys, "topic") or spelled(keys, "query") or (keys & set(QUESTION_IDS) and listed))


def _judges(keys: frozenset[str]) -> bool:
    """Say whether a row has what only judgements have."""
    marked = keys & {"relevance", "grade", "quote", *NAMES["need"]} or ("answer" in keys and spelled(keys, "doc"))
    answers = keys & {*NAMES["answers"]} - ({"answer"} if spelled(keys, "results") else set())
    answered = answers and not keys & {"rank", *NAMES["score"], *NAMES["distance"]}
    return bool(spelled(keys, "references") or marked or answered)


def rows_found(keys: frozenset[str], kind: str | None) -> str:
    """Return what rows with these fields lack to be a run or a gold, with a line to copy."""
    from difflib import get_close_matches  # noqa: PLC0415  only a file that is not understood needs it

    near = {key: get_close_matches(key, KNOWN, 1, 0.8) for key in sorted(keys - KNOWN - set(QUESTION_IDS))}
    meant = "".join(f" (is {key!r} {close[0]!r}?)" for key, close in near.items() if close)
    lacks = "a 'topic' or a 'question'"
    if _names_topic(keys) or keys & set(QUESTION_IDS):
        lacks = "what was found: a 'doc' with a 'text', a 'start' or a 'score'; or a list as 'contexts'"
        if kind == "gold":
            lacks = "what answers the question: a 'quote', a 'doc' with 'start' and 'end'; or a list as 'quotes'"
    sample = '"quote": "…"' if kind == "gold" else '"rank": 1, "text": "…"'
    rows = "gold-rows" if kind == "gold" else "run-rows"
    names = [key if key.isprintable() and len(key) < 40 else short(key) for key in sorted(keys)]
    fields = ", ".join(names[:12]) + (" …" if names[12:] else "") + meant
    line = f'{{"topic": "q1", "doc": "a.md", {sample}}}'
    return f"rows with the fields {fields}, nearest to {rows}, which lack {lacks}, as in {line}"


# collections for retrieval-augmented generation


def _has(*keys: bytes) -> Callable[[bytes], bool]:
    """Return whether a file is a JSON object in which all of these keys stand."""
    patterns = [re.compile(rb'"%s"\s*:' % key) for key in keys]
    return lambda head: head.lstrip().startswith(b"{") and all(pattern.search(head) for pattern in patterns)


legalbench = _has(b"tests", b"snippets")
qasper = _has(b"full_text", b"section_name")
natural_questions = _has(b"(?:document_html|long_answer|long_answer_candidates)")
"""The first page of Natural Questions may be longer than what is looked at."""
_articles = _has(b"data", b"paragraphs")
_provenance = _has(b"provenance")
_input = _has(b"input", b"output")
_page = _has(b"wikipedia_id")


def squad(head: bytes) -> bool:
    """Say whether this is of the SQuAD family, in articles and paragraphs or a question at a time."""
    flat = head.lstrip()[:1] in {b"{", b"["} and first_keys(head) >= FLAT_SQUAD
    return flat or _articles(head)


def kilt(head: bytes) -> bool:
    """Say whether this is KILT: questions with provenance, or with inputs and outputs."""
    return (_provenance(head) or _input(head)) and not traces(head)


def traces(head: bytes) -> bool:
    """Say whether these are traces: spans with the id of a trace, or objects around spans."""
    inner = first_keys(head)
    outer = _keys_after(head, 0) if head.lstrip()[:1] in {b"{", b"["} else inner
    around = {"resourceSpans", "scopeSpans"} & outer or ({"info", "data"} <= outer and b'"spans"' in head)
    for keys in (outer, inner):  # of an object around a list, as Langfuse answers, those in the list
        spans = {"attributes", "span_kind", "spans"} & keys or any(key.startswith("attributes.") for key in keys)
        named = keys & {"traceId", "trace_id", "context.trace_id"} and (spans or {"type", "input"} <= keys)
        around = around or named or {"context", "attributes"} <= keys
    return bool(around)


def knowledge_source(head: bytes) -> bool:
    """Say whether this is KILT's knowledge source: pages with their paragraphs."""
    return _page(head) and re.search(rb'"text"\s*:\s*\[', head) is not None
