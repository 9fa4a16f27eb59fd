"""A server's reply → quotes and an entry point, checked; anything else is refused with what was found.

A model's quotes at their places in the document: exact, normalised, repaired, or not in the text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.assessment.rules import NOT_RELEVANT, RELEVANT, Judgement
from focuseval.data.alignment import AMBIGUOUS, HOW, LOST
from focuseval.data.highlights import merge
from focuseval.errors import AnswerError
from focuseval.placing import SIMILARITY
from focuseval.placing.page import Page, Placed, Wanted, place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


COUNTED = ("exact", "normalised", "approximate", "ambiguous", "lost")


@dataclass(frozen=True)
class PlacedAnswer:
    """What is left of a model's answers to all windows of a document when every quote was looked for in the text."""

    judgement: Judgement
    quotes: tuple[int, ...]
    """How many quotes were found in each way of `COUNTED`."""
    entry: str
    """How the entry point was found; empty where none was given."""
    unplaced: tuple[str, ...]
    """The quotes that are not in the text, or in several places."""
    addressed: str = ""
    """Words of the document that are meant for a model."""


def place_answers(text: str, answers: Iterable[tuple[tuple[int, int], ModelAnswer]]) -> PlacedAnswer:
    """Return the judgement that the answers to the windows of a document make.

    A quote is looked for in its own window. The quotes of an answer come in the order of the document, which tells
    places apart that say the same; where that leaves a choice a quote has no place. The first entry point that has a
    place and is not behind all highlights is taken.
    """
    spans, points, counts, unplaced = list[tuple[int, int]](), list[tuple[int, str]](), Counter[str](), list[str]()
    for (start, end), answer in answers:
        page = Page(text[start:end])
        for quote, found in zip(answer.quotes, _placed(page, answer.quotes), strict=True):
            counts[HOW[found.how]] += 1
            if found.how in (AMBIGUOUS, LOST):
                unplaced.append(quote)
            else:
                spans.append((start + found.start, start + found.end))
        points += [(start + at, how) for at, how in _entry(page, answer)]
    highlights = merge(spans)
    known = [(at, how) for at, how in points if at >= 0 and highlights and at < highlights[-1][1]]
    bep, how = min(known) if known else (None, "lost" if points and highlights else "")
    judgement = Judgement(highlights, bep, RELEVANT if highlights else NOT_RELEVANT)
    return PlacedAnswer(judgement, tuple(counts[name] for name in COUNTED), how, tuple(unplaced))


def _placed(page: Page, quotes: Sequence[str]) -> list[Placed]:
    """Return the place of each quote; even numbers, because quotes do not touch as chunks do."""
    said = [quote if quote.strip() else "" for quote in quotes]
    return place(page, [Wanted(quote, order=2 * number) for number, quote in enumerate(said)], SIMILARITY)


def _entry(page: Page, answer: ModelAnswer) -> list[tuple[int, str]]:
    """Return the entry point of an answer with how it was found, if the answer has one and anything is relevant.

    Words that stand in several places are those of the first quote that begins with them.
    """
    if not answer.entry or not answer.quotes:
        return []
    (found,) = place(page, [Wanted(answer.entry)], SIMILARITY)
    if found.how == AMBIGUOUS:
        begun = [
            at
            for quote, at in zip(answer.quotes, _placed(page, answer.quotes), strict=True)
            if quote.startswith(answer.entry) and at.start >= 0
        ]
        found = begun[0] if begun else found
    return [(found.start if found.start >= 0 else -(10**9), HOW[found.how])]
