"""Finished judgements as gold: what `focuseval score` reads and what the exports write.

Imported assessors and language models are named in an exported gold, or in a file beside it if the format has no place
for names. Beside ``gold.jsonl`` that file is ``gold.jsonl.assessors.json``::

    {"gold": "gold.jsonl", "topics": {"101": "ann, model-x (imported)"}}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from focuseval.assessment.adjudication import counts_text, facts, merge_judgements, merged_counts, stale_decisions
from focuseval.assessment.agreement import finished
from focuseval.assessment.plan import IMPORTED, MODEL_PREFIX, labels
from focuseval.assessment.project import drafted_topics, open_project
from focuseval.assessment.rules import COVERAGE, EXHAUSTIVITY, HIGHLIGHTS, ON_ELEMENTS, PAIRS, SCALES, inferred
from focuseval.assessment.store import ADJUDICATED, Quote, Saved, Store
from focuseval.collection.index import Index
from focuseval.collection.rendering import Document, DocumentCache
from focuseval.data import highlights as spans
from focuseval.data.gold import ASSISTED, ORIGIN, TOO_SMALL, UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.remarks import Remark, remark_on, worded
from focuseval.errors import AssessError, counted
from focuseval.formats import find_format
from focuseval.formats.content import write_whole
from focuseval.formats.convert import write_gold
from focuseval.placing.anchor import REMEDY

EXPORTS = ("gold-jsonl", "inex-2002", "inex-2003", "inex-2005", "inex-2008", "trec-qrels")
"""The formats of `focuseval.formats` that finished judgements are written in."""
OF_SCALE = {COVERAGE: "inex-2002", PAIRS: "inex-2003", EXHAUSTIVITY: "inex-2005", HIGHLIGHTS: "gold-jsonl"}
"""The format that says all of a scale."""


@dataclass(frozen=True)
class Whose:
    """Whose judgements of a project are meant."""

    assessor: str | None = None
    adjudicated: bool = False
    merge: str | None = None
    imported: bool = False
    include: tuple[str, ...] = ()


def gold_of(
    saved: Sequence[Saved],
    quotes: Callable[[Saved], list[Quote]],
    store: Store,
    documents: DocumentCache | None,
    *,
    queries: Mapping[str, str] | None,
    facts: Mapping[str, Mapping[str, str]],
) -> Gold:
    """Return judgements as gold, with the topics' titles (`queries`) and what else is to be said of them (`facts`).

    `quotes` gives the highlights of a judgement with their text; the store says on which scale was judged. With
    documents the gold also holds the graded elements that INEX 2002–07 writes.
    """
    topic_codes = {topic: k for k, topic in enumerate(dict.fromkeys(one.key.topic for one in saved))}
    document_codes = {name: k for k, name in enumerate(dict.fromkeys(one.key.document for one in saved))}

    def codes(rows: Sequence[Saved]) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns of topics and documents of a sequence of judgements."""
        topic = np.array([topic_codes[one.key.topic] for one in rows], np.int32)
        return topic, np.array([document_codes[one.key.document] for one in rows], np.int32)

    marked = [(one, *quote) for one in saved for quote in quotes(one)]
    start, end = (np.array([row[k] for row in marked], np.int64) for k in (1, 2))
    texts = pa.array([row[3] for row in marked], pa.string())
    passages = Passages(*codes([row[0] for row in marked]), start, end, end - start, quote=texts)
    found = [one.judgement.found for one in saved]
    pages = [(one, documents.get(one.key.document)) for one in saved] if documents else []
    graded: list[tuple[Saved, str, int, int, int, int, bool]] = []
    small = 0  # elements that the filter of too small ones leaves out
    for number, (one, whole) in enumerate(pages):
        page, marks = store.offered(whole), one.judgement.highlights
        if store.scale in ON_ELEMENTS:
            left = whole.row_of.keys() - page.row_of.keys()
            given = {path: pair for path, pair in one.judgement.grades.items() if path not in left}
            none = {} if given or not page.elements else {page.elements[0].path: SCALES[store.scale][0]}
            found[number] = replace(one.judgement, grades=given).found
            small += len(one.judgement.grades) - len(given)
            for path, pair in {**none, **given}.items():  # what is not relevant is inferred to be so
                fit = "NLSE".find(pair[1]) if store.scale == COVERAGE else int(pair[1])
                graded.append((one, path, int(pair[0]), UNKNOWN, UNKNOWN, fit, path in none))
            continue
        if page is not whole:
            links = (element for element in whole.elements if element.path not in page.row_of)
            small += sum(bool(spans.intersect(marks, ((link.start, link.end),))) for link in links)
        grades = inferred(page, one.judgement.grades)  # of every element with highlighted text
        for element in page.elements:
            rsize = spans.size(spans.intersect(marks, ((element.start, element.end),)))
            if rsize:
                grade = {"2": 2, "1": 1, "?": TOO_SMALL}[grades.get(element.path, "2")]
                graded.append((one, element.path, grade, element.end - element.start, rsize, UNKNOWN, False))
    points = [one.judgement.entry_point for one in saved]
    articles = Articles(
        *codes(saved),
        relevance=np.array(found, np.int32),
        length=np.array([one.length for one in saved], np.int64),
        rsize=np.array([spans.size(one.judgement.highlights) for one in saved], np.int64),
        bep=np.array([UNKNOWN if point is None else point for point in points], np.int64),
    )
    elements = GradedElements(
        *codes([row[0] for row in graded]),
        path=pa.array([row[1] for row in graded], pa.string()).dictionary_encode(),
        exhaustivity=np.array([row[2] for row in graded], np.int8),
        specificity=np.array([row[5] for row in graded], np.int8),
        size=np.array([row[3] for row in graded], np.int64),
        rsize=np.array([row[4] for row in graded], np.int64),
        inferred=np.array([row[6] for row in graded], np.bool_) if store.scale in ON_ELEMENTS else None,
    )
    left_out = [worded(f"{counted(small, 'element is', 'elements are')} left out as too small: links")] if small else []
    # the same judgements are the same gold, whoever made them and when
    judged: list[Any] = [
        [*one.key[1:], one.judgement.highlights, one.judgement.entry_point, one.text_sha256] for one in saved
    ]
    if store.scale in ON_ELEMENTS:
        judged = [[*row, dict(one.judgement.grades)] for row, one in zip(judged, saved, strict=True)]
    if small:  # without what the filter leaves out it is another gold
        judged.append(["elements", "filtered"])
    return Gold(
        tuple(topic_codes),
        pa.array(list(document_codes), pa.string()),
        articles,
        passages,
        elements,
        scale=store.scale,
        sha256=hashlib.sha256(json.dumps(judged).encode()).hexdigest(),
        queries={topic: text for topic, text in (queries or {}).items() if topic in topic_codes},
        attributes=facts,
        remarks=tuple(left_out),
    )


