"""Every request to a model and every reply, in the project's database: what was asked is never paid for twice."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.assessment.store import now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.assessment.models.client import Reply
    from focuseval.assessment.store import Key, Store


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


def keep_exchange(store: Store, one: WindowRequest, sent: dict[str, Any], reply: Reply, problem: str) -> None:
    """Write one request and what came of it; `problem` is empty where the reply is an answer."""
    row = (now(), *one.key, one.start, one.end, one.digest, json.dumps(sent), reply.status, reply.body, problem)
    with store.database.write() as connection:
        connection.execute(
            'INSERT INTO model_exchanges (at, assessor, topic, document, start, "end", digest, request, status, reply,'
            " problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )


def kept_reply(store: Store, one: WindowRequest) -> str | None:
    """Return the answer that the same question got before; None where it got none."""
    row = (
        store.database.read()
        .execute(
            "SELECT reply FROM model_exchanges WHERE assessor = ? AND topic = ? AND document = ? AND digest = ?"
            " AND problem = '' ORDER BY id DESC LIMIT 1",
            (*one.key, one.digest),
        )
        .fetchone()
    )
    return None if row is None else str(row["reply"])
