"""A project's pooled documents judged by a language model: one more assessor, labelled, its quotes verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from typing import Any

from focuseval.assessment.models import prompt as prompts
from focuseval.assessment.models.client import Asker, ModelSettings, WindowRequest, kept_reply, window_request
from focuseval.assessment.models.prompt import COUNTED, Prompt
from focuseval.assessment.plan import MODEL, Assessor, pool, register
from focuseval.assessment.project import Project
from focuseval.assessment.rules import ON_ELEMENTS, as_dict
from focuseval.assessment.store import Key, Store
from focuseval.collection.rendering import Document
from focuseval.data.topics import Topic
from focuseval.engine.http import Client
from focuseval.errors import AssessError, ModelError, UnansweredError, counted

Requests = tuple[WindowRequest, ...]
Answers = tuple[prompts.ModelAnswer, ...]
IN_A_ROW = 3  # so many documents, or requests for drafts, in a row without an answer end the work
WORDS = {"approximate": "repaired", "lost": "not in the text"}  # how quotes are counted, as people read it


def unjudged(
    project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None
) -> tuple[list[tuple[Key, Topic]], int]:
    """Return the pooled documents that the model has not judged, `limit` at most, and how many it has judged."""
    if project.store.scale in ON_ELEMENTS:
        raise AssessError(f"{project.folder}: a model quotes text, and this project grades elements; begin another")
    label = label_of(settings, prompt)
    topics = {topic.id: topic for topic in project.topics}
    pooled = [row for row in pool(project.store) if row.topic in topics]
    todo = []
    for row in pooled:
        saved = project.store.judgement(Key(label, row.topic, row.document))
        if not saved.judgement.finished or saved.text_sha256 != project.documents.plain(row.document).sha256:
            todo.append((saved.key, topics[row.topic]))  # there is no judgement of the text as it is now
    return todo[:limit], len(pooled) - len(todo)


def label_of(settings: ModelSettings, prompt: Prompt) -> str:
    """Return the assessor's name, whose hash stands for everything that shapes a question."""
    return settings.label(prompt.hash(settings.window, settings.exclude_tags, settings.sections))


def questions(page: Document, key: Key, topic: Topic, settings: ModelSettings, prompt: Prompt) -> Requests:
    """Return the requests that judge a document, one for each window; none for a document without text."""
    text, kept = page.text, prompts.kept_spans(page, settings.exclude_tags, settings.sections)
    parts = (
        (start + a, start + b) for start, end in kept for a, b in prompts.windows(text[start:end], settings.window)
    )
    return tuple(window_request(key, one, settings, prompt.messages(topic, text[slice(*one)])) for one in parts)


def rehearse(project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None) -> Iterator[str]:
    """Yield the texts of all requests as people read them, the rules that are the same in all once, and an estimate."""
    todo, _ = unjudged(project, settings, prompt, limit)
    fresh, characters, rules = 0, 0, ""
    for key, topic in todo:
        for request in questions(_page(project, key, settings), key, topic, settings, prompt):
            texts = [message["content"] for message in request.body["messages"]]
            if texts[0] != rules:
                rules = texts[0]
                yield f"=== rules of every request\n{rules}\n"
            place = f"topic {key.topic}, document {key.document}, characters {request.start}–{request.end}"
            yield f"=== {place}\n{texts[1]}\n"
            if kept_reply(project.store, request) is None:
                fresh, characters = fresh + 1, characters + sum(map(len, texts))
    yield (
        f"=== {len(todo):,} documents, {fresh:,} requests, {characters:,} characters: about "
        f"{characters // 4:,} tokens asked, at most {fresh * settings.max_tokens:,} answered"
    )


def _page(project: Project, key: Key, settings: ModelSettings) -> Document:
    """Return a document, with its elements where tags say what is asked about."""
    documents, tagged = project.documents, settings.exclude_tags or settings.sections
    return documents.get(key.document) if tagged else documents.plain(key.document)


@dataclass(frozen=True)
class ModelJudged:
    """What came of asking a model."""

    assessor: str
    known: int
    """Documents that this assessor had judged before."""
    documents: int = 0
    relevant: int = 0
    quotes: tuple[int, ...] = (0,) * len(COUNTED)
    """How many quotes were found in each way of `COUNTED`."""
    requests: int = 0
    tokens: tuple[int, int] = (0, 0)
    """Tokens of all requests and of all answers, as the server counts them."""
    failed: tuple[str, ...] = ()
    """Documents without a judgement, and why, a line each."""
    addressed: tuple[str, ...] = ()
    """Documents with text that speaks to a model, a line each."""

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**asdict(self), "quotes": dict(zip(COUNTED, self.quotes, strict=True))}

    def lines(self) -> list[str]:
        """Return what was done, for the terminal."""
        total = sum(self.quotes)
        ways = [f"{n:,} {WORDS.get(name, name)}" for name, n in zip(COUNTED, self.quotes, strict=True)]
        share = f" ({self.quotes[COUNTED.index('lost')] / total:.1%})" if total else ""
        judged = f"{self.documents:,} documents judged, {self.relevant:,} of them relevant"
        return [
            f"{self.assessor}: {judged}; {self.known:,} known already",
            f"{counted(total, 'quote')}: {', '.join(ways)}{share}",
            f"{counted(self.requests, 'request')}; {self.tokens[0]:,} tokens asked, {self.tokens[1]:,} answered",
        ]


