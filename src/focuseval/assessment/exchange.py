r"""Everything out, everything in: a JSONL file from which a project can be made again, events included.

::

    {"focuseval": "assessments", "version": 1, "exhaustivity": false}
    {"event": {"seq": 1, "at": "…", "actor": "ann", "assessor": "ann", "topic": "1", "edit": {…}, …}}
    {"judgement": {"assessor": "ann", "topic": "1", "document": "d", "version": 3, "highlights": [[0, 5, "quote"]], …}}
    {"exchange": {"assessor": "model:m@1f00ba12", "topic": "1", "document": "d", "request": "…", "reply": "…", …}}

The events are the truth; the judgements carry the quotes, and are checked against the events when they are read. An
exchange is a request to a language model, and its reply.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from focuseval.assessment.history import replay
from focuseval.assessment.plan import follow
from focuseval.assessment.rows import insert_event, insert_judgement
from focuseval.assessment.rules import Judgement, as_dict, from_dict
from focuseval.assessment.store import Key, Saved
from focuseval.errors import AssessError, FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from focuseval.assessment.store import Store

_HEAD = "assessments"
_FORMAT = 1
_EXCHANGE_FIELDS = (
    "at", "assessor", "topic", "document", "start", "end", "digest", "request", "status", "reply", "problem",
)  # fmt: skip
_EVENT_FIELDS = ("at", "actor", "assessor", "topic", "document", "version", "edit", "text_sha256", "key")
_NOT_OURS = (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError)
"""What SQLite says of values that no export has; a full disk is another matter."""
_EVENT_TYPES: dict[str, type] = {**dict.fromkeys(_EVENT_FIELDS, str), "version": int, "edit": dict}


def export_everything(store: Store) -> Iterator[str]:
    """Return the lines of a file that holds all a project knows; within a `snapshot` they are of one moment."""
    yield _line({"focuseval": _HEAD, "version": _FORMAT, "exhaustivity": store.exhaustivity})
    for event in store.events():
        yield _line({"event": event})
    for key in store.judged():
        saved = store.judgement(key)
        view = {**key._asdict(), **as_dict(saved.judgement), "highlights": store.quotes(key)}
        stamps = {name: getattr(saved, name) for name in ("version", "text_sha256", "length", "at")}
        yield _line({"judgement": {**view, **stamps}})
    for row in _exchanges(store):
        yield _line({"exchange": {name: row[name] for name in _EXCHANGE_FIELDS}})


def _exchanges(store: Store) -> Iterable[sqlite3.Row]:
    """Return the requests to language models; an older project on a full disk has no table of them."""
    reader = store.database.read()
    known = reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'model_exchanges'").fetchone()
    return reader.execute("SELECT * FROM model_exchanges ORDER BY id") if known else ()


def import_everything(store: Store, lines: Iterable[str], *, file: str = "import") -> int:
    """Fill an empty project from an export, all of it or nothing; return the number of events."""
    count = 0
    edits: dict[Key, list[dict[str, Any]]] = {}
    with store.database.write() as connection:
        if connection.execute("SELECT 1 FROM events WHERE assessor != ''").fetchone():
            raise AssessError("the project has judgements already; import into a new one")
        for table in ("pool", "assignments", "assessors"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608  three fixed names
        number = 0
        for number, line in enumerate(lines, 1):
            at = Place(file, number)
            value = _value(line, at)
            if number == 1:
                _check_head(value, store, at)
            else:
                count += "event" in value
                _take(connection, value, edits, at)
        if not number:
            raise FormatError("expected an export of all assessments, found nothing", at=file)
        if edits:
            raise FormatError(f"expected a judgement of {next(iter(edits))}, found none", at=file)
    return count


def _take(
    connection: sqlite3.Connection, value: dict[str, Any], edits: dict[Key, list[dict[str, Any]]], at: Place
) -> None:
    """Take what one line holds; what no export has is refused with its line."""
    try:
        if "event" in value:
            _take_event(connection, value["event"], edits, at)
        elif "judgement" in value:
            _take_judgement(connection, value["judgement"], edits, at)
        elif "exchange" in value:
            _take_exchange(connection, value["exchange"], at)
    except (KeyError, TypeError, ValueError, AttributeError, *_NOT_OURS) as error:
        told = f"{type(error).__name__} {error}"
        raise FormatError(f"expected a line of an export of all assessments, found: {told}", at=at) from error


def _take_event(
    connection: sqlite3.Connection, event: dict[str, Any], edits: dict[Key, list[dict[str, Any]]], at: Place
) -> None:
    missing = [name for name in _EVENT_FIELDS if name not in event]
    if missing:
        raise FormatError(f"expected the event's '{missing[0]}', found none", at=at)
    wrong = [name for name, kind in _EVENT_TYPES.items() if type(event[name]) is not kind]
    if wrong:
        what = f"expected {_EVENT_TYPES[wrong[0]].__name__} for the event's '{wrong[0]}'"
        raise FormatError(f"{what}, found {event[wrong[0]]!r:.40}", at=at)
    insert_event(connection, {name: event[name] for name in _EVENT_FIELDS})
    if event["assessor"]:
        edits.setdefault(Key(event["assessor"], event["topic"], event["document"]), []).append(event["edit"])
    else:
        follow(connection, event["edit"])


def _take_judgement(
    connection: sqlite3.Connection, values: dict[str, Any], edits: dict[Key, list[dict[str, Any]]], at: Place
) -> None:
    key = Key(values["assessor"], values["topic"], values["document"])
    told = edits.pop(key, [])
    names = ("bep", "status", "flagged", "note", "grades")
    plain = {name: values[name] for name in names}
    judgement = from_dict({**plain, "highlights": [span[:2] for span in values["highlights"]]})
    if _replayed(told) != judgement or len(told) != values["version"]:
        raise FormatError(f"the events of {'/'.join(key)} lead to another judgement than this", at=at)
    saved = Saved(key, values["version"], judgement, values["text_sha256"], values["length"], values["at"])
    insert_judgement(connection, saved, [tuple(span) for span in values["highlights"]])


def _take_exchange(connection: sqlite3.Connection, values: dict[str, Any], at: Place) -> None:
    """Take a request to a language model and its reply."""
    if missing := [name for name in _EXCHANGE_FIELDS if name not in values]:
        raise FormatError(f"expected the exchange's '{missing[0]}', found none", at=at)
    names = ", ".join(f'"{name}"' for name in _EXCHANGE_FIELDS)
    places = ", ".join(f":{name}" for name in _EXCHANGE_FIELDS)
    connection.execute(f"INSERT INTO model_exchanges ({names}) VALUES ({places})", values)  # noqa: S608  fixed names


def _replayed(edits: list[dict[str, Any]]) -> Judgement:
    return replay(edits).now


def _check_head(value: dict[str, Any], store: Store, at: Place) -> None:
    if value.get("focuseval") != _HEAD or value.get("version") != _FORMAT:
        raise FormatError("expected the first line of an export of all assessments", at=at)
    if value.get("exhaustivity") != store.exhaustivity:
        raise FormatError("the project and the export disagree about 2005 mode", at=at)


def _value(line: str, at: Place) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected a JSON object, found: {error}", at=at) from error
    if not isinstance(value, dict):
        raise FormatError(f"expected a JSON object, found {type(value).__name__}", at=at)
    return value


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
