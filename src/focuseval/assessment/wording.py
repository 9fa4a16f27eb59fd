"""What assessors are told: the topics as they are worded, and the guidelines; every version is in the log.

The project has a copy of its topics. What was judged was judged for a topic as it read then. A topic that has
judgements may be worded anew, which the log records and the pages show, but it may not go. Guidelines are Markdown that
a lead writes and everybody reads.
"""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from focuseval.assessment.files import settle
from focuseval.assessment.plan import record
from focuseval.assessment.store import Store
from focuseval.data.fields import json_line, numbered_lines
from focuseval.data.topics import Topic
from focuseval.errors import AssessError
from focuseval.formats.embedded import read_questions

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
    found: dict[str, Rewording] = {}
    known: dict[str, Wording] = {}
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
    found: str = parser.render(text)
    return found
