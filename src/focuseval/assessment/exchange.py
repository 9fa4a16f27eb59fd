r"""Everything out, everything in: a JSONL file from which a project can be made again, events included.

::

    {"focuseval": "assessments", "version": 1, "exhaustivity": false}
    {"event": {"seq": 1, "at": "…", "actor": "ann", "assessor": "ann", "topic": "1", "edit": {…}, …}}
    {"judgement": {"assessor": "ann", "topic": "1", "document": "d", "version": 3, "highlights": [[0, 5, "quote"]], …}}
    {"exchange": {"assessor": "model:m@1f00ba12", "topic": "1", "document": "d", "request": "…", "reply": "…", …}}

The events are the truth; the judgements carry the quotes, and are checked against the events when they are read. An
exchange is a request to a language model, and its reply.

Without the names of its people an export calls them a1, a2 … in the order in which they first judged something. The
same name becomes the same one everywhere: whose judgement it is, who acted, who was given work, who was invited. In
what people wrote (notes, reasons, guidelines) names are replaced where they stand as whole words, in capitals or not.
Language models keep their labels, and so do the decisions, which are nobody's. Texts, topics and runs stay as they are.
"""

from __future__ import annotations

import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

from focuseval.assessment.files import json_line, read_line
from focuseval.assessment.plan import MODEL_PREFIX, follow
from focuseval.assessment.rules import Edit, as_dict, from_dict, replay
from focuseval.assessment.store import Key, Saved, Store, insert_event, insert_judgement
from focuseval.assessment.users import RESERVED
from focuseval.errors import AssessError, FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_HEAD = {"focuseval": "assessments", "version": 1}
EVENT_FIELDS = ("at", "actor", "assessor", "topic", "document", "version", "edit", "text_sha256", "key")
"""What an event says, but for its number, which an import gives anew."""
_EVENT_TYPES: dict[str, type] = {**dict.fromkeys(EVENT_FIELDS, str), "version": int, "edit": dict}
_EXCHANGE_FIELDS = (
    "at", "assessor", "topic", "document", "start", "end", "digest", "request", "status", "reply", "problem",
)  # fmt: skip
_NOT_OURS = (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError)
"""What SQLite says of values that no export has; a full disk is another matter."""
_GIVEN = ("assign", "reassign")
"""Events whose rows are of a topic, a document and an assessor."""


def export_everything(store: Store) -> Iterator[str]:
    """Return the lines of a file that holds all a project knows; within a `snapshot` they are of one moment."""
    yield json_line({**_HEAD, "exhaustivity": store.exhaustivity})
    for event in store.events():
        yield json_line({"event": event})
    for key in store.judged():
        saved = store.judgement(key)
        view = {**key._asdict(), **as_dict(saved.judgement), "highlights": store.quotes(key)}
        stamps = {name: getattr(saved, name) for name in ("version", "text_sha256", "length", "at")}
        yield json_line({"judgement": {**view, **stamps}})
    reader = store.database.read()
    if reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'model_exchanges'").fetchone():  # else it is too old
        for row in reader.execute("SELECT * FROM model_exchanges ORDER BY id"):
            yield json_line({"exchange": {name: row[name] for name in _EXCHANGE_FIELDS}})