def is_graded(store: Store) -> bool:
    """Whether a gold of the project needs its graded elements."""
    return bool(SCALES[store.scale])


def with_origins(
    store: Store, found: Mapping[str, Mapping[str, str]], assessor: str | None = None
) -> dict[str, dict[str, str]]:
    """Return what is said of topics, and also which were drafted, and whose judgement began with whose suggestions."""
    drafted = drafted_topics(store)
    rows = store.rows(
        "SELECT DISTINCT topic, json_extract(edit, '$.source.assisted') FROM events WHERE assessor != ''"
        " AND edit LIKE '%\"assisted\"%' AND (? IS NULL OR assessor = ?) ORDER BY 1, 2",
        (assessor, assessor),
    )
    said = {topic: {**own, **({ORIGIN: "draft"} if topic in drafted else {})} for topic, own in found.items()}
    for topic, model in rows:
        if model and topic in said:
            said[topic][ASSISTED] = ", ".join(filter(None, (said[topic].get(ASSISTED), model)))
    return said


def refuse_changed(saved: Sequence[Saved], index: Index) -> None:
    """Refuse judgements whose text is not the collection's: their spans would stand for other words."""
    names = list(dict.fromkeys(one.key.document for one in saved))
    rows = index.find(names)
    if (rows < 0).any():
        raise AssessError(f"the collection has no document {names[int((rows < 0).argmax())]!r}")
    texts = zip(names, index.texts(rows), strict=True)
    hashes = {name: Document(name, text.as_py()).sha256 for name, text in texts}
    others = [one for one in saved if one.text_sha256 != hashes[one.key.document]]
    changed = list(dict.fromkeys(one.key.document for one in others))
    if changed:
        who = others[0].key.assessor
        more = f" ({len(changed)} documents have)" if len(changed) > 1 else ""
        raise AssessError(f"the text of {changed[0]} has changed since {who} assessed it{more}; {REMEDY}")


