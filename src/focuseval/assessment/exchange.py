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

Judgements made elsewhere, by a language model for instance, become one more assessor, always labelled as imported. A
line per topic and document, as our gold has them, with the assessor's name if the caller gives none::

    {"topic": "1", "doc": "a/one", "spans": [{"start": 0, "end": 5, "quote": "Title"}], "bep": 0, "assessor": "model"}

``"spans": []`` is judged and not relevant. Instead of spans a line may name an element: ``"path": "/article[1]/p[2]"``;
several such lines of one document are joined. A quote decides: a span that does not fit it moves to the nearest place
that does, and is counted; a quote that stands in two nearest places, or nowhere, is refused with its line. So are
topics and documents that the project does not know.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from focuseval.assessment import rules
from focuseval.assessment.plan import IMPORTED, MODEL_PREFIX, Assessor, follow, pool, register
from focuseval.assessment.store import Key, Request, Saved, Store, insert_event, insert_judgement, insert_row
from focuseval.assessment.users import RESERVED
from focuseval.collection.rendering import Document
from focuseval.data.fields import json_line, numbered_lines, read_object
from focuseval.data.highlights import Span, merge
from focuseval.errors import AssessError, FormatError, Place, counted
from focuseval.placing.anchor import LOST, MOVED, nearest

_HEAD = {"focuseval": "assessments", "version": 1}
EVENT_FIELDS = ("at", "actor", "assessor", "topic", "document", "version", "edit", "text_sha256", "key")
"""What an event says, but for its number, which an import gives anew."""
_EXCHANGE_FIELDS = (
    "at", "assessor", "topic", "document", "start", "end", "digest", "request", "status", "reply", "problem",
)  # fmt: skip
_NOT_OURS = (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError)
"""What SQLite says of values that no export has; a full disk is another matter."""
_GIVEN = ("assign", "reassign")  # events whose rows are of a topic, a document and an assessor


def export_everything(store: Store) -> Iterator[bytes]:
    """Return the lines of a file that holds all a project knows; within a `snapshot` they are of one moment."""
    yield json_line({**_HEAD, **rules.scale_facts(store.scale)})
    for event in store.events():
        yield json_line({"event": event})
    for key in store.judged():
        saved = store.judgement(key)
        view = {**key._asdict(), **rules.as_dict(saved.judgement), "highlights": store.quotes(key)}
        stamps = {name: getattr(saved, name) for name in ("version", "text_sha256", "length", "at")}
        yield json_line({"judgement": {**view, **stamps}})
    reader = store.database.read()
    if reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'model_exchanges'").fetchone():  # else it is too old
        for row in reader.execute("SELECT * FROM model_exchanges ORDER BY id"):
            yield json_line({"exchange": {name: row[name] for name in _EXCHANGE_FIELDS}})


