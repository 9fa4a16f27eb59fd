"""What a model still has to judge, as requests; and what asking them would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from focuseval.assessment.models.exchanges import kept_reply, window_request
from focuseval.assessment.models.windows import windows
from focuseval.assessment.plan import pool
from focuseval.assessment.store import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.assessment.models.exchanges import WindowRequest
    from focuseval.assessment.models.prompt import Prompt
    from focuseval.assessment.models.settings import ModelSettings
    from focuseval.assessment.project import Project
    from focuseval.collection.rendering import Document
    from focuseval.data.topics import Topic

PER_TOKEN = 4
"""Characters of a token, roughly, of English text."""


class Unjudged(NamedTuple):
    """A pooled document that the model has not judged yet."""

    key: Key
    topic: Topic


class Questions(NamedTuple):
    """A document with the requests that judge it, one for each window; none for a document without text."""

    document: Document
    requests: tuple[WindowRequest, ...]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The windows."""
        return [(one.start, one.end) for one in self.requests]


def unjudged(
    project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None
) -> tuple[list[Unjudged], int]:
    """Return the pooled documents that the model has not judged, `limit` at most, and how many it has judged."""
    label = settings.label(prompt.hash(settings.window))
    topics = {topic.id: topic for topic in project.topics}
    pooled = [row for row in pool(project.store) if row.topic in topics]
    rows = [Unjudged(Key(label, row.topic, row.document), topics[row.topic]) for row in pooled]
    todo = [row for row in rows if not _is_judged(project, row.key)]
    return todo[:limit], len(rows) - len(todo)


def _is_judged(project: Project, key: Key) -> bool:
    """Whether there is a judgement of the text as it is now."""
    saved = project.store.judgement(key)
    return saved.judgement.finished and saved.text_sha256 == project.documents.plain(key.document).sha256


def questions(project: Project, one: Unjudged, settings: ModelSettings, prompt: Prompt) -> Questions:
    """Return what has to be asked to judge a document."""
    page = project.documents.plain(one.key.document)
    parts = [(span, page.text[slice(*span)]) for span in windows(page.text, settings.window)]
    made = (
        window_request(one.key, span, settings.model, prompt.messages(one.topic, text), settings.max_tokens)
        for span, text in parts
    )
    return Questions(page, tuple(made))


def rehearse(project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None) -> Iterator[str]:
    """Yield the texts of all requests as people read them, the rules that are the same in all once, and an estimate."""
    todo, _ = unjudged(project, settings, prompt, limit)
    fresh, characters, rules = 0, 0, ""
    for one in todo:
        for request in questions(project, one, settings, prompt).requests:
            said = [message["content"] for message in request.body["messages"]]
            if said[0] != rules:
                rules = said[0]
                yield f"=== rules of every request\n{rules}\n"
            place = f"topic {one.key.topic}, document {one.key.document}, characters {request.start}–{request.end}"
            yield f"=== {place}\n{said[1]}\n"
            if kept_reply(project.store, request) is None:
                fresh, characters = fresh + 1, characters + sum(map(len, said))
    yield (
        f"=== {len(todo):,} documents, {fresh:,} requests, {characters:,} characters: about "
        f"{characters // PER_TOKEN:,} tokens asked, at most {fresh * settings.max_tokens:,} answered"
    )
