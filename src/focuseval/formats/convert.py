"""From what was read to what a format can say: exact where it can be, with an index where that helps, else refused.

`lossy` turns a refusal into a conversion that leaves things out, and the remarks say what and how many.

A facet is a kind of content, counted so that a format that cannot express it can be refused by name. A facet of a run
is a kind of place: ``document``, ``element``, ``range`` of elements, ``passage`` between XPointers, ``span``, entry
``point``, ``text`` of a chunk, ``unknown`` place; besides these ``chunk`` numbers and the ``header`` (task,
participant …). A facet of a gold is a kind of judgement: ``coverage`` (2002), ``grades`` (2003–04), ``sizes`` of
elements (2005–07), ``pointers``, ``spans``, ``quotes``, ``bep``, ``bep-path``, ``relevance`` of documents, ``needs``
that spans meet; besides these ``lengths``, ``queries``, ``tags``, ``groups``, embedded ``topic``, other ``attributes``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.data.gold import FACTS, UNKNOWN, Gold, GradedElements, Passages
from focuseval.data.remarks import Remark, worded
from focuseval.data.run import Run
from focuseval.data.spans import pack
from focuseval.engine.storage import location
from focuseval.errors import FormatError, UsageError, counted
from focuseval.formats.catalogue import FORMATS, Format, Kind, detect_source, find_format
from focuseval.formats.content import open_sources, write_folder, write_whole
from focuseval.formats.detection import traces
from focuseval.formats.files import one_format, placed_gold, run_source
from focuseval.formats.judgements import table_of
from focuseval.formats.ranking import RankingOrder, by_score_and_document
from focuseval.placing.place import place_gold, place_run, refuse_bad_spans
from focuseval.placing.pointers import differing_elements, is_pointer, strings, with_elements, with_pointers
from focuseval.placing.texts import column_of

_TRANSLATED = frozenset({"element", "range", "passage", "text", "document"})
"""Places whose offsets the collection tells."""
_PLACED = frozenset({"element", "range", "passage", "span", "point", "text", "unknown"})
_NEEDS_INDEX = {"pointers": "spans", "bep-path": "bep", "spans": "pointers", "bep": "bep-path"}
_ELEMENTS = frozenset({"coverage", "grades", "sizes"})
WORDS = {
    "document": "whole documents",
    "element": "elements by path",
    "range": "ranges of elements",
    "passage": "passages between XPointers",
    "span": "spans by offset",
    "point": "entry points",
    "text": "texts without offsets",
    "unknown": "results at unknown places",
    "chunk": "chunk numbers",
    "header": "header fields",
    "coverage": "graded elements (relevance and coverage)",
    "grades": "graded elements (exhaustiveness and specificity)",
    "sizes": "assessed elements with sizes",
    "differing": "assessed elements unlike what the highlights make them (sizes, exhaustivity)",
    "pointers": "passages between XPointers",
    "spans": "highlighted spans",
    "quotes": "quotes",
    "needs": "names of what spans are needed for",
    "bep": "best entry points by offset",
    "bep-path": "best entry points by path",
    "relevance": "grades of whole documents",
    "lengths": "document lengths",
    "queries": "queries",
    "tags": "tags of topics",
    "groups": "groups, origins or assistance of topics",
    "topic": "embedded topics",
    "attributes": "attributes of topics (pool, version …)",
}
"""Every facet, as a message names it."""

MINOR = frozenset({"header", "chunk", "quotes", "needs", "lengths", "queries", "tags", "groups", "topic", "attributes"})
"""What no score depends on, or (needs) only the measures made for it: left out with a remark where a format cannot
express it, never a reason to refuse."""


def convert_file(
    source: str,
    target: str,
    wanted: str | None = None,
    *,
    given: Format | None = None,
    index: Collection | None = None,
    lossy: bool = False,
    replace: bool = False,
    cutoff: int | None = None,
    change: Callable[[Run], Run] | None = None,
    order: RankingOrder | None = None,
) -> tuple[Remark, ...]:
    """Convert a run or a gold file into another format, and return the remarks of reading and writing.

    With `replace` a folder of assessments that exists already is replaced; `cutoff` is the most results of a topic;
    `change` makes another run of what was read, and a remark counts the results that it leaves out;
    `order` is what ranks them.
    """
    sources = open_sources(source)
    single = len(sources) == 1 or traces(sources[0].head())
    before = given or (detect_source(sources[0]) if single else one_format(sources))
    after = format_of(target, wanted, before.kind)
    if before.kind == "gold" and change is not None:
        raise FormatError("expected a run, found a gold", at=source, remedy="only the results of a run are mapped")
    if before.kind == "gold":
        gold: Gold = before.reader(index)(sources)
        gold = gold if gold.passages.quote is None else placed_gold(gold, index)
        return (*gold.remarks, *write_gold(gold, target, after.name, index, lossy=lossy, replace=replace))
    run: Run = before.reader(index, order=order)(run_source(before, sources))
    if not run.topics:
        raise FormatError("expected results, found a run without topics", at=source, remedy="is it the right file?")
    if index is not None and run.start is not None:
        refuse_bad_spans(place_run(run, index))
    remarks = list(run.remarks)
    if change is not None:
        before_it, run = len(run), change(run)
        repeats = counted(before_it - len(run), "result")
        remarks += [_left_out(f"{repeats} of elements returned before")] if before_it > len(run) else []
    if cutoff is not None and (rest := np.count_nonzero((place := _places_in_topic(run)) >= cutoff)):
        whose = "its topic" if rest == 1 else "their topics"
        remarks.append(_left_out(f"{counted(int(rest), 'result')} beyond the first {cutoff:,} of {whose}"))
        run = run.take(np.flatnonzero(place < cutoff))
    return (*remarks, *write_run(run, target, after.name, index, lossy=lossy))


def format_of(target: str, wanted: str | None, kind: Kind) -> Format:
    """Return the format that is wanted by name, or else the one that the ending of the file's name asks for."""
    if wanted:
        return find_format(wanted, kind)
    formats = [known for known in FORMATS if known.kind == kind and known.says]
    for known in formats:
        if location(target).suffix.lower() in known.suffixes:
            return known
    names = ", ".join(known.name for known in formats)
    raise UsageError(f"expected a format for {target!r}, found none by its ending; name one with to=: {names}")


