"""A question until it is answered: retries with growing pauses, and servers that refuse a parameter.

Every request to a model and every reply is in the project's database: what was asked is never paid for twice.
"""

from __future__ import annotations

import hashlib
import json
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.assessment.models.answers import ModelAnswer, complaint, read_answer
from focuseval.assessment.models.prompt import SCHEMA
from focuseval.assessment.store import Key, Store, now
from focuseval.errors import AnswerError, ModelError, UnansweredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.assessment.models.client import Client, Reply


class WindowRequest(NamedTuple):
    """One window of a document, as one request."""

    key: Key
    start: int
    end: int
    digest: str
    """Stands for model, messages and the longest answer: the same question has the same digest."""
    body: dict[str, Any]


def window_request(
    key: Key, span: tuple[int, int], model: str, messages: Sequence[dict[str, str]], max_tokens: int
) -> WindowRequest:
    """Return a window as a request."""
    body = {"model": model, "messages": list(messages), "max_tokens": max_tokens, "temperature": 0}
    digest = hashlib.sha256(json.dumps(body).encode("ascii")).hexdigest()
    return WindowRequest(key, *span, digest, body)


def kept_reply(store: Store, one: WindowRequest) -> str | None:
    """Return the answer that the same question got before; None where it got none."""
    rows = store.database.read().execute(
        "SELECT reply FROM model_exchanges WHERE assessor = ? AND topic = ? AND document = ? AND digest = ?"
        " AND problem = '' ORDER BY id DESC LIMIT 1",
        (*one.key, one.digest),
    )
    return next((str(reply) for (reply,) in rows.fetchall()), None)


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 120.0
"""Seconds before the second try, doubled for each one after it; what a server asks for is obeyed up to the longest."""
AGAIN = frozenset((0, 408, 409, 425, 429))
USELESS = {
    401: "the key is refused; check the variable that --api-key-env names",
    403: "the key may not do this; check the variable that --api-key-env names",
    404: "there is no such model or address; check --model and --endpoint",
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": SCHEMA}}
OPTIONAL = ("response_format", "temperature", "max_tokens")
"""Parameters that some servers refuse by name."""


class Asker:
    """Asks one server; what it learns of the server's ways is kept for the questions that follow."""

    def __init__(self, client: Client, store: Store, *, retries: int) -> None:
        self._client, self._store, self._retries = client, store, retries
        self._refused: set[str] = set()
        self._answered = False
        self._counting = Lock()
        self.requests = 0

    def ask(self, one: WindowRequest) -> ModelAnswer:
        """Return the answer to a question, the one that was kept if it was asked before."""
        kept = kept_reply(self._store, one)
        if kept is not None:
            return read_answer(kept)  # it was one when it was kept
        problem, tries, bad = "", 0, 0
        while tries <= self._retries and bad < 2 and not self._client.stopped.is_set():
            sent = {**one.body, "response_format": FORMAT, "stream": False}
            if "max_tokens" in self._refused:
                sent["max_completion_tokens"] = sent["max_tokens"]
            sent = {name: value for name, value in sent.items() if name not in self._refused}
            answer, reply, problem = self._send(one, sent)
            if answer is not None:
                return answer
            if self._learns(reply, sent):
                continue
            self._refuse_useless(reply, problem)
            bad += reply.status == 200
            tries += 1
            if reply.status != 200 and tries <= self._retries:
                self._client.stopped.wait(pause(tries, reply.wait))
        raise UnansweredError(problem or "interrupted")

    def _send(self, one: WindowRequest, sent: dict[str, Any]) -> tuple[ModelAnswer | None, Reply, str]:
        """Send a question once, and keep what came of it."""
        reply, hide = self._client.post(sent), self._client.scrubbed
        with self._counting:
            self.requests += 1
        answer, problem = None, reply.problem
        if reply.status == 200:
            self._answered = True
            try:
                answer = read_answer(reply.body)
            except AnswerError as error:
                problem = str(error)
        elif not problem:
            problem = f"HTTP {reply.status}: {complaint(reply.body)}"
        problem, answered = hide(problem), (reply.status, hide(reply.body))
        with self._store.database.write() as connection:
            connection.execute(
                'INSERT INTO model_exchanges (at, assessor, topic, document, start, "end", digest, request, status,'
                " reply, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (now(), *one.key, one.start, one.end, one.digest, json.dumps(sent), *answered, problem),
            )
        return answer, reply, problem

    def _learns(self, reply: Reply, sent: dict[str, Any]) -> bool:
        """Whether a request was refused for a parameter that can be left out, or has another name."""
        if reply.status not in (400, 422, 501):
            return False
        text = reply.body.lower()
        named = [name for name in OPTIONAL if name in sent and (name in text or name.replace("_", " ") in text)]
        if "response_format" in sent and ("json_schema" in text or "grammar" in text):
            named.append("response_format")
        self._refused.update(named)
        return bool(named)

    def _refuse_useless(self, reply: Reply, problem: str) -> None:
        """End everything where no question will ever be answered; retry or go on elsewhere."""
        where = str(self._client.endpoint)
        if reply.refused and not self._answered:
            raise ModelError(f"{where}: {problem}; is the server running, and is this its address?")
        if 300 <= reply.status < 400:
            raise ModelError(f"{where}: {problem}; requests go to --endpoint alone: name that one if you trust it")
        if reply.status in USELESS:
            raise ModelError(f"{where}: {problem}; {USELESS[reply.status]}")
        if reply.status not in AGAIN and reply.status < 500 and reply.status != 200:
            raise UnansweredError(problem)


def pause(tries: int, asked_for: float) -> float:
    """Return the seconds before the next try.

    >>> pause(1, 0.0), pause(3, 0.0), pause(1, 20.0), pause(1, 9999.0)
    (1.0, 4.0, 20.0, 120.0)
    """
    return min(LONGEST_PAUSE, max(asked_for, FIRST_PAUSE * 2.0 ** (tries - 1)))