def import_everything(store: Store, lines: Iterable[tuple[int, str | bytes]], *, file: str = "import") -> int:
    """Fill an empty project from the numbered lines of an export, all of it or nothing; return the number of events."""
    count, at = 0, None
    edits: dict[Key, list[rules.Edit]] = {}
    with store.database.write() as connection:
        if connection.execute("SELECT 1 FROM events WHERE assessor != ''").fetchone():
            raise AssessError("the project has judgements already; import into a new one")
        for table in ("pool", "assignments", "assessors"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608  three fixed names
        for number, line in lines:
            is_head, at = at is None, Place(file, number)
            value = read_object(line, at)
            if not is_head:
                count += "event" in value
                _take(connection, value, edits, at)
            elif {name: value.get(name) for name in _HEAD} != _HEAD:
                raise FormatError("expected the first line of an export of all assessments", at=at)
            elif "exhaustivity" not in value or rules.scale_of(value) != store.scale:
                what = f"expected judgements on the project's scale, {store.scale}, found those of another"
                raise FormatError(what, at=at, remedy="begin a project with their --scale")
        if at is None:
            raise FormatError("expected an export of all assessments, found nothing", at=file)
        if edits:
            raise FormatError(f"expected a judgement of {next(iter(edits))}, found none", at=file)
    return count


def _take(connection: sqlite3.Connection, value: dict[str, Any], edits: dict[Key, list[rules.Edit]], at: Place) -> None:
    """Take what one line holds, or refuse it; `edits` are those of judgements that are still to come."""
    try:
        if "event" in value:
            event = _fields(value["event"], EVENT_FIELDS, "event", at)
            for name in EVENT_FIELDS:
                kind = {"version": int, "edit": dict}.get(name, str)
                if type(event[name]) is not kind:
                    what = f"expected {kind.__name__} for the event's '{name}'"
                    raise FormatError(f"{what}, found {event[name]!r:.40}", at=at)
            insert_event(connection, event)
            if event["assessor"]:
                edits.setdefault(Key(event["assessor"], event["topic"], event["document"]), []).append(event["edit"])
            else:
                follow(connection, event["edit"])
        elif "judgement" in value:
            values = value["judgement"]
            key = Key(values["assessor"], values["topic"], values["document"])
            steps = edits.pop(key, [])
            plain = {name: values[name] for name in ("bep", "status", "flagged", "note", "grades")}
            judgement = rules.from_dict({**plain, "highlights": [span[:2] for span in values["highlights"]]})
            if rules.replay(steps).now != judgement or len(steps) != values["version"]:
                raise FormatError(f"the events of {'/'.join(key)} lead to another judgement than this", at=at)
            saved = Saved(key, values["version"], judgement, values["text_sha256"], values["length"], values["at"])
            insert_judgement(connection, saved, [tuple(span) for span in values["highlights"]])
        elif "exchange" in value:
            insert_row(connection, "model_exchanges", _fields(value["exchange"], _EXCHANGE_FIELDS, "exchange", at))
    except (KeyError, TypeError, ValueError, AttributeError, *_NOT_OURS) as error:
        what = f"{type(error).__name__} {error}"
        raise FormatError(f"expected a line of an export of all assessments, found: {what}", at=at) from error


def _fields(values: dict[str, Any], names: Sequence[str], what: str, at: Place) -> dict[str, Any]:
    if missing := [name for name in names if name not in values]:
        raise FormatError(f"expected the {what}'s '{missing[0]}', found none", at=at)
    return {name: values[name] for name in names}


def pseudonyms(store: Store) -> dict[str, str]:
    """Return everybody's name → what stands for it: those who judged first, then whoever else is in the log."""
    judged, others = dict[str, None](), dict[str, None]()
    for event in store.events():
        edit: Any = event["edit"]
        if event["assessor"]:
            judged[str(event["assessor"])] = None
        own = [edit["name"]] if not event["assessor"] and "name" in edit else []
        given = [row[2] for part in ("rows", "add", "remove") for row in edit.get(part, ()) if edit["kind"] in _GIVEN]
        others |= dict.fromkeys(str(name) for name in (event["actor"], event["assessor"], *own, *given))
    people = [name for name in judged | others if name and name not in RESERVED and not name.startswith(MODEL_PREFIX)]
    return {name: f"a{number}" for number, name in enumerate(people, 1)}


def without_names(lines: Iterable[bytes], names: Mapping[str, str]) -> Iterator[bytes]:
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


def _renamed(edit: rules.Edit, names: Mapping[str, str], reworded: Callable[[str], str]) -> rules.Edit:
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
        source = {name: value for name, value in edit["source"].items() if name != "file"}
        edit["source"] = source | (
            {"of": sorted(names.get(one, one) for one in source["of"])} if "of" in source else {}
        )
    if edit["kind"] == "assessor":
        edit["source"] = ""
    if edit["kind"] == "restore":
        edit |= {"from": "", "kept": ""}
    return edit


@dataclass(frozen=True)
class Imported:
    """What an import brought."""

    assessors: tuple[str, ...]
    judgements: int  # judgements that were stored
    known: int  # judgements that were there already, just so
    moved: int  # spans that were moved to where their quote stands
    outside: int  # judgements of documents that are not in the pool

    def __str__(self) -> str:
        names = ", ".join(Assessor(name, IMPORTED).label for name in self.assessors)
        known = f" and {self.known} known already" if self.known else ""
        places = f"{counted(self.moved, 'span')} moved to where the quote is"
        stored = f"{counted(self.judgements, 'judgement')} of {names} stored{known}"
        return f"{stored}; {places}, {counted(self.outside, 'document')} outside the pool"


def import_judgements(
    store: Store,
    text: str,
    document: Callable[[str], Document],
    *,
    topics: Container[str],
    actor: str,
    assessor: str = "",
    file: str = "import",
) -> Imported:
    """Read the judgements of one or more assessors from the text of a file, all of them or none.

    What is known already stays as it is. `document` gives the text of an id; topics that are not in `topics` are
    refused. `actor` imports them; `assessor` is whose they are, where the lines do not say it or are to be overruled.
    """
    numbered = ((line, Place(file, number)) for number, line in numbered_lines(text))
    found: dict[Key, _Row] = {}  # elements of one document join, other lines of one document contradict
    for row in [_row(line, at, assessor, document, topics) for line, at in numbered]:
        before = found.setdefault(row.key, row)
        if before is row:
            continue
        if not (before.is_element and row.is_element):
            what = f"expected one line for topic {row.key.topic} and document {row.key.document}, found another in line"
            raise FormatError(f"{what} {before.at.line}", at=row.at, remedy="join their spans")
        highlights = merge((*before.judgement.highlights, *row.judgement.highlights))
        bep = before.judgement.bep if before.judgement.bep is not None else row.judgement.bep
        found[row.key] = replace(before, judgement=replace(before.judgement, highlights=highlights, bep=bep))
    rows = list(found.values())
    digest = hashlib.sha256(text.removesuffix("\n").encode()).hexdigest()
    names = tuple(dict.fromkeys(row.key.assessor for row in rows))
    for name in names:
        register(store, Assessor(name, IMPORTED, f"{file} {digest[:16]}"), actor=actor)
    source = {"file": file, "sha256": digest}
    requests = []
    for row in rows:
        saved = store.judgement(row.key)
        if saved.judgement != row.judgement or saved.text_sha256 != row.document.sha256:
            edit = {"kind": "replace", "judgement": rules.as_dict(row.judgement), "source": source, "barrier": True}
            named = json.dumps([digest, *row.key, saved.version])
            token = f"import-{hashlib.sha256(named.encode()).hexdigest()[:40]}"
            requests.append(Request(row.key, row.document, edit, saved.version, actor, token))
    store.edit_all(requests)
    pooled, known = {row[:2] for row in pool(store)}, len(rows) - len(requests)
    outside = sum(row.key[1:] not in pooled for row in rows)
    return Imported(names, len(requests), known, sum(row.moved for row in rows), outside)


@dataclass(frozen=True)
class _Row:
    key: Key
    document: Document
    judgement: rules.Judgement
    moved: int
    at: Place
    is_element: bool


def _row(line: str, at: Place, assessor: str, document: Callable[[str], Document], topics: Container[str]) -> _Row:
    value = read_object(line, at)
    try:
        json_line(value)
        line.encode()
    except (ValueError, RecursionError) as error:  # half a character, which no file holds
        raise FormatError(f"expected a JSON object, found: {error}", at=at) from error
    try:
        name, topic, doc = assessor or value["assessor"], str(value["topic"]), value["doc"]
        given = [{"path": value["path"]}] if "path" in value and "spans" not in value else value["spans"]
    except KeyError as error:
        what = f"expected topic, doc, spans (or path) and assessor, found no {error}"
        remedy = "give the assessor's name with --assessor if the lines have none"
        raise FormatError(what, at=at, remedy=remedy) from error
    if not isinstance(given, list) or not isinstance(doc, str):
        raise FormatError(f"expected a document's name and a list of spans, found {doc!r} and {given!r}", at=at)
    if topic not in topics:
        raise FormatError(f"expected one of the project's topics, found {topic!r}", at=at)
    try:
        page = document(doc)
    except AssessError as error:
        raise FormatError(str(error), at=at) from error
    placed = [_place(span, page, at) for span in given]
    highlights = merge(span for span, _ in placed)
    bep = value.get("bep") if highlights else None
    if bep is not None and not (isinstance(bep, int) and 0 <= bep < len(page.text)):
        raise FormatError(f"expected an entry point inside the document, found {bep!r}", at=at)
    judgement = rules.Judgement(highlights, bep, rules.RELEVANT if highlights else rules.NOT_RELEVANT)
    moved = sum(moved for _, moved in placed)
    return _Row(Key(str(name), topic, page.id), page, judgement, moved, at, "spans" not in value)


def _place(span: Any, page: Document, at: Place) -> tuple[Span, bool]:
    """Return where a span stands, and whether its quote had to move it there."""
    if not isinstance(span, dict) or not isinstance(span.get("quote", ""), str):
        raise FormatError(f"expected a span with start and end, found {span!r}", at=at)
    if "path" in span:
        path = span["path"]
        row = page.row_of.get(path) if isinstance(path, str) else None
        if row is None:
            raise FormatError(f"expected an element of {page.id}, found {path!r}", at=at)
        element = page.elements[row]
        if element.start == element.end:
            raise FormatError(f"expected an element with text, found {path} without any in {page.id}", at=at)
        return (element.start, element.end), False
    quote, start, end = span.get("quote"), span.get("start", -1), span.get("end", -1)
    if not isinstance(start, int) or not isinstance(end, int):
        raise FormatError(f"expected whole numbers, found {start!r} and {end!r}", at=at)
    if not quote:
        if not 0 <= start < end <= len(page.text):
            raise FormatError(f"expected a span inside the {len(page.text)} characters, found {start}–{end}", at=at)
        return (start, end), False
    place, verdict = nearest(page.text, quote, max(start, 0))
    if place is None:
        where = "nowhere" if verdict == LOST else "in two nearest places"
        raise FormatError(f"the quote {quote[:40]!r} stands {where} in {page.id}", at=at)
    if start < 0 and page.text.count(quote) > 1:
        what = f"the quote {quote[:40]!r} stands in {page.id} more than once"
        raise FormatError(what, at=at, remedy="give its start")
    return (place, place + len(quote)), verdict == MOVED and start >= 0
