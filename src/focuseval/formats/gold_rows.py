"""Gold as rows with the field names that people use: JSON lines, a JSON list, CSV or TSV with a header.

::

    {"question_id": "q1", "question": "…?", "document_id": "a.md", "start_index": 120, "end_index": 180}
    [{"user_input": "…?", "reference_contexts": ["…", "…"]}]                     RAGAS
    [{"input": "…?", "context": ["…", "…"]}]                                     DeepEval
    {"id": "q1", "question": "…?", "evidence": [{"file_name": "a.md", "text": "…", "need": "birthplace"}]}
    query-id<TAB>corpus-id<TAB>score                                             the qrels of BEIR and MTEB

A row is a span, a graded document, or a question with the list of what answers it (``references``: texts, or objects
with these fields). Fields are found by the names that 'focuseval formats run-rows' lists, and by those below. In rows
without any of these ``answers`` are gold where the documents hold the very text, else left out, and counted; they are
refused if no document holds one. An ``answer`` beside retrieved contexts is a system's own. Spans with the same
``need`` are alternatives (see gold-jsonl); ``<1-hop>`` before a context of RAGAS is its name, not part of it. A
``score`` is a grade in a file of three columns. A ``group`` has the topics that belong together (see gold-jsonl).

A document without span, quote and relevance was judged and found not relevant. Quotes without a document are looked
for in all documents of ``--docs``, word for word and then in normal form; one that several documents hold, or none, is
left out, and counted. Written is what RAGAS reads: ``query_id``, ``user_input`` and ``reference_contexts``, the texts
of the spans. A folder of BEIR (``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv``) is a gold by its
qrels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from focuseval.collection.index import Collection
from focuseval.data.fields import NAMES, json_line, short, topic_of, value
from focuseval.data.gold import UNKNOWN, Gold
from focuseval.data.remarks import Remark, worded
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source
from focuseval.formats.judgements import Judgements, Span, judged_twice, spans_of, text_of
from focuseval.formats.paged import Paged
from focuseval.formats.rows import as_list, document_of, first_text, rows_of, span_of, whole
from focuseval.formats.run_rows import needs_documents
from focuseval.placing.texts import holders_of

ROW_FIELDS = ("quote", "references", "answers", "need", "relevance", "tags", "group")
"""What a row may say besides the fields of a run's, for the format's documentation."""
_HOP = re.compile(r"<([0-9]+-hop)>\s*")  # what RAGAS writes before the contexts of a multi-hop question that it made up


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the judgements of one or several files."""
    paged = [(source, Paged(rows_of(source), documents, source.name, gold=True)) for source in sources]
    judged = [
        one for source, found in paged for row in found.rows for one in judgements_of(row.members, source.at(row.line))
    ]
    gold = gold_of(judged, documents, sources)
    return replace(gold, remarks=(*gold.remarks, *(remark for _, found in paged for remark in found.remarks)))