def judge_project(
    project: Project,
    settings: ModelSettings,
    prompt: Prompt,
    *,
    actor: str = "focuseval",
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ModelJudged:
    """Ask a model for the relevant passages of every pooled document, and store them as an assessor's judgements.

    Parameters
    ----------
    project, settings, prompt
        What is judged, by whom, and how it is asked. Documents that this model has judged under this prompt are left
        as they are, and questions that were answered are not asked again.
    actor
        Whose name stands in the log for it.
    limit
        Most documents to judge this time.
    progress
        Called with the number of documents that are done, and with that of all.

    Raises
    ------
    ModelError
        Where the server answers nothing: the key is refused, the model unknown, the address wrong. What was answered
        before is kept.
    """
    todo, known = unjudged(project, settings, prompt, limit)
    label = label_of(settings, prompt)
    asker = Asker(settings, project.store, prompts.read_answer, prompts.SCHEMA)
    client = asker.client
    register(project.store, Assessor(label, MODEL, f"{settings.model} at {client.endpoint}"), actor=actor)
    placed, failed, spoken, in_a_row, tokens = list[prompts.PlacedAnswer](), list[str](), list[str](), 0, (0, 0)

    def ask(key: Key, topic: Topic) -> tuple[Document, Requests, Answers, str]:
        """Return a document, what was asked of it, the answers, and else why there are none."""
        page = _page(project, key, settings)
        requests = questions(page, key, topic, settings, prompt)
        try:
            return page, requests, tuple(map(asker.ask, requests)), ""
        except UnansweredError as error:
            return page, requests, (), str(error)
        except ModelError:
            client.stop()  # before the next document is asked for in vain
            raise

    with ThreadPoolExecutor(settings.jobs) as threads:
        futures = {threads.submit(ask, key, topic): key for key, topic in todo}
        try:
            for number, future in enumerate(as_completed(futures), 1):
                key, (page, asked, answers, problem) = futures.pop(future), future.result()  # it holds the text
                in_a_row = in_a_row + 1 if problem else 0
                if in_a_row == IN_A_ROW:
                    raise ModelError(f"{client.endpoint}: {IN_A_ROW} documents in a row have no answer; {problem}")
                if problem:
                    failed.append(f"topic {key.topic}, {key.document}: {problem}")
                else:
                    placed.append(_store(project.store, key, page, asked, answers, client=client, actor=actor))
                    spoken += [f"topic {key.topic}, {key.document}"] if placed[-1].judgement.flagged else []
                    asked_for, answered = (sum(one.tokens[side] for one in answers) for side in (0, 1))
                    tokens = (tokens[0] + asked_for, tokens[1] + answered)
                if progress is not None:
                    progress(number, len(todo))
        finally:  # with Ctrl-C too: requests under way are broken off, and what was answered has been kept
            client.stop()
            threads.shutdown(wait=True, cancel_futures=True)
    relevant = sum(bool(one.judgement.highlights) for one in placed)
    quotes = tuple(map(sum, zip(*(one.quotes for one in placed), strict=True))) or (0,) * len(COUNTED)
    counts = (len(placed), relevant, quotes, asker.requests, tokens)
    return ModelJudged(label, known, *counts, tuple(failed), tuple(spoken))


def _store(
    store: Store, key: Key, page: Document, asked: Requests, answers: Answers, *, client: Client, actor: str
) -> prompts.PlacedAnswer:
    """Write the judgement of one document with a note for people, flagged where the document speaks to a model."""
    spans = [(one.start, one.end) for one in asked]
    placed, warning = prompts.place_answers(page.text, zip(spans, answers, strict=True)), prompts.addressed(page.text)
    lines = [f"the document speaks to a model: “{warning}”"] if warning else []
    lines += [f"not in the text, or in several places: “{quote[:80]}”" for quote in placed.unplaced]
    note = client.scrubbed("\n".join(lines))
    judgement = replace(placed.judgement, flagged=bool(warning), note=note)
    quotes = dict(zip(COUNTED, placed.quotes, strict=True))
    source = {"quotes": quotes, "entry": placed.entry, "addressed": warning}
    edit = {"kind": "replace", "judgement": as_dict(judgement), "source": source, "barrier": True}
    version = store.judgement(key).version
    named = json.dumps([*key, version, [one.digest for one in asked]])
    token = f"judge-{hashlib.sha256(named.encode()).hexdigest()[:40]}"
    store.edit(key, page, edit, version=version, token=token, actor=actor)
    return replace(placed, judgement=judgement)