def write_run(
    run: Run,
    path: str | Path,
    format: str,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    lossy: bool = False,
) -> tuple[Remark, ...]:
    """Write a run, whole or not at all, and return remarks on what the format cannot express."""
    chosen = find_format(format, "run")
    run, remarks = convert_run(run, chosen, index, lossy=lossy)
    write_whole(path, chosen.writer(index)(run))
    return remarks


def write_gold(
    gold: Gold,
    path: str | Path,
    format: str,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    lossy: bool = False,
    replace: bool = False,
) -> tuple[Remark, ...]:
    """Write a gold, whole or not at all, and return remarks on what the format cannot express.

    Formats with a topic a file make a folder of them, unless `path` is one file (``….xml``, or ``-``); with `replace`
    in the place of a folder of such files.
    """
    chosen = find_format(format, "gold")
    gold, remarks = convert_gold(gold, chosen, index, lossy=lossy)
    if chosen.folder or (chosen.name == "pdf" and location(path).suffix.lower() != ".pdf"):
        write_folder(path, chosen.writer(index)(gold), replace=replace)
    elif chosen.by_topic and str(path) != "-" and not location(path).suffix:
        one = {f"{file_name(t)}.xml": chosen.write(_only_topic(gold, code)) for code, t in enumerate(gold.topics)}
        write_folder(path, one, replace=replace)
    elif chosen.name == "pdf":
        copies = chosen.writer(index)(gold)
        if len(copies) != 1:
            what = f"expected a folder for copies of {len(copies)} PDFs, found the name of one file"
            raise FormatError(what, at=str(path), remedy="name a folder")
        write_whole(path, next(iter(copies.values())))
    else:
        write_whole(path, chosen.writer(index)(gold))
    return remarks


def file_name(topic: str) -> str:
    """Return a topic's name as a file name that is safe everywhere.

    >>> file_name("2009/1")
    '2009%2F1'
    """
    return "".join(c if c.isalnum() or c in "-_" else f"%{ord(c):02X}" for c in topic)