def write(gold: Gold, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield a line for every question with the texts that answer it; a span without a quote needs the documents."""
    texts: dict[int, list[str]] = {}
    for (topic, _), spans in spans_of(gold).items():
        at = Place(gold.file or "<gold>")
        held = [s.quote or text_of(documents, s.document, gold.topics[topic], at)[s.start : s.end] for s in spans]
        texts.setdefault(topic, []).extend(held)
    for code, name in enumerate(gold.topics):
        asked = {"query_id": name, "user_input": gold.queries.get(name, name)}
        yield json_line({**asked, "reference_contexts": texts.get(code, [])})


class JudgedSpan(NamedTuple):
    """One span of a topic, or (without start, end and quote) a document without one."""

    topic: str
    at: Place
    query: str = ""
    doc: str | None = None  # None where the file does not say: the quote is then looked for in all documents
    start: int = UNKNOWN
    end: int = UNKNOWN
    quote: str | None = None
    need: str | None = None
    grade: int | None = None
    tags: tuple[str, ...] = ()
    group: str = ""
    answer: bool = False  # whether the quote is an answer, which may be in words of its own

    @property
    def marks(self) -> bool:
        """Whether it highlights anything."""
        return self.start >= 0 or self.end >= 0 or bool(self.quote)


def judgements_of(row: Mapping[str, Any], at: Place) -> list[JudgedSpan]:
    """Return the judgements of a row: its span, or those of the list that it holds for one question.

    >>> from focuseval.errors import Place
    >>> found = judgements_of({"input": "Why?", "context": ["So.", "Thus."]}, Place("deepeval.json", 1))
    >>> [(one.topic, one.doc, one.quote) for one in found]
    [('Why?', None, 'So.'), ('Why?', None, 'Thus.')]
    """
    if isinstance(row.get("context"), str) and isinstance(row.get("answers"), Mapping):
        what = "expected spans of documents, found rows of SQuAD, whose documents are their contexts"
        raise FormatError(what, at=at, remedy="write them to a file of JSON lines, which is read as SQuAD")
    listed = value(row, "references", at)
    question = listed is not None or bool(row.keys() & set(NAMES["references"]))
    # "score" is a grade in the judgements of BEIR and MTEB, which have nothing else
    grades = NAMES["relevance"] if len(row) == 3 else NAMES["relevance"][:-1]
    grade = next((row[name] for name in grades if row.get(name) not in (None, "")), None)
    topic, query = topic_of(row, at, question=question), str(value(row, "query", at) or "")
    base = JudgedSpan(topic, at, query, document_of(row, at), grade=whole(grade, "relevance", at))
    words = as_list(value(row, "tags", at) or [], "tags", at)
    tags = tuple(tag.strip() for some in words for tag in str(some).split(","))
    base = base._replace(tags=tags, group=str(value(row, "group", at) or ""))
    if question:
        items = [] if listed is None else as_list(listed, "references", at, row)
        return [_item(item, base) for item in items] or [base]
    found = _span(row, base)
    generated = bool(row.keys() & set(NAMES["results"]))
    said = {name: row[name] for name in NAMES["answers"] if name in row and not (generated and name == "answer")}
    if (not found.marks and found.grade is None) or (found.doc is None and found.quote == row.get("answer")):
        answers = value(said, "answers", at)
        if isinstance(answers, Mapping) and isinstance(answers.get("text"), list):  # of SQuAD, without its contexts
            answers = answers["text"]
        texts = [] if answers is None else as_list(answers, "answers", at) if isinstance(answers, list) else [answers]
        if texts:
            return [_item(text, base)._replace(answer=True) for text in texts]
    if found.doc is None and not found.quote:
        wanted = f"a list as {', '.join(NAMES['references'])}, or a document with a span, a quote or a relevance"
        what = f"expected what answers the question ({wanted}), found {', '.join(map(str, row))}"
        raise FormatError(what, at=at, remedy="add one of these fields")
    return [found]


def _span(row: Mapping[str, Any], base: JudgedSpan) -> JudgedSpan:
    """Return the span that a row or an object of a list says itself."""
    at = base.at
    start, end = (UNKNOWN if place is None else place for place in span_of(row, at))
    need, doc = value(row, "need", at), document_of(row, at) or base.doc
    quote = first_text(row, "quote", at) or None
    return base._replace(doc=doc, start=start, end=end, quote=quote, need=None if need is None else str(need))


def _item(item: Any, base: JudgedSpan) -> JudgedSpan:
    if isinstance(item, Mapping):
        return _span(item, base)
    if not isinstance(item, str):
        raise FormatError(f"expected a text or an object with a span, found {short(item)}", at=base.at)
    hop = _HOP.match(item)
    return base._replace(quote=item[hop.end() if hop else 0 :] or None, need=hop[1] if hop else None)


def gold_of(judgements: Sequence[JudgedSpan], documents: Collection | None, sources: Sequence[Source] = ()) -> Gold:
    """Return judgements as a gold, gathered by topic and document; texts without a document find it in `documents`."""
    found, remarks = _with_documents(judgements, documents)
    asked = Counter(topic for topic, _ in {(one.topic, one.at) for one in judgements if one.topic == one.query})
    if same := asked.total() - len(asked):
        remarks = (*remarks, Remark("same question", same))
    code = {source.name: number for number, source in enumerate(sources)}
    rows = Judgements()
    pairs: dict[tuple[str, str], list[JudgedSpan]] = {}
    for one in found:
        if one.topic not in rows.queries:
            rows.question(one.topic, one.query)
        if one.tags:
            facts = rows.attributes.setdefault(one.topic, {})
            tags = [*facts.get("tags", "").split(","), *one.tags]
            facts["tags"] = ",".join(dict.fromkeys(filter(None, tags)))
        if one.group and one.group != rows.attributes.setdefault(one.topic, {}).setdefault("group", one.group):
            what = f"expected one group for topic {one.topic!r}, found another"
            raise FormatError(what, at=one.at, remedy="keep one of them")
        if one.doc is not None:
            pairs.setdefault((one.topic, one.doc), []).append(one)
    for (topic, document), group in pairs.items():
        spans = [Span(document, one.start, one.end, one.quote, one.need) for one in group if one.marks]
        graded = [one for one in group if one.grade is not None]
        if len({one.at for one in graded}) > 1:
            raise judged_twice(document, topic, graded[0].at, graded[1].at)
        grade = graded[0].grade if graded else None
        rows.add(topic, spans, group[0].at, [document], code=code.get(group[0].at.file, 0), grade=grade)
    whole = not any(one.marks for one in found) and any(one.grade is not None for one in found)
    return rows.gold(sources, "trec" if whole else "highlights", remarks)


def _with_documents(
    judgements: Sequence[JudgedSpan], documents: Collection | None
) -> tuple[list[JudgedSpan], tuple[Remark, ...]]:
    """Return judgements whose texts have found their documents, and remarks on those that have not."""
    nameless = [one for one in judgements if one.doc is None and one.quote]
    if not nameless:
        return list(judgements), ()
    if documents is None:
        raise needs_documents(nameless[0].at)
    found_in, holders = holders_of([one.quote for one in nameless], documents)
    rows = dict(zip(map(id, nameless), found_in.tolist(), strict=True))
    found = [
        one._replace(doc=documents.ids[row].as_py()) if (row := rows.get(id(one), -1)) >= 0 else one
        for one in judgements
    ]
    counts = holders.tolist()
    if all(one.answer for one in nameless) and 1 not in counts:
        first = f"found answers in words of their own: {short(nameless[0].quote)} is in {counts[0] or 'none'} of them"
        remedy = "add the passages that hold the answer, as 'quotes' or 'reference_contexts'"
        raise FormatError(f"expected texts of one document each, {first}", at=nameless[0].at, remedy=remedy)
    several = [(one, number) for one, number in zip(nameless, counts, strict=True) if number > 1]
    nowhere = [one for one, number in zip(nameless, counts, strict=True) if number == 0]
    if not any(one.doc for one in found):
        told = f"found {len(nowhere):,} of {len(nameless):,} in none and {len(several):,} in several"
        what = f"expected every text of the gold in one document of {documents.name}, {told}"
        raise FormatError(what, at=nameless[0].at, remedy="give the documents they are from, or name each one's")
    numbers = (len(nameless) - len(several) - len(nowhere), len(several), len(nowhere))
    left = "; ambiguous and lost ones are left out" if several or nowhere else ""
    remarks = [Remark("nameless", len(nameless), (*(f"{number:,}" for number in numbers), left))]
    for one, number in several[:1]:
        where = f"{short(one.quote)} for topic {one.topic!r} ({one.at})"
        remarks.append(worded(f"first ambiguous: {where} is in {number} documents"))
    remarks += [worded(f"first lost: {short(one.quote)} for topic {one.topic!r} ({one.at})") for one in nowhere[:1]]
    return found, tuple(remarks)
