"""A project is one folder: its database, its backups, its topics, and where its collection is.

::

    PROJECT/
      project.json     the collection's place, the scale that is judged on, and how the text of HTML is read
      topics.xml       a copy of the topics (topics.jsonl for questions)
      assess.db        judgements and the log of events
      backups/         copies of it, one at every start and more as time goes by
      before-restore/  what a restored backup took the place of
      secret           signs the session cookies; nobody else may read it

What assessors are told is in the log, every version of it: the topics as they are worded, and the guidelines, which are
Markdown that a lead writes and everybody reads. What was judged was judged for a topic as it read then. A topic that
has judgements may be worded anew, which the log records and the pages show, but it may not go.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from focuseval.assessment.database import restore_remedy
from focuseval.assessment.files import held, settle, write_private
from focuseval.assessment.plan import record
from focuseval.assessment.pool import Pool, add_pool, read_pool
from focuseval.assessment.rules import SCALES, scale_facts, scale_of
from focuseval.assessment.store import Store
from focuseval.collection.documents import open_documents
from focuseval.collection.index import Index
from focuseval.collection.rendering import DocumentCache
from focuseval.data.fields import json_line, numbered_lines
from focuseval.data.topics import Topic
from focuseval.errors import AssessError, StorageError
from focuseval.formats.embedded import read_questions

DATABASE = "assess.db"
IN_USE = "the project is in use"
_RESTORING = "a backup is being restored; try again"
_FIELDS = ("title", "nexi", "castitle", "description", "narrative", "keywords")
Wording = dict[str, str]
LONGEST, QUESTION = 200_000, 2_000  # characters of guidelines, and of a question
_LOCK = threading.Lock()  # two who save at once do not overwrite each other unseen
SETTINGS = {
    "snap": ("words", "characters", "sentences"),
    "pooled": ("hidden", "marked", "named"),
    "elements": ("all", "filtered"),
}
"""What a lead may choose, the default first: what a selection by the mouse is extended to, whether assessors see which
parts of a document the kept runs returned, or also which runs, and whether links, which INEX 2006 left out as too
small, are elements that are judged (see `focuseval.assessment.store.Store.offered`)."""


@dataclass(frozen=True)
class Project:
    """An open project."""

    folder: Path
    store: Store
    documents: DocumentCache
    topics: tuple[Topic, ...]
    held: ExitStack = field(default_factory=ExitStack, repr=False)  # what is let go when the project is closed

    @property
    def queries(self) -> dict[str, str]:
        """Topic → its title."""
        return {topic.id: topic.title for topic in self.topics if topic.title}

    def close(self) -> None:
        """Close the database, and let others restore it."""
        self.held.close()


def open_project(
    folder: str | Path,
    *,
    collection: str | None = None,
    index: Index | None = None,
    topics: str | None = None,
    pool: str | None = None,
    scale: str = "",
    elements: str | None = None,
    actor: str | None = None,
) -> Project:
    """Open a project, or begin one when the folder has none.

    Parameters
    ----------
    folder
        The project.
    collection
        An index or documents; needed to begin, later only when the collection has moved.
    index
        A collection that is open already, this once: the project goes on to know its own.
    topics, pool
        Files to begin with; later ones replace the topics and top the pool up.
    scale
        What a new project judges on, one of `focuseval.assessment.rules.SCALES`; highlights if not said.
    elements
        Which elements are judged from now on, ``all`` or ``filtered``, which leaves links out; as before if not said.
    actor
        Whose name stands in the log for a pool, and for the wording of topics; without it the wording is not logged.
    """
    place = Path(folder)
    settings = _settings(place, collection, topics, scale)
    if index is None:
        if not Path(settings["collection"]).exists():
            where = settings["collection"]
            raise AssessError(f"the collection is not at {where} any more; say with --index or --docs where it is")
        index = open_documents(settings["collection"], apart="html" in settings)
    documents = DocumentCache(index)
    with ExitStack() as opened:
        opened.enter_context(held(place, alone=False, refusal=f"{place}: {_RESTORING}"))
        store = _open_store(place, settings)
        opened.callback(store.close)
        known = take_topics(store, place, Path(topics) if topics else None, actor=actor)
        if pool:
            wanted = read_pool(pool)
            check_pool(wanted, {topic.id for topic in known}, documents, pool)
            add_pool(store, wanted, actor=actor or "focuseval")
        if elements not in (None, setting(store, "elements")):
            choose(store, "elements", str(elements), actor=actor or "focuseval")
        if collection:
            write_private(place / "project.json", f"{json.dumps(settings, indent=1)}\n".encode())
        return Project(place, store, documents, known, opened.pop_all())


@contextmanager
def open_judgements(folder: Path) -> Iterator[Store]:
    """Open a project's judgements alone, without its collection and topics; as `open_project`, not beside a restore."""
    with held(folder, alone=False, refusal=f"{folder}: {_RESTORING}"):
        settings = _read_settings(folder / "project.json")
        with closing(_open_store(folder, settings)) as store:
            yield store