def _only_topic(gold: Gold, code: int) -> Gold:
    """Return the part of a gold that one topic's file holds."""
    tables: dict[str, Any] = {}
    for name in ("articles", "passages", "elements"):
        part = getattr(gold, name).take(np.flatnonzero(getattr(gold, name).topic == code))
        tables[name] = replace(part, topic=np.zeros(len(part.topic), np.int32))
    return replace(gold, topics=(gold.topics[code],), **tables)


def _left_out(what: str) -> Remark:
    return Remark("left out", details=(what,))


def convert_run(
    run: Run, to: Format, index: Collection | None = None, *, lossy: bool = False
) -> tuple[Run, tuple[Remark, ...]]:
    """Return the run as `to` can say it, and remarks on what changed."""
    remarks: list[Remark] = []
    if run.text is not None and index is not None and len(run.nameless):  # texts that came without a document
        run = place_run(run, index)
        lost = run.nameless
        if len(lost) and not lossy:
            what = f"expected texts of one document each, found {len(lost)} in none or in several"
            raise FormatError(what, at=run.at(int(lost[0])), remedy="lossy=True leaves them out")
        if len(lost):
            remarks.append(_left_out(f"{counted(len(lost), 'text')} in none of the documents or in several"))
        run = run.take(np.setdiff1d(np.arange(len(run)), lost))
    facets = run_facets(run)
    unsaid = facets.keys() - to.says
    if unsaid & _TRANSLATED and "span" in to.says:
        run = _as_spans(run, to, index, remarks)
        facets = run_facets(run)
        unsaid = facets.keys() - to.says
    if unsaid & _PLACED and "document" in to.says and lossy:  # the documents alone, each at its first rank
        code = strings(run.document).dictionary_encode().indices.to_numpy()
        first = np.sort(np.unique(pack(run.topic, code), return_index=True)[1])
        again = f"{counted(len(run) - len(first), 'result')} of documents returned before"
        remarks.append(_left_out(f"{named(facets, _PLACED)}; {again}"))
        line = np.arange(1, len(run) + 1) if run.line is None else run.line
        run = replace(run, start=None, end=None, path=None, end_path=None, text=None, chunk=None, line=line).take(first)
        unsaid = run_facets(run).keys() - to.says
    if unsaid - MINOR:
        remedy = "lossy=True leaves them out" if "document" in to.says and not lossy else "choose another format"
        what = f"{to.name} cannot express {named(facets, unsaid - MINOR)}"
        raise FormatError(what, at=run.file or None, remedy=remedy)
    fields = f" ({', '.join(header_fields(run))})"
    remarks += [_left_out(named(facets, {one}) + fields * (one == "header")) for one in facets if one in unsaid]
    return _in_order(run, to, remarks, lossy=lossy), tuple(remarks)


def _places_in_topic(run: Run) -> NDArray[np.int64]:
    """Return the place of every result in its topic, from 0."""
    return np.asarray(np.arange(len(run)) - run.bounds[run.topic])


def _as_spans(run: Run, to: Format, index: Collection | None, remarks: list[Remark]) -> Run:
    """Return the run with spans in place of paths, texts and whole documents; every one of them must be found."""
    if index is None:
        what = f"expected offsets, found {named(run_facets(run), _TRANSLATED)}"
        raise FormatError(what, at=run.file or None, remedy=f"{to.name} says offsets: give docs= or index=")
    kinds = places(run)
    run = place_run(run, index)
    if run.placement is not None and run.placement.alignment is not None:
        remarks.append(worded(run.placement.alignment.summary()))
    if run.whole_documents and run.placement is not None:  # a document that the index does not have has no span
        run = replace(run, start=np.where(run.placement.document < 0, -1, 0), end=run.placement.length)
    lost = np.flatnonzero((column_of(run.start, len(run)) < 0) & (kinds != "unknown"))
    if len(lost):
        row = int(lost[0])
        path = None if run.path is None else run.path[row].as_py()
        found = f"{path!r} of " if path is not None else "the text of a chunk of " if run.text is not None else ""
        number = "1 result has" if len(lost) == 1 else f"{len(lost):,} results have"
        what = f"expected a place in the index, found {found}document {run.document[row].as_py()!r} ({number} none)"
        raise FormatError(what, at=run.at(row), remedy="is it the same collection?")
    return replace(run, path=None, end_path=None, text=None)


