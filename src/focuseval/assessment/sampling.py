"""People and a model in a project: a random sample of topics for people, and what a model suggests to them.

Topics that people happened to like are no sample of all. So topics are drawn by a seed and judged in a random order,
and what counts is the longest finished beginning of that order, whatever else is finished.

Who sees a model's highlights before judging is no longer independent of it. Every edit of a document for which there
were suggestions says so, and a gold with such judgements is `assisted` by that model.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace

from focuseval.assessment.golds import Whose, build_gold, is_graded, whose_gold
from focuseval.assessment.plan import MODEL, Unit, assessors, people, pool, record, sampled_topics
from focuseval.assessment.project import Project
from focuseval.assessment.rules import FINISHED
from focuseval.assessment.stability import judged_units, only_topics
from focuseval.assessment.store import ADJUDICATED, Key, Store
from focuseval.collection.rendering import Document, DocumentCache
from focuseval.data.gold import Gold
from focuseval.data.highlights import Spans
from focuseval.errors import AssessError, counted


def draw_sample(store: Store, topics: Collection[str], number: int, *, seed: int, actor: str) -> tuple[str, ...]:
    """Draw topics until the sample has so many, behind those that were drawn before; return all of it, in its order.

    Equal seeds give equal orders, at once or in several steps.
    """
    before = sampled_topics(store)
    pooled = sorted({row.topic for row in pool(store)} & set(topics))
    if number < len(before):
        raise AssessError(f"expected {len(before)} topics or more, which are drawn already, found {number}")
    if number > len(pooled):
        raise AssessError(f"expected at most the {counted(len(pooled), 'pooled topic')}, found {number}")
    random.Random(seed).shuffle(pooled)  # noqa: S311  a sample that others can draw again
    fresh = [topic for topic in pooled if topic not in set(before)][: number - len(before)]
    if fresh:
        record(store, {"kind": "sample", "seed": seed, "topics": fresh}, actor=actor)
    return (*before, *fresh)


@dataclass(frozen=True)
class SampleState:
    """How far people are with their sample."""

    order: tuple[str, ...]
    left: tuple[int, ...]  # pooled documents of every topic that nobody has finished

    @property
    def finished(self) -> tuple[str, ...]:
        """The longest finished beginning of the order."""
        number = next((place for place, left in enumerate(self.left) if left), len(self.left))
        return self.order[:number]

    @property
    def waiting(self) -> int:
        """Finished topics behind one that is not."""
        return self.left.count(0) - len(self.finished)


def sample_state(store: Store, judged: Collection[Unit] | None = None) -> SampleState:
    """Return how far a sample is, by the documents that are judged: if not said, by any person."""
    if judged is None:
        names = set(people(store))
        rows = store.rows("SELECT assessor, topic, document FROM judgements WHERE status IN (?, ?)", FINISHED)
        judged = {(topic, document) for assessor, topic, document in rows if assessor in names}
    order = sampled_topics(store)
    left = dict.fromkeys(order, 0)
    for row in pool(store):
        if row.topic in left and row[:2] not in judged:
            left[row.topic] += 1
    return SampleState(order, tuple(left.values()))


@dataclass(frozen=True)
class SampledGolds:
    """People's sample and a model's gold of all topics, both of one project."""

    people: Gold
    model: Gold
    sample: tuple[str, ...] | None
    """The finished beginning of people's sample; None where none was drawn and all that they finished was declared."""
    remarks: tuple[str, ...]


def model_named(store: Store, name: str) -> str:
    """Return the assessor that ``--model`` means: its whole name, or what stands before the ``@``, if one has it."""
    others = [one.name for one in assessors(store) if one.origin == MODEL]
    found = [one for one in others if name in (one, one.removeprefix("model:"))]
    found = found or [one for one in others if name in (part := one.rpartition("@")[0], part.removeprefix("model:"))]
    if len(found) != 1:
        known = ", ".join(found or others) or "none; let one judge with 'focuseval judge'"
        raise AssessError(f"expected a model of the project, found {name!r}; there are {known}")
    return found[0]


def suggester(store: Store) -> str:
    """Return the model whose highlights assessors see as suggestions; '' where they see none, as by default."""
    chosen = store.project_events("suggest")
    return str(chosen[-1][1]["by"]) if chosen else ""


