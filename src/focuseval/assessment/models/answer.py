"""A server's reply → quotes and an entry point, checked; anything else is refused with what was found."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from focuseval.errors import AnswerError

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_SHOWN = 60
MOST_QUOTES = 500
"""A model that goes round in circles repeats itself until its tokens are used up."""
_ATTEMPTS = 200
"""So many braces that begin no object are passed over; an answer with more is no answer."""


class ModelAnswer(NamedTuple):
    """What a model said of one window."""

    quotes: tuple[str, ...]
    entry: str | None
    tokens: tuple[int, int] = (0, 0)
    """Tokens of the request and of the answer, as the server counts them."""


def read_answer(body: str) -> ModelAnswer:
    r"""Return the answer in the body of a reply.

    >>> read_answer('{"choices": [{"message": {"content": "Sure: {\\"quotes\\": [\\"a\\"]}"}}]}').quotes
    ('a',)
    """
    reply = _json(body, "a reply in JSON")
    content, cut = _content(reply)
    value = _object(content, cut=cut)
    quotes, entry = value.get("quotes"), value.get("best_entry_point")
    if not isinstance(quotes, list) or not all(isinstance(quote, str) for quote in quotes):
        raise AnswerError(f"expected a list of texts as 'quotes', found {_shown(quotes)}")
    if not (entry is None or isinstance(entry, str)):
        raise AnswerError(f"expected a text or null as 'best_entry_point', found {_shown(entry)}")
    if len(quotes) > MOST_QUOTES:
        raise AnswerError(f"expected at most {MOST_QUOTES} quotes, found {len(quotes)}")
    return ModelAnswer(tuple(map(_storable, quotes)), _storable(entry) if entry else None, _tokens(reply))


def complaint(body: str) -> str:
    """Return what a server says is wrong, in one line."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(body)
    said = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(said, dict):
        said = said.get("message") or said.get("detail") or said
    return " ".join(str(said).split())[:300]


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"expected {what}, found {_shown(text)}") from error


def _content(reply: Any) -> tuple[str, bool]:
    """Return what the model wrote, and whether it was cut off."""
    try:
        choice = reply["choices"][0]
        content = choice["message"]["content"]
        cut = choice.get("finish_reason") == "length"
    except (LookupError, TypeError, AttributeError) as error:
        raise AnswerError(f"expected a reply with choices[0].message.content, found {_shown(reply)}") from error
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str) or not content.strip():
        why = "an answer that was cut off while the model was thinking" if cut else _shown(content)
        raise AnswerError(f"expected an answer, found {why}{'; raise --max-tokens' if cut else ''}")
    return content, cut


def _object(content: str, *, cut: bool) -> dict[str, Any]:
    """Return the last JSON object with quotes in a text; prose, code fences and thoughts around it are passed over."""
    text = _THINKING.sub("", content)
    found = _objects(text)
    chosen = [value for value in found if "quotes" in value] or found
    if not chosen:
        remedy = "; raise --max-tokens" if cut else ""
        what = "an answer that was cut off" if cut else _shown(text.strip())
        raise AnswerError(f"expected a JSON object, found {what}{remedy}")
    return chosen[-1]


def _objects(text: str) -> list[dict[str, Any]]:
    """Return every JSON object that begins at a brace outside of another one."""
    decoder, found, at = json.JSONDecoder(), list[dict[str, Any]](), text.find("{")
    for _ in range(_ATTEMPTS):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)
    return found


def _tokens(reply: Any) -> tuple[int, int]:
    usage = reply.get("usage")
    told = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    counted = [number if isinstance(number, int) else 0 for number in told]
    return (counted[0], counted[1]) if counted else (0, 0)


def _storable(text: str) -> str:
    """Return a text without halves of characters, which no database takes."""
    return text.encode("utf-8", "replace").decode()


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True)
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if text else "nothing"