def _in_order(run: Run, to: Format, remarks: list[Remark], *, lossy: bool) -> Run:
    """Return the run with ranks that keep its order; for trec_eval, which ranks by scores, with such scores."""
    if to.module != "trec":
        if run.rank is not None and ((run.topic[1:] == run.topic[:-1]) & (run.rank[1:] < run.rank[:-1])).any():
            remarks.append(Remark("numbered again"))
            run = replace(run, rank=(_places_in_topic(run) + 1).astype(np.int32))
    elif run.score is None:
        remarks.append(Remark("no scores"))
    elif by_score_and_document(run.topic, run.score, pa.chunked_array([strings(run.document)])) is not None:
        if not lossy:
            what = "expected scores that agree with the ranking, as TREC runs are ranked by score alone"
            raise FormatError(what, at=run.file or None, remedy="lossy=True writes 1/rank in their place")
        remarks.append(_left_out("scores that contradict the ranking; 1/rank is written"))
        run = replace(run, score=None)
    return run


def convert_gold(
    gold: Gold, to: Format, index: Collection | None = None, *, lossy: bool = False
) -> tuple[Gold, tuple[Remark, ...]]:
    """Return the gold as `to` can say it, and remarks on what changed."""
    facets = gold_facets(gold)
    translated = {facet for facet in facets.keys() - to.says if _NEEDS_INDEX.get(facet) in to.says}
    wants_lengths = to.name == "inex-2008" and bool((gold.articles.length < 0).any())
    if translated and index is None:
        what = f"{to.name} cannot express {named(facets, translated)}"
        raise FormatError(what, at=gold.file or None, remedy="give docs= or index= to translate them")
    if index is not None and (translated or wants_lengths):
        gold = _translated(gold, to, index)
        wants_lengths = to.name == "inex-2008" and bool((gold.articles.length < 0).any())
        facets = gold_facets(gold)
    unsaid = facets.keys() - to.says
    if "sizes" in unsaid and index is not None and "spans" in to.says:
        facets["differing"] = differing_elements(gold, index)
        unsaid = (unsaid - {"sizes"}) | ({"differing"} if facets["differing"] else set())
    if unsaid - MINOR and not lossy:
        what = f"{to.name} cannot express {named(facets, unsaid - MINOR)}"
        raise FormatError(what, at=gold.file or None, remedy="lossy=True leaves them out")
    graded, spans = to.says & {"coverage", "grades"}, "spans" in to.says and "relevance" not in to.says
    what = ""  # where not even `lossy` leaves a judgement: elements cannot be made of spans, nor spans of grades
    if graded and not len(gold.elements.topic):
        what = "says graded elements, of which this gold has none"
    elif spans and (gold.articles.relevance > 0).any() and not len(gold.passages.topic):
        what = "says highlighted spans, of which this gold has none"
    elif graded and gold.scale not in to.says:
        what = f"cannot express the scale {gold.scale!r}"
    if what:
        raise FormatError(f"{to.name} {what}", remedy="choose another format")
    if wants_lengths:
        raise FormatError(f"{to.name} needs the documents' lengths", remedy="give docs= or index=")
    return _without(gold, to, unsaid), (_left_out(named(facets, unsaid)),) if unsaid else ()


def _translated(gold: Gold, to: Format, index: Collection) -> Gold:
    """Return the gold with spans for pointers or pointers for spans."""
    gold = place_gold(gold, index)
    if "pointers" in to.says:
        return with_elements(with_pointers(gold, index), index)
    unplaced = int(np.count_nonzero(gold.passages.start < 0))
    if unplaced:
        what = f"expected documents of the index, found {counted(unplaced, 'passage')} of others"
        raise FormatError(what, at=gold.file or None, remedy="give the index of the gold's collection")
    passages = replace(gold.passages, start_path=None, end_path=None)
    return replace(gold, passages=passages, articles=replace(gold.articles, bep_path=None))


def _without(gold: Gold, to: Format, unsaid: set[str]) -> Gold:
    """Return the gold without what the format cannot express, so that writing and reading it give it back."""
    articles, passages, elements = gold.articles, gold.passages, gold.elements
    if unsaid & _ELEMENTS or not to.says & _ELEMENTS:
        elements = table_of(GradedElements, [])
    if not to.says & {"spans", "pointers"}:
        passages = table_of(Passages, [])
    passages = passages if "quotes" not in unsaid else replace(passages, quote=None)
    passages = passages if "needs" not in unsaid else replace(passages, need=None)
    if not to.says & {"bep", "bep-path"}:
        articles = replace(articles, bep=np.full(len(articles.bep), UNKNOWN, np.int64), bep_path=None)
    scale = "trec" if to.name == "trec-qrels" else gold.scale
    return replace(gold, articles=articles, passages=passages, elements=elements, scale=scale)