def suggest_by(store: Store, name: str, *, actor: str) -> None:
    """Show a model's highlights to assessors as suggestions, or with ``none`` no longer."""
    found = "" if name == "none" else model_named(store, name)
    if found != suggester(store):
        record(store, {"kind": "suggest", "by": found}, actor=actor)


def suggestions(store: Store, key: Key, document: Document) -> tuple[str, Spans] | None:
    """Return who suggests what to the assessor of a document; None where nobody does.

    A model that finished the document and found nothing suggests that nothing is relevant, which is a suggestion, too.
    """
    name = suggester(store)
    if not name or key.assessor in (name, ADJUDICATED):
        return None
    saved = store.judgement(Key(name, key.topic, key.document))
    if not saved.judgement.finished or saved.text_sha256 != document.sha256:
        return None
    return name, saved.judgement.highlights


def sampled_golds(project: Project, whose: Whose, model: str, *, declared: bool = False) -> SampledGolds:
    """Return what `estimate` needs of a project: people's gold, cut at the first topic that is not finished, and all.

    Where no sample was drawn, all finished topics are taken if they are `declared` to be a random sample.
    """
    store, documents = project.store, project.documents
    name = model_named(store, model)
    people_gold, who = whose_gold(store, documents, whose, queries=project.queries, graded=is_graded(store))
    judged = judged_units(people_gold)
    model_gold, missing = _whole(store, documents, name)
    remarks = [remark.sentence for remark in people_gold.remarks]
    people_gold = replace(people_gold, remarks=())  # or they would be said twice
    if missing:
        lacking = f"{name} has not finished {counted(missing, 'topic')}"
        remarks.append(f"{lacking}, which {'is' if missing == 1 else 'are'} left out; 'focuseval judge' goes on")
    state = sample_state(store, judged)
    if not state.order:
        if not declared:
            remedy = "draw one with 'focuseval project sample', or declare that what is finished is one with --random"
            raise AssessError(f"{project.folder}: expected a sample of topics for people, found none; {remedy}")
        done = {row.topic for row in pool(store)} - {row.topic for row in pool(store) if row[:2] not in judged}
        kept = {unit for unit in judged if unit[0] in done}
        return SampledGolds(only_topics(people_gold, kept), model_gold, None, tuple(remarks))
    if not state.finished:
        how = f"finished, {who}" if whose.merge else f"finished by {who}"
        what = f"expected the sample's first topic, {state.order[0]}, {how}"
        left = counted(state.left[0], "document")
        behind = f"; {state.waiting} finished behind it {'waits' if state.waiting == 1 else 'wait'}"
        raise AssessError(f"{project.folder}: {what}, found {left} to do{behind if state.waiting else ''}")
    if len(state.finished) < len(state.order):
        upcoming = len(state.finished)
        are = "is" if upcoming == 1 else "are"
        said = f"{upcoming} of {len(state.order)} sampled topics {are} finished in their order"
        left = counted(state.left[upcoming], "document")
        wait = f"{state.waiting} more {'waits' if state.waiting == 1 else 'wait'}"
        remarks.append(f"{said}, and {wait} behind topic {state.order[upcoming]}, which has {left} to do")
    if undrawn := [unit for unit in judged if unit[0] not in set(state.order)]:
        topics = counted(len({topic for topic, _ in undrawn}), "topic")
        remarks.append(f"left out: {counted(len(undrawn), 'judgement')} of {topics} not drawn at random")
    kept = {unit for unit in judged if unit[0] in set(state.finished)}
    return SampledGolds(only_topics(people_gold, kept), model_gold, state.finished, tuple(remarks))


def _whole(store: Store, documents: DocumentCache, name: str) -> tuple[Gold, int]:
    """Return a model's gold of the topics whose pooled documents it has all judged, and how many others there are."""
    gold = build_gold(store, name, documents=documents if is_graded(store) else None, index=documents.index)
    judged, pooled = judged_units(gold), pool(store)
    behind = {row.topic for row in pooled if row[:2] not in judged}
    kept = {unit for unit in judged if unit[0] not in behind}
    if not kept:
        raise AssessError(f"expected a topic that {name} has finished, found none; 'focuseval judge' goes on")
    return only_topics(gold, kept), len(behind)