def secret(folder: Path) -> bytes:
    """Return the key that signs the project's cookies; it stays the same, so that a restart logs nobody out."""
    place = folder / "secret"
    if not place.exists() or not place.stat().st_size:
        write_private(place, secrets.token_urlsafe(32).encode())
    return place.read_bytes()


def is_project(path: str | Path) -> bool:
    """Whether a folder holds assessments."""
    return (Path(path) / DATABASE).is_file()


def _settings(place: Path, collection: str | None, topics: str | None, scale: str) -> dict[str, Any]:
    file = place / "project.json"
    if not file.exists():
        if not collection or not topics:
            raise AssessError(f"{place}: a new project needs --index (or --docs), --topics and --pool")
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AssessError(f"{place}: expected a folder for the project, found: {error.strerror}") from error
        settings = {"focuseval": "project", "version": 1, **scale_facts(scale), "html": "words apart"}
    else:
        settings = _read_settings(file)
        if scale not in ("", begun := scale_of(settings)):
            raise AssessError(f"{place}: the project judges on the scale {begun}; begin another for {scale}")
    if collection:
        settings["collection"] = os.path.realpath(collection)
    return settings


def _open_store(place: Path, settings: dict[str, Any]) -> Store:
    """Open the database; of a project that was begun it must be there, and is not made anew."""
    path = place / DATABASE
    began = (place / "project.json").exists()
    if began and not (path.is_file() and path.stat().st_size):
        found = "an empty file" if path.is_file() else "nothing"
        raise StorageError(f"{path}: expected the project's judgements, found {found}; {restore_remedy(place)}")
    return Store(path, scale=scale_of(settings))


def _read_settings(file: Path) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = settings["focuseval"] == "project" and {"collection", "exhaustivity"} <= settings.keys()
        known = known and scale_of(settings) in SCALES
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AssessError(f"{file}: expected a project's settings, found: {error}") from error
    if not known:
        raise AssessError(f"{file}: expected a project's settings, found something else")
    return settings


def check_pool(wanted: Pool, topics: Collection[str], documents: DocumentCache, name: str) -> None:
    """Refuse a pool with topics or documents that the project does not know."""
    unknown = {entry.topic for entry in wanted.entries} - set(topics)
    if unknown:
        raise AssessError(f"{name}: the topics have no {min(unknown)!r}; check --topics")
    ids = [entry.document for entry in wanted.entries]
    missing = [name for name, row in zip(ids, documents.index.find(ids).tolist(), strict=True) if row < 0]
    if missing:
        raise AssessError(f"{name}: the collection has no document {missing[0]!r} ({len(missing)} are missing)")


@dataclass(frozen=True)
class Rewording:
    """A topic that reads otherwise than it did: since when, and how it read."""

    at: str
    before: Wording


def take_topics(store: Store, place: Path, source: Path | None, *, actor: str | None) -> tuple[Topic, ...]:
    """Return a project's topics, replaced by those of `source`, if any; with an actor, changed wording is logged."""
    old = _copies(place)
    if source is None and not old:
        raise AssessError(f"{place}: the project has no topics; give them with --topics")
    topics = read_questions(source or old[0])
    if source is not None:
        dropped = sorted({key.topic for key in store.judged()} - {topic.id for topic in topics})
        if dropped:
            what = f"expected the topic {dropped[0]!r}, for which documents are judged, found it gone"
            raise AssessError(f"{source}: {what} ({len(dropped)} such topics); keep it among the topics")
        _copy(source, place)
    if actor is not None:
        known: dict[str, Wording] = {}
        for _, edit in store.project_events("topics"):
            known |= edit["topics"]
        worded = {topic.id: {name: text for name in _FIELDS if (text := getattr(topic, name))} for topic in topics}
        fresh = {topic: wording for topic, wording in worded.items() if known.get(topic) != wording}
        if fresh:
            record(store, {"kind": "topics", "topics": fresh}, actor=actor)
    return topics


def drafted_topics(store: Store) -> set[str]:
    """Return the topics whose questions a language model wrote."""
    return {topic for _, edit in store.project_events("drafts") for topic in edit["topics"]}