def run_facets(run: Run) -> dict[str, int]:
    """Count what a run says; a place that is said twice (a path and its span) counts as the more telling one."""
    counts = {kind: int(number) for kind, number in zip(*np.unique(places(run), return_counts=True), strict=True)}
    header = len(header_fields(run))
    chunks = 0 if run.chunk is None else int(np.count_nonzero(run.chunk >= 0))
    return counts | {name: number for name, number in (("header", header), ("chunk", chunks)) if number}


def header_fields(run: Run) -> list[str]:
    """Name what the header of a run says, besides its id."""
    return [*(name for name in ("task", "participant") if getattr(run, name)), *run.attributes]


def places(run: Run) -> NDArray[np.str_]:
    """Return the kind of place of every result."""
    size = len(run)
    if run.path is None and run.start is None and run.text is None:
        return np.full(size, "document")
    start, end = column_of(run.start, size), column_of(run.end, size)
    path, last, text = (_valid(column, size) for column in (run.path, run.end_path, run.text))
    paths = [column for column in (run.path, run.end_path) if column is not None]
    pointer = np.any([is_pointer(strings(column)) for column in paths], axis=0) if paths else np.zeros(size, np.bool_)
    cases = [path & pointer, path & last, path, (start >= 0) & (end >= 0), start >= 0, text]
    return np.select(cases, ["passage", "range", "element", "span", "point", "text"], "unknown")


def gold_facets(gold: Gold) -> dict[str, int]:
    """Count what a gold says."""
    a, p, e = gold.articles, gold.passages, gold.elements
    pointers = _valid(p.start_path, len(p.topic))
    bep_path = _valid(a.bep_path, len(a.topic))
    highlighted = np.isin(a.relevance, (0, 1)) if gold.scale != "trec" else np.zeros(len(a.topic), np.bool_)
    scale = gold.scale if gold.scale in {"coverage", "grades"} else "sizes"
    extra = [set(facts) for facts in gold.attributes.values()]
    assessed = [pack(table.topic, table.document) for table in (a, e)]  # their elements give the document's length
    counts = {
        scale: len(e.topic),
        "pointers": int(pointers.sum()),
        "spans": int((~pointers).sum()),
        "quotes": int(_valid(p.quote, len(p.topic)).sum()),
        "needs": int(_valid(p.need, len(p.topic)).sum()),
        "bep": int(((a.bep >= 0) & ~bep_path).sum()),
        "bep-path": int(bep_path.sum()),
        "relevance": int((~highlighted).sum()),
        "lengths": int(((a.length >= 0) & ~np.isin(assessed[0], assessed[1])).sum()),
        "queries": 0 if any("inex_topic" in facts for facts in extra) else len(gold.queries),
        "topic": sum("inex_topic" in facts for facts in extra),
        "tags": sum("tags" in facts for facts in extra),
        "groups": sum(not facts.isdisjoint(FACTS) for facts in extra),
        "attributes": sum(bool(facts - {"inex_topic", "tags", *FACTS}) for facts in extra),
    }
    return {facet: count for facet, count in counts.items() if count}


def named(facets: dict[str, int], wanted: Container[str] | None = None) -> str:
    """Return facets, or those that are wanted, as a message names them.

    >>> named({"element": 12, "header": 1})
    '12 elements by path, 1 header field'
    """
    kept = {facet: number for facet, number in facets.items() if wanted is None or facet in wanted}
    one = {facet: re.sub(r"(ie)?s\b", lambda end: "y" if end[1] else "", WORDS[facet], count=1) for facet in kept}
    return ", ".join(f"{number} {(one if number == 1 else WORDS)[facet]}" for facet, number in kept.items())


def _valid(column: pa.Array | None, size: int) -> NDArray[np.bool_]:
    return np.zeros(size, np.bool_) if column is None else np.asarray(pc.is_valid(column))
