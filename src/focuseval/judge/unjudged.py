"""What a model still has to judge, as requests; and what asking them would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from focuseval.assess.plan import pool
from focuseval.assess.store import Key
from focuseval.judge.exchanges import WindowRequest, kept_reply, window_request
from focuseval.judge.windows import windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.assess.document import Document
    from focuseval.assess.project import Project
    from focuseval.judge.prompt import Prompt
    from focuseval.judge.settings import ModelSettings
    from focuseval.topics import Topic

PER_TOKEN = 4
"""Characters of a token, roughly, of English text."""


class Unjudged(NamedTuple):
    """A pooled document that the model has not judged yet, and the requests that would judge it."""

    key: Key
    document: Document
    asked: tuple[WindowRequest, ...]


def unjudged(
    project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None
) -> tuple[list[Unjudged], int]:
    """Return the pooled documents that the model has not judged, and the number of those that it has."""
    label = settings.label(prompt.hash(settings.window))
    topics = {topic.id: topic for topic in project.topics}
    todo, known = list[Unjudged](), 0
    for row in pool(project.store):
        if row.topic not in topics:
            continue
        key, page = Key(label, row.topic, row.document), project.documents.plain(row.document)
        saved = project.store.judgement(key)
        if saved.judgement.finished and saved.text_sha256 == page.sha256:
            known += 1
        elif limit is None or len(todo) < limit:
            todo.append(Unjudged(key, page, _requests(key, page.text, topics[row.topic], settings, prompt)))
    return todo, known


def _requests(key: Key, text: str, topic: Topic, settings: ModelSettings, prompt: Prompt) -> tuple[WindowRequest, ...]:
    """Return a request for every window of a document; none for one without text."""
    asking = [(span, prompt.messages(topic, text[slice(*span)])) for span in windows(text, settings.window)]
    return tuple(window_request(key, span, settings.model, said, settings.max_tokens) for span, said in asking)


def estimate(project: Project, todo: Sequence[Unjudged], settings: ModelSettings) -> str:
    """Return in a sentence what the requests that have no answer yet would cost."""
    fresh = [one for row in todo for one in row.asked if kept_reply(project.store, one) is None]
    characters = sum(len(message["content"]) for one in fresh for message in one.body["messages"])
    most = len(fresh) * settings.max_tokens
    return (
        f"{len(todo):,} documents, {len(fresh):,} requests, {characters:,} characters: about "
        f"{characters // PER_TOKEN:,} tokens asked, at most {most:,} answered"
    )


def prompts(todo: Sequence[Unjudged]) -> Iterator[str]:
    """Yield the texts of all requests as people read them; the rules, which are the same in all, once."""
    for number, (key, _, requests) in enumerate(todo):
        for one in requests:
            rules, question = (message["content"] for message in one.body["messages"])
            if not number and one is requests[0]:
                yield f"=== rules of every request\n{rules}\n"
            yield f"=== topic {key.topic}, document {key.document}, characters {one.start}–{one.end}\n{question}\n"
