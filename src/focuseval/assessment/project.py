"""A project is one folder: its database, its backups, its topics, and where its collection is.

::

    PROJECT/
      project.json     the collection's place, the scale that is judged on, and how the text of HTML is read
      topics.xml       a copy of the topics (topics.jsonl for questions)
      assess.db        judgements and the log of events
      backups/         copies of it, one at every start and more as time goes by
      before-restore/  what a restored backup took the place of
      secret           signs the session cookies; nobody else may read it
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from focuseval.assessment.database import restore_remedy
from focuseval.assessment.files import held, write_private
from focuseval.assessment.pool import Pool, add_pool, read_pool
from focuseval.assessment.rules import SCALES, scale_facts, scale_of
from focuseval.assessment.store import Store
from focuseval.assessment.wording import choose, setting, take_topics
from focuseval.collection.documents import open_documents
from focuseval.collection.index import Index
from focuseval.collection.rendering import DocumentCache
from focuseval.data.topics import Topic
from focuseval.errors import AssessError, StorageError

DATABASE = "assess.db"
IN_USE = "the project is in use"
_RESTORING = "a backup is being restored; try again"


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
