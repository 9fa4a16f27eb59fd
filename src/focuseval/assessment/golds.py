"""Finished judgements as gold: what `focuseval score` reads and what the exports write."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from focuseval.assessment.adjudicate import stale_decisions
from focuseval.assessment.agreement import finished
from focuseval.assessment.gold_tables import gold_of, refuse_changed
from focuseval.assessment.merge import counts_text, facts, merge_judgements, merged_counts
from focuseval.assessment.plan import MODEL_PREFIX, assessors
from focuseval.assessment.project import open_project
from focuseval.assessment.store import ADJUDICATED
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from focuseval.assessment.store import Quote, Saved, Store
    from focuseval.collection.index import Index
    from focuseval.collection.rendering import DocumentCache
    from focuseval.data.gold import Gold


def build_gold(
    store: Store,
    assessor: str,
    *,
    documents: DocumentCache | None = None,
    queries: Mapping[str, str] | None = None,
    index: Index | None = None,
) -> Gold:
    """Return the finished judgements of one assessor (or ``adjudicated``) as gold.

    Parameters
    ----------
    store, assessor
        Whose judgements; a name nobody has is refused.
    documents
        With them the gold also holds the graded elements that INEX 2005–07 writes.
    queries
        Topic → its title.
    index
        With it judgements of another text than the collection's are refused.
    """
    known = {one.name: one.label for one in assessors(store)}
    if assessor not in known and assessor != ADJUDICATED:
        raise AssessError(f"expected one of the assessors {', '.join(known) or '(none yet)'}, found {assessor!r}")
    saved = [one for one in store.judgements(assessor) if one.judgement.finished]
    if index is not None:
        refuse_changed(saved, index)
    said = {one.key.topic: {"assessor": known.get(assessor, ADJUDICATED)} for one in saved}
    remarks = _stale(store) if assessor == ADJUDICATED else ()
    return replace(
        gold_of(saved, lambda one: store.quotes(one.key), store, documents, queries=queries, facts=said),
        remarks=remarks,
    )


def build_merged(
    store: Store,
    rule: str,
    documents: DocumentCache,
    *,
    lead: str | None = None,
    imported: bool = False,
    include: Collection[str] = (),
    graded: bool = False,
    queries: Mapping[str, str] | None = None,
) -> Gold:
    """Return one gold from the finished judgements of everyone; see `focuseval.assessment.merge`.

    The counts of each kind are among its remarks, and in its attributes topic by topic.
    """
    merged = merge_judgements(store, rule, lead=lead, imported=imported, include=include)
    saved = [one.saved for one in merged.values() if one.saved is not None]
    if documents.index is not None:
        refuse_changed([side for one in merged.values() for side in one.of], documents.index)
    labels = {one.name: one.label for one in assessors(store)}

    def quotes(one: Saved) -> list[Quote]:
        text = documents.get(one.key.document).text
        return [(start, end, text[start:end]) for start, end in one.judgement.highlights]

    gold = gold_of(saved, quotes, store, documents if graded else None, queries=queries, facts=facts(merged, labels))
    counts = merged_counts(gold)
    return replace(gold, remarks=(*([counts_text(counts)] if counts else []), *_stale(store)))


def _stale(store: Store) -> tuple[str, ...]:
    stale = stale_decisions(store)
    if not stale:
        return ()
    (topic, document), names = next(iter(stale.items()))
    first = f"{document} for topic {topic}, changed by {', '.join(names)}"
    return (
        f"{len(stale)} decisions are older than a judgement under them, the first of {first}; adjudicate them again",
    )


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
    """Return a project's finished judgements, as `project_gold` does, and the collection that they speak of.

    With `graded` every element with highlighted text is in the gold, as INEX 2005–07 has it; in 2005 mode it always is.
    """
    with closing(open_project(path, index=index)) as project, project.store.database.translated("nothing was read"):
        graded = graded or project.store.exhaustivity
        gold, name = whose_gold(project.store, project.documents, whose, queries=project.queries, graded=graded)
        if not gold.topics:
            raise AssessError(f"{path}: expected finished judgements of {name}, found none yet")
        return replace(gold, file=f"{path} ({name})"), project.documents.index


@dataclass(frozen=True)
class Whose:
    """Whose judgements of a project are meant."""

    assessor: str | None = None
    adjudicated: bool = False
    merge: str | None = None
    imported: bool = False
    include: tuple[str, ...] = ()


def whose_gold(
    store: Store, documents: DocumentCache, whose: Whose, *, queries: Mapping[str, str], graded: bool
) -> tuple[Gold, str]:
    """Return the gold that was asked for, and in a word whose it is."""
    if whose.merge:
        if whose.adjudicated or (whose.assessor and whose.merge != "lead"):
            raise AssessError("expected --merge, or --assessor or --adjudicated, found both")
        gold = build_merged(
            store,
            whose.merge,
            documents,
            lead=whose.assessor,
            imported=whose.imported,
            include=whose.include,
            graded=graded,
            queries=queries,
        )
        return gold, f"merged by {whose.merge}"
    name = chosen_assessor(store, whose.assessor, adjudicated=whose.adjudicated)
    gold = build_gold(store, name, documents=documents if graded else None, queries=queries, index=documents.index)
    return gold, {one.name: one.label for one in assessors(store)}.get(name, name)


def chosen_assessor(store: Store, assessor: str | None, *, adjudicated: bool) -> str:
    """Return whose judgements are meant; unsaid is enough where only one has finished any and is no language model."""
    if adjudicated and assessor:
        raise AssessError("expected --assessor or --adjudicated, found both")
    if adjudicated or assessor:
        return assessor or ADJUDICATED
    names = sorted(finished(store))
    people = [name for name in names if not name.startswith(MODEL_PREFIX)]
    if len(people) == 1:
        return people[0]
    if not names:
        raise AssessError("expected finished judgements, found none yet; finish a document with 'focuseval assess'")
    raise AssessError(f"expected an assessor among {', '.join(names)}; name one, or --adjudicated, or --merge them")
