"""A row of any file or frame → the judgements that it holds, and judgements → a gold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.data.fields import NAMES, missing, short, value
from focuseval.data.gold import UNKNOWN
from focuseval.errors import FormatError, MissingDataError
from focuseval.formats.judgements import Judgements, judged_twice
from focuseval.formats.row_results import document_of, first_text, span_of, topic_of, whole
from focuseval.formats.rows import as_list
from focuseval.formats.span_gold import Span, SpanGold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.errors import Place
    from focuseval.formats.source import Source


_HOP = re.compile(r"<([0-9]+-hop)>\s*")
"""What RAGAS writes before the contexts of a multi-hop question that it made up."""


class JudgedSpan(NamedTuple):
    """One span of a topic, or (without start, end and quote) a document without one."""

    topic: str
    at: Place
    query: str = ""
    doc: str | None = None
    """None where the file does not say: the quote is then looked for in all documents."""
    start: int = UNKNOWN
    end: int = UNKNOWN
    quote: str | None = None
    need: str | None = None
    grade: int | None = None
    tags: tuple[str, ...] = ()

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
    base = JudgedSpan(
        topic_of(row, at, question=question),
        at,
        query=str(value(row, "query", at) or ""),
        doc=document_of(row, at),
        grade=whole(_grade(row), "relevance", at),
        tags=tuple(map(str, as_list(tags, "tags", at))) if (tags := value(row, "tags", at)) is not None else (),
    )
    if question:
        items = [] if listed is None else as_list(listed, "references", at, row)
        return [_item(item, base) for item in items] or [base]
    found = _flat(row, base)
    if found.doc is None and not found.quote:
        raise _nothing(row, at)
    if found.doc is None and found.quote == row.get("answer"):  # in its own words, more often than in the document's
        raise missing("doc", row, at)
    return [found]


def _grade(row: Mapping[str, Any]) -> Any:
    """Return a document's grade; ``score`` is one in the judgements of BEIR and MTEB, which have nothing else."""
    names = NAMES["relevance"] if len(row) == 3 else NAMES["relevance"][:-1]
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _flat(row: Mapping[str, Any], base: JudgedSpan) -> JudgedSpan:
    """Return the span that a row or an object of a list says itself."""
    at = base.at
    start, end = span_of(row, at)
    need, named = value(row, "need", at), document_of(row, at)
    return base._replace(
        doc=named or base.doc,
        start=UNKNOWN if start is None else start,
        end=UNKNOWN if end is None else end,
        quote=first_text(row, "quote", at) or None,
        need=None if need is None else str(need),
    )


def _item(item: Any, base: JudgedSpan) -> JudgedSpan:
    if isinstance(item, Mapping):
        return _flat(item, base)
    if not isinstance(item, str):
        raise FormatError(f"expected a text or an object with a span, found {short(item)}", at=base.at)
    hop = _HOP.match(item)
    return base._replace(quote=item[hop.end() if hop else 0 :] or None, need=hop[1] if hop else None)


def _nothing(row: Mapping[str, Any], at: Place) -> FormatError:
    """Return the refusal of a row that says nothing of what answers its question."""
    lists = ", ".join(NAMES["references"])
    return FormatError(
        f"expected what answers the question (a list as {lists}, or a document with a span, a quote or a relevance), "
        f"found {', '.join(map(str, row))}",
        at=at,
        remedy="add one of these fields",
    )


def gold_of(judgements: Sequence[JudgedSpan], documents: Collection | None, sources: Sequence[Source] = ()) -> Gold:
    """Return judgements as a gold, gathered by topic and document; texts without a document find it in `documents`."""
    found, remarks = with_documents(judgements, documents)
    code = {source.name: number for number, source in enumerate(sources)}
    gold = SpanGold(Judgements())
    pairs: dict[tuple[str, str], list[JudgedSpan]] = {}
    for one in found:
        if one.topic not in gold.rows.queries:
            gold.topic(one.topic, one.query)
        if one.tags:
            tags = [*gold.rows.attributes.get(one.topic, {}).get("tags", "").split(","), *one.tags]
            gold.rows.attributes[one.topic] = {"tags": ",".join(dict.fromkeys(filter(None, tags)))}
        if one.doc is not None:
            pairs.setdefault((one.topic, one.doc), []).append(one)
    for (topic, document), group in pairs.items():
        spans = [Span(document, one.start, one.end, one.quote, one.need) for one in group if one.marks]
        graded = [one for one in group if one.grade is not None]
        if len({one.at for one in graded}) > 1:
            raise judged_twice(document, topic, graded[0].at, graded[1].at)
        grade = graded[0].grade if graded else None
        gold.add(topic, spans, group[0].at, code.get(group[0].at.file, 0), [document], grade=grade)
    whole = not any(one.marks for one in found) and any(one.grade is not None for one in found)
    return gold.gold(sources, remarks, scale="trec" if whole else "highlights")


def with_documents(
    judgements: Sequence[JudgedSpan], documents: Collection | None
) -> tuple[list[JudgedSpan], tuple[str, ...]]:
    """Return judgements whose texts have found their documents, and remarks on those that have not."""
    nameless = [one for one in judgements if one.doc is None and one.quote]
    if not nameless:
        return list(judgements), ()
    if documents is None:
        raise needs_documents(nameless[0].at)
    from focuseval.placing.anywhere import holders_of  # noqa: PLC0415  only some tools leave the document out

    holders = holders_of([one.quote for one in nameless], documents)
    rows = dict(zip(map(id, nameless), holders.row.tolist(), strict=True))
    found = [
        one._replace(doc=documents.ids[row].as_py(), quote=one.quote) if (row := rows.get(id(one), -1)) >= 0 else one
        for one in judgements
    ]
    return found, tuple(_unfound(nameless, holders.documents.tolist()))


def needs_documents(at: Place) -> MissingDataError:
    """Return the refusal of a text without a document where no documents are given."""
    return MissingDataError(f"{at}: texts without a document are looked for in all of them; give --docs or --index")


def _unfound(judgements: Sequence[JudgedSpan], documents: Sequence[int]) -> Iterator[str]:
    """Say how many texts without a document were found in one, in several and in none, and name the first of each."""
    several = [(one, n) for one, n in zip(judgements, documents, strict=True) if n > 1]
    nowhere = [one for one, n in zip(judgements, documents, strict=True) if n == 0]
    once = len(judgements) - len(several) - len(nowhere)
    yield (
        f"{len(judgements):,} texts without a document: {once:,} found, {len(several):,} ambiguous (in several "
        f"documents), {len(nowhere):,} lost" + ("; ambiguous and lost ones are left out" if several or nowhere else "")
    )
    if several:
        one, number = several[0]
        yield f"first ambiguous: {short(one.quote)} for topic {one.topic!r} ({one.at}) is in {number} documents"
    if nowhere:
        yield f"first lost: {short(nowhere[0].quote)} for topic {nowhere[0].topic!r} ({nowhere[0].at})"