def import_everything(store: Store, lines: Iterable[str], *, file: str = "import") -> int:
    """Fill an empty project from an export, all of it or nothing; return the number of events."""
    count = number = 0
    edits: dict[Key, list[Edit]] = {}
    with store.database.write() as connection:
        if connection.execute("SELECT 1 FROM events WHERE assessor != ''").fetchone():
            raise AssessError("the project has judgements already; import into a new one")
        for table in ("pool", "assignments", "assessors"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608  three fixed names
        for number, line in enumerate(lines, 1):
            at = Place(file, number)
            value = read_line(line, at)
            if number > 1:
                count += "event" in value
                _take(connection, value, edits, at)
            elif {name: value.get(name) for name in _HEAD} != _HEAD:
                raise FormatError("expected the first line of an export of all assessments", at=at)
            elif value.get("exhaustivity") != store.exhaustivity:
                raise FormatError("the project and the export disagree about 2005 mode", at=at)
        if not number:
            raise FormatError("expected an export of all assessments, found nothing", at=file)
        if edits:
            raise FormatError(f"expected a judgement of {next(iter(edits))}, found none", at=file)
    return count


def _take(connection: sqlite3.Connection, value: dict[str, Any], edits: dict[Key, list[Edit]], at: Place) -> None:
    """Take what one line holds; what no export has is refused with its line."""
    try:
        if "event" in value:
            _take_event(connection, value["event"], edits, at)
        elif "judgement" in value:
            _take_judgement(connection, value["judgement"], edits, at)
        elif "exchange" in value:
            if missing := [name for name in _EXCHANGE_FIELDS if name not in value["exchange"]]:
                raise FormatError(f"expected the exchange's '{missing[0]}', found none", at=at)
            names = ", ".join(f'"{name}"' for name in _EXCHANGE_FIELDS)
            places = ", ".join(f":{name}" for name in _EXCHANGE_FIELDS)
            insert = f"INSERT INTO model_exchanges ({names}) VALUES ({places})"  # noqa: S608  fixed names
            connection.execute(insert, value["exchange"])
    except (KeyError, TypeError, ValueError, AttributeError, *_NOT_OURS) as error:
        what = f"{type(error).__name__} {error}"
        raise FormatError(f"expected a line of an export of all assessments, found: {what}", at=at) from error


def _take_event(connection: sqlite3.Connection, event: dict[str, Any], edits: dict[Key, list[Edit]], at: Place) -> None:
    missing = [name for name in EVENT_FIELDS if name not in event]
    if missing:
        raise FormatError(f"expected the event's '{missing[0]}', found none", at=at)
    wrong = [name for name, kind in _EVENT_TYPES.items() if type(event[name]) is not kind]
    if wrong:
        what = f"expected {_EVENT_TYPES[wrong[0]].__name__} for the event's '{wrong[0]}'"
        raise FormatError(f"{what}, found {event[wrong[0]]!r:.40}", at=at)
    insert_event(connection, {name: event[name] for name in EVENT_FIELDS})
    if event["assessor"]:
        edits.setdefault(Key(event["assessor"], event["topic"], event["document"]), []).append(event["edit"])
    else:
        follow(connection, event["edit"])


def _take_judgement(
    connection: sqlite3.Connection, values: dict[str, Any], edits: dict[Key, list[Edit]], at: Place
) -> None:
    key = Key(values["assessor"], values["topic"], values["document"])
    steps = edits.pop(key, [])
    plain = {name: values[name] for name in ("bep", "status", "flagged", "note", "grades")}
    judgement = from_dict({**plain, "highlights": [span[:2] for span in values["highlights"]]})
    if replay(steps).now != judgement or len(steps) != values["version"]:
        raise FormatError(f"the events of {'/'.join(key)} lead to another judgement than this", at=at)
    saved = Saved(key, values["version"], judgement, values["text_sha256"], values["length"], values["at"])
    insert_judgement(connection, saved, [tuple(span) for span in values["highlights"]])


def pseudonyms(store: Store) -> dict[str, str]:
    """Return everybody's name → what stands for it: those who judged first, then whoever else is in the log."""
    judged: dict[str, None] = {}
    others: dict[str, None] = {}
    for event in store.events():
        edit: Any = event["edit"]
        if event["assessor"]:
            judged[str(event["assessor"])] = None
        own = [edit["name"]] if not event["assessor"] and "name" in edit else []
        given = [row[2] for part in ("rows", "add", "remove") for row in edit.get(part, ()) if edit["kind"] in _GIVEN]
        others |= dict.fromkeys(str(name) for name in (event["actor"], event["assessor"], *own, *given))
    people = [name for name in judged | others if name and name not in RESERVED and not name.startswith(MODEL_PREFIX)]
    return {name: f"a{number}" for number, name in enumerate(people, 1)}


def without_names(lines: Iterable[str], names: Mapping[str, str]) -> Iterator[str]:
    """Return the lines of an export of everything with other names in it."""
    anyone = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{anyone})(?!\w)", re.IGNORECASE) if names else None
    spelt = {name.casefold(): names[name] for name in reversed(list(names))}

    def reworded(text: str) -> str:
        return pattern.sub(lambda match: spelt.get(match[0].casefold(), "?"), text) if pattern else text

    for number, line in enumerate(lines):
        value = json.loads(line)
        if "event" in value:
            event = value["event"]
            others = {name: names.get(event[name], event[name]) for name in ("actor", "assessor")}
            edit = _renamed(event["edit"], names, reworded)
            value["event"] = {**event, **others, "edit": edit, "key": f"event-{number}"}
        elif "judgement" in value:
            judgement = value["judgement"]
            judgement["note"] = reworded(judgement["note"])
            judgement["assessor"] = names.get(judgement["assessor"], judgement["assessor"])
        yield json_line(value)


def _renamed(edit: Edit, names: Mapping[str, str], reworded: Callable[[str], str]) -> Edit:
    """Return an event's edit with other names in it; files and folders of the computer are left out."""
    edit = dict(edit)
    for field in ("text", "reason"):
        if isinstance(edit.get(field), str):
            edit[field] = reworded(edit[field])
    if "name" in edit:
        edit["name"] = names.get(edit["name"], edit["name"])
    if edit["kind"] in _GIVEN:
        for part in {"rows", "add", "remove"} & edit.keys():
            edit[part] = [[topic, document, names.get(name, name)] for topic, document, name in edit[part]]
    if "judgement" in edit:
        edit["judgement"] = {**edit["judgement"], "note": reworded(edit["judgement"]["note"])}
    if isinstance(edit.get("source"), dict):
        edit["source"] = {
            name: sorted(names.get(one, one) for one in value) if name == "of" else value
            for name, value in edit["source"].items()
            if name != "file"
        }
    if edit["kind"] == "assessor":
        edit["source"] = ""
    if edit["kind"] == "restore":
        edit |= {"from": "", "kept": ""}
    return edit
