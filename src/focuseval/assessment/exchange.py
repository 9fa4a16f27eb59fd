"""Everything out, everything in: a JSONL file from which a project can be made again, events included.

::

    {"focuseval": "assessments", "version": 1, "exhaustivity": false}
    {"event": {"seq": 1, "at": "…", "actor": "ann", "assessor": "ann", "topic": "1", "edit": {…}, …}}
    {"judgement": {"assessor": "ann", "topic": "1", "document": "d", "version": 3, "highlights": [[0, 5, "quote"]], …}}
    {"exchange": {"assessor": "model:m@1f00ba12", "topic": "1", "document": "d", "request": "…", "reply": "…", …}}

The events are the truth; the judgements carry the quotes, and are checked against the events when they are read. An
exchange is a request to a language model, and its reply.

A project's log without the names of its people: a1, a2 … in the order in which they first judged something.

The same name becomes the same one everywhere: whose judgement it is, who acted, who was given work, who was invited. In
what people wrote (notes, reasons, guidelines) names are replaced where they stand as whole words, in capitals or not.
Language models keep their labels, and so do the decisions, which are nobody's. Texts, topics and runs stay as they are.
"""

from __future__ import annotations

import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

from focuseval.assessment.plan import MODEL_PREFIX, follow
from focuseval.assessment.rules import Edit, Judgement, as_dict, from_dict, replay
from focuseval.assessment.store import Key, Saved, Store, insert_event, insert_judgement
from focuseval.assessment.users import RESERVED
from focuseval.errors import AssessError, FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


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


_NAMED = ("actor", "assessor")
_GIVEN = ("assign", "reassign")
"""Events whose rows are of a topic, a document and an assessor."""


def pseudonyms(store: Store) -> dict[str, str]:
    """Return everybody's name → what stands for it: those who judged first, then whoever else is in the log."""
    judged: dict[str, None] = {}
    found: dict[str, None] = {}
    for event in store.events():
        if event["assessor"]:
            judged[str(event["assessor"])] = None
        edit: Any = event["edit"]
        told = [event[name] for name in _NAMED] + ([edit["name"]] if not event["assessor"] and "name" in edit else [])
        given = [row[2] for part in ("rows", "add", "remove") for row in edit.get(part, ()) if edit["kind"] in _GIVEN]
        found |= dict.fromkeys(str(name) for name in (*told, *given))
    people = [name for name in judged | found if name and name not in RESERVED and not name.startswith(MODEL_PREFIX)]
    return {name: f"a{number}" for number, name in enumerate(people, 1)}


def without_names(lines: Iterable[str], names: Mapping[str, str]) -> Iterator[str]:
    """Return the lines of an export of everything with other names in it."""
    longest_first = sorted(names, key=len, reverse=True)
    anyone = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"(?<!\w)(?:{anyone})(?!\w)", re.IGNORECASE) if names else None
    spelt = {name.casefold(): names[name] for name in reversed(list(names))}

    def reworded(text: str) -> str:
        return pattern.sub(lambda match: spelt.get(match[0].casefold(), "?"), text) if pattern else text

    for number, line in enumerate(lines):
        value = json.loads(line)
        if "event" in value:
            event = value["event"]
            told = {name: names.get(event[name], event[name]) for name in _NAMED}
            edit = _edit(event["edit"], names, reworded)
            value["event"] = {**event, **told, "edit": edit, "key": f"event-{number}"}
        elif "judgement" in value:
            value["judgement"] = _judgement(value["judgement"], names, reworded)
        yield json.dumps(value, ensure_ascii=False) + "\n"


def _judgement(judgement: dict[str, Any], names: Mapping[str, str], reworded: Callable[[str], str]) -> dict[str, Any]:
    named = {"assessor": names.get(judgement["assessor"], judgement["assessor"])} if "assessor" in judgement else {}
    return {**judgement, **named, "note": reworded(judgement["note"])}


def _edit(edit: Edit, names: Mapping[str, str], reworded: Callable[[str], str]) -> Edit:
    """Return an event's edit with other names in it; files and folders of the computer are left out."""
    told = dict(edit)
    for field in ("text", "reason"):
        if isinstance(told.get(field), str):
            told[field] = reworded(told[field])
    if "name" in told:
        told["name"] = names.get(told["name"], told["name"])
    if told["kind"] in _GIVEN:
        for part in {"rows", "add", "remove"} & told.keys():
            told[part] = [[topic, document, names.get(name, name)] for topic, document, name in told[part]]
    if "judgement" in told:
        told["judgement"] = _judgement(told["judgement"], names, reworded)
    if isinstance(told.get("source"), dict):
        told["source"] = _source(told["source"], names)
    if told["kind"] == "assessor":
        told["source"] = ""
    if told["kind"] == "restore":
        told |= {"from": "", "kept": ""}
    return told


def _source(source: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return where a judgement came from: whose judgements it was made of, but no file of the computer."""
    kept = {name: value for name, value in source.items() if name != "file"}
    return {**kept, "of": sorted(names.get(name, name) for name in source["of"])} if "of" in source else kept