def word_question(store: Store, place: Path, topic: str, text: str, *, actor: str) -> Topic:
    """Write a drafted question anew, in the project's copy of its drafts and in the log; return the topic."""
    text, copy = " ".join(text.split()), place / "topics.jsonl"
    if topic not in drafted_topics(store) or not copy.is_file():
        raise AssessError(f"the question of topic {topic} was not drafted; change it in the file of the topics")
    if not 0 < len(text) <= QUESTION:
        raise AssessError(f"expected a question of at most {QUESTION:,} characters, found {len(text):,}")
    with _LOCK:
        lines = [json.loads(line) for _, line in numbered_lines(copy.read_text(encoding="utf-8"))]
        lines = [line | ({"query": text} if line.get("id") == topic else {}) for line in lines]
        partial = place / "topics.partial"
        partial.write_bytes(b"".join(map(json_line, lines)))
        settle(partial, copy)
        topics = take_topics(store, place, None, actor=actor)
    return next(one for one in topics if one.id == topic)


def rewordings(store: Store) -> dict[str, Rewording]:
    """Return the topics that read otherwise than before, each with its last change."""
    found, known = dict[str, Rewording](), dict[str, Wording]()
    for at, edit in store.project_events("topics"):
        for topic, wording in edit["topics"].items():
            if known.get(topic, wording) != wording:
                found[topic] = Rewording(at, known[topic])
            known[topic] = wording
    return found


def _copies(place: Path) -> list[Path]:
    return sorted(path for path in place.glob("topics*") if path.suffix != ".partial")


def topic_files(place: Path) -> list[tuple[str, Path]]:
    """Return the files of a project's topics, each with its name below the project."""
    found = [file for path in _copies(place) for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return [(file.relative_to(place).as_posix(), file) for file in found if file.is_file()]


def _copy(source: Path, place: Path) -> None:
    """Copy the topics into the project, then remove the older copy; the project's own copy may be the source."""
    target = place / ("topics" if source.is_dir() else f"topics{source.suffix}")
    if source.resolve() != target.resolve():
        partial = place / "topics.partial"
        if source.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(source, partial)
            shutil.rmtree(target, ignore_errors=True)
            partial.replace(target)
        else:
            shutil.copyfile(source, partial)
            settle(partial, target)
    for old in _copies(place):
        if old != target:
            shutil.rmtree(old) if old.is_dir() else old.unlink()


@dataclass(frozen=True)
class Guidelines:
    """The guidelines as they stand; version 0 where none were written."""

    text: str = ""
    version: int = 0
    at: str = ""
    by: str = ""


def guidelines(store: Store) -> Guidelines:
    """Return the newest guidelines."""
    versions = store.project_log("guidelines")
    if not versions:
        return Guidelines()
    at, actor, edit = versions[-1]
    return Guidelines(edit["text"], len(versions), at, actor)


def write_guidelines(store: Store, text: str, *, version: int, actor: str) -> Guidelines:
    """Write new guidelines over the version that the writer saw."""
    if len(text) > LONGEST:
        raise AssessError(f"expected guidelines of at most {LONGEST:,} characters, found {len(text):,}")
    with _LOCK:
        before = guidelines(store)
        if before.version != version:
            raise AssessError(f"{before.by} changed the guidelines in the meantime; look at them and write yours again")
        if text != before.text:
            record(store, {"kind": "guidelines", "text": text}, actor=actor)
        return guidelines(store)


def setting(store: Store, name: str) -> str:
    """Return what a project has chosen of one of `SETTINGS`, else the default."""
    chosen = store.project_events(name)
    return str(chosen[-1][1]["to"]) if chosen else SETTINGS[name][0]


def choose(store: Store, name: str, value: str, *, actor: str) -> None:
    """Choose one of `SETTINGS`; the choice is an event."""
    if value not in SETTINGS.get(name, ()):
        raise AssessError(f"expected {' or '.join(SETTINGS.get(name, SETTINGS))}, found {value!r}")
    record(store, {"kind": name, "to": value}, actor=actor)


def render_markdown(text: str) -> str:
    """Return CommonMark with tables as HTML; markup in it is shown, not obeyed, and links lead to the web or a mailbox.

    >>> print(render_markdown("*Do* <script>"), end="")
    <p><em>Do</em> &lt;script&gt;</p>
    """
    from markdown_it import MarkdownIt  # noqa: PLC0415  most commands show no Markdown

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return str(parser.render(text))