def build_gold(
    store: Store,
    assessor: str,
    *,
    documents: DocumentCache | None = None,
    queries: Mapping[str, str] | None = None,
    index: Index | None = None,
) -> Gold:
    """Return the finished judgements of one assessor (or ``adjudicated``) as gold, as `gold_of` does."""
    known = labels(store)
    if assessor not in known and assessor != ADJUDICATED:
        raise AssessError(f"expected one of the assessors {', '.join(known) or '(none yet)'}, found {assessor!r}")
    saved = [one for one in store.judgements(assessor) if one.judgement.finished]
    if index is not None:
        refuse_changed(saved, index)
    named = {"assessor": known.get(assessor, ADJUDICATED)}
    whose = with_origins(store, {one.key.topic: named for one in saved}, assessor)
    gold = gold_of(saved, lambda one: store.quotes(one.key), store, documents, queries=queries, facts=whose)
    return replace(gold, remarks=(*gold.remarks, *(_stale(store) if assessor == ADJUDICATED else ())))


def _stale(store: Store) -> tuple[Remark, ...]:
    stale = stale_decisions(store)
    if not stale:
        return ()
    (topic, document), names = next(iter(stale.items()))
    older = f"{len(stale)} decisions are older than a judgement under them"
    first = f"{document} for topic {topic}, changed by {', '.join(names)}"
    return (worded(f"{older}, the first of {first}; adjudicate them again"),)


def whose_gold(
    store: Store, documents: DocumentCache, whose: Whose, *, queries: Mapping[str, str], graded: bool
) -> tuple[Gold, str]:
    """Return the gold that was asked for, of a merged one with counts of each kind in its remarks; and whose it is."""
    if whose.merge:
        if whose.adjudicated or (whose.assessor and whose.merge != "lead"):
            raise AssessError("expected --merge, or --assessor or --adjudicated, found both")
        lead, imported, include = whose.assessor, whose.imported, whose.include
        merged = merge_judgements(store, whose.merge, lead=lead, imported=imported, include=include)
        saved = [one.saved for one in merged.values() if one.saved is not None]
        if documents.index is not None:
            refuse_changed([side for one in merged.values() for side in one.of], documents.index)

        def quotes(one: Saved) -> list[Quote]:
            text = documents.get(one.key.document).text
            return [(start, end, text[start:end]) for start, end in one.judgement.highlights]

        known = with_origins(store, facts(merged, labels(store)))
        gold = gold_of(saved, quotes, store, documents if graded else None, queries=queries, facts=known)
        counts = merged_counts(gold)
        remarks = (*gold.remarks, *([worded(counts_text(counts))] if counts else []), *_stale(store))
        return replace(gold, remarks=remarks, merge=whose.merge), f"merged by {whose.merge}"
    name = chosen_assessor(store, whose)
    gold = build_gold(store, name, documents=documents if graded else None, queries=queries, index=documents.index)
    return gold, labels(store).get(name, name)


