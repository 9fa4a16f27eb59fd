"""Questions to a language model, each asked until it is answered.

Questions are asked again after growing pauses, and without parameters that a server refuses. Every request and every
reply is in the project's database: what was asked is never paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

from focuseval.assessment.store import Key, Store, insert_row, now
from focuseval.engine.http import Client, Reply, complaint, endpoint_of, pause, refuse_useless
from focuseval.errors import AnswerError, UnansweredError, UsageError

_NAME = re.compile(r"[^\s,\x00-\x1f\x7f]{1,120}")
OPTIONAL = ("response_format", "temperature", "max_tokens")  # parameters that some servers refuse by name


@dataclass(frozen=True)
class ModelSettings:
    """How a model is asked."""

    endpoint: str
    model: str
    key: str = field(default="", repr=False)
    """Sent as a bearer token, and never written anywhere."""
    assessor: str = ""
    """The name in the assessor's label; the model's where it is empty."""
    window: int = 12_000
    """Characters of a document in one request."""
    max_tokens: int = 2_000
    """The longest answer."""
    timeout: float = 120.0
    """Seconds from the beginning of a request to the end of its answer."""
    retries: int = 5
    """How often a request is sent again after 429, 5xx, a time-out or a broken connection."""
    jobs: int = 1
    """Requests at once."""
    exclude_tags: tuple[str, ...] = ()
    """Elements that are not asked about, such as lists of references."""
    sections: tuple[str, ...] = ()
    """Elements that alone are asked about; all of a document without them."""

    def __post_init__(self) -> None:
        """Refuse what could not be sent or stored."""
        endpoint_of(self.endpoint)
        for what, name in (("--model", self.model), ("--assessor", self.assessor or self.model)):
            if not _NAME.fullmatch(name):
                raise UsageError(f"expected {what} without blanks and commas, found {name!r}")
        if not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            raise UsageError("expected a key of printable ASCII characters without blanks, found something else")
        if self.window < 200:
            raise UsageError(f"expected a window of 200 characters or more, found {self.window}")

    def label(self, prompt_hash: str) -> str:
        """Return the name that the assessor has in every view and export.

        >>> ModelSettings("http://localhost:11434", "llama3.1:8b").label("1f00ba12")
        'model:llama3.1:8b@1f00ba12'
        """
        return f"model:{self.assessor or self.model}@{prompt_hash}"


class WindowRequest(NamedTuple):
    """One window of a document, as one request."""

    key: Key
    start: int
    end: int
    digest: str  # stands for model, messages and the longest answer: the same question has the same digest
    body: dict[str, Any]


def window_request(
    key: Key, span: tuple[int, int], settings: ModelSettings, messages: list[dict[str, str]]
) -> WindowRequest:
    """Return the request that asks a model about one window."""
    body = {"model": settings.model, "messages": messages, "max_tokens": settings.max_tokens, "temperature": 0}
    return WindowRequest(key, *span, hashlib.sha256(json.dumps(body).encode("ascii")).hexdigest(), body)


def kept_reply(store: Store, one: WindowRequest) -> str | None:
    """Return the answer that the same question got before; None where it got none."""
    rows = store.rows(
        "SELECT reply FROM model_exchanges WHERE assessor = ? AND topic = ? AND document = ? AND digest = ?"
        " AND problem = '' ORDER BY id DESC LIMIT 1",
        (*one.key, one.digest),
    )
    return next((str(reply) for (reply,) in rows.fetchall()), None)


class Asker:
    """Asks one server; what it learns of the server's ways is kept for the questions that follow."""

    def __init__(self, settings: ModelSettings, store: Store, read: Callable[[str], Any], form: dict[str, Any]) -> None:
        self.client = Client(endpoint_of(settings.endpoint), settings.key, settings.timeout)
        self._store, self._retries, self._read = store, settings.retries, read
        schema = {"type": "object", "properties": form, "required": [*form], "additionalProperties": False}
        self._format = {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": schema}}
        self._refused: set[str] = set()
        self._answered, self._counting, self.requests = False, Lock(), 0

    def ask(self, one: WindowRequest) -> Any:
        """Return the answer to a question, the one that was kept if it was asked before."""
        kept = kept_reply(self._store, one)
        if kept is not None:
            return self._read(kept)  # it was one when it was kept
        problem, tries, bad = "", 0, 0
        while tries <= self._retries and bad < 2 and not self.client.stopped.is_set():
            sent = {**one.body, "response_format": self._format, "stream": False}
            if "max_tokens" in self._refused:
                sent["max_completion_tokens"] = sent["max_tokens"]
            sent = {name: value for name, value in sent.items() if name not in self._refused}
            answer, reply, problem = self._send(one, sent)
            if answer is not None:
                return answer
            if self._learns(reply, sent):
                continue
            refuse_useless(self.client, reply, problem, answered=self._answered)
            bad += reply.status == 200
            tries += 1
            if reply.status != 200 and tries <= self._retries:
                self.client.stopped.wait(pause(tries, reply.wait))
        raise UnansweredError(problem or "interrupted")

    def _send(self, one: WindowRequest, sent: dict[str, Any]) -> tuple[Any, Reply, str]:
        """Send a question once, and keep what came of it."""
        reply, hide = self.client.post(sent), self.client.scrubbed
        with self._counting:
            self.requests += 1
        answer, problem = None, reply.problem
        if reply.status == 200:
            self._answered = True
            try:
                answer = self._read(reply.body)
            except AnswerError as error:
                problem = str(error)
        elif not problem:
            problem = f"HTTP {reply.status}: {complaint(reply.body)}"
        problem = hide(problem)
        with self._store.database.write() as connection:
            what = {"at": now(), **one.key._asdict(), "start": one.start, "end": one.end, "digest": one.digest}
            came = {"status": reply.status, "reply": hide(reply.body), "problem": problem}
            insert_row(connection, "model_exchanges", {**what, "request": json.dumps(sent), **came})
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