def chosen_assessor(store: Store, whose: Whose) -> str:
    """Return whose judgements are meant; unsaid is enough where only one has finished any and is no language model."""
    if whose.adjudicated and whose.assessor:
        raise AssessError("expected --assessor or --adjudicated, found both")
    if whose.adjudicated or whose.assessor:
        return whose.assessor or ADJUDICATED
    names = sorted(finished(store))
    people = [name for name in names if not name.startswith(MODEL_PREFIX)]
    if len(people) == 1:
        return people[0]
    if not names:
        raise AssessError("expected finished judgements, found none yet; finish a document with 'focuseval assess'")
    raise AssessError(f"expected an assessor among {', '.join(names)}; name one, or --adjudicated, or --merge them")


def project_gold(
    path: str | Path,
    *,
    assessor: str | None = None,
    adjudicated: bool = False,
    merge: str | None = None,
    imported: bool = False,
    include: Collection[str] = (),
    index: Index | None = None,
) -> Gold:
    """Return the finished judgements of a project's folder as gold.

    Parameters
    ----------
    path
        The project.
    assessor, adjudicated
        Whose judgements; neither is needed when only one person has finished any. A language model must be named.
    merge, imported, include
        ``lead``, ``majority``, ``union`` or ``intersection``: one gold from everyone's judgements, by that rule where
        several judged a document and nothing was decided; imported assessors take part when asked, language models
        when they are named in `include`.
    index
        The collection, if it is not where the project knows it.
    """
    whose = Whose(assessor, adjudicated=adjudicated, merge=merge, imported=imported, include=tuple(include))
    return read_project(path, whose, index=index)[0]


def read_project(
    path: str | Path, whose: Whose, *, index: Index | None = None, graded: bool = False
) -> tuple[Gold, Index]:
    """Return a project's finished judgements, as `project_gold` does, and the collection that they speak of."""
    with closing(open_project(path, index=index)) as project, project.store.database.translated("nothing was read"):
        graded = graded or is_graded(project.store)
        gold, name = whose_gold(project.store, project.documents, whose, queries=project.queries, graded=graded)
        if not gold.topics:
            raise AssessError(f"{path}: expected finished judgements of {name}, found none yet")
        return replace(gold, file=f"{path} ({name})"), project.documents.index


def export_gold(
    store: Store, documents: DocumentCache, target: Path, wanted: str, *, whose: Whose, queries: Mapping[str, str]
) -> tuple[Remark, ...]:
    """Write judgements in a gold format, whole or not at all; return the counts, and what the format could not say."""
    gold, name = whose_gold(store, documents, whose, queries=queries, graded=wanted == "inex-2005" or is_graded(store))
    if not gold.topics:
        raise AssessError(f"expected finished judgements of {name}, found none yet")
    return (*gold.remarks, *write_judged(gold, target, wanted, documents.index, lossy=True))


def write_judged(
    gold: Gold, target: str | Path, wanted: str, index: Index | None, *, lossy: bool = False
) -> tuple[Remark, ...]:
    """Write a project's gold; models and imported assessors whom it cannot name are named beside it; return remarks."""
    # What the format cannot say is a remark on the format; the others name no file.
    remarks = [remark_on(wanted, line) for line in write_gold(gold, target, wanted, index, lossy=lossy)]
    whose = {topic: facts["assessor"] for topic, facts in gold.attributes.items() if "assessor" in facts}
    named = {name for names in whose.values() for name in names.split(", ")}
    imported = sorted(name for name in named if f"({IMPORTED})" in name or name.startswith(MODEL_PREFIX))
    remarks += [worded(f"these are the judgements of {name}") for name in imported]
    if str(target) == "-" or "attributes" in find_format(wanted, "gold").says:
        return tuple(remarks)
    side = Path(f"{target}.assessors.json")
    if imported:
        names = {"gold": Path(target).name, "topics": whose}
        write_whole(side, [json.dumps(names, ensure_ascii=False, indent=1).encode(), b"\n"])
        remarks.append(worded(f"{wanted} cannot name assessors: {side} does"))
    else:
        side.unlink(missing_ok=True)
    return tuple(remarks)
