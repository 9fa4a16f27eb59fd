"""Assessments in XML, whatever the year: ``<assessments>`` of a topic with a ``<file>`` for every judged document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from focuseval.errors import FormatError
from focuseval.formats.xml import EventReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from focuseval.data.gold import Gold
    from focuseval.formats.judgements import Judgements
    from focuseval.formats.source import Source

T = TypeVar("T", bound="AssessmentReader")


@dataclass
class AssessmentReader(EventReader):
    """The state of one pass over one file: the topic, and the document that is open."""

    rows: Judgements
    code: int
    topic: str | None = None
    pair: tuple[int, int] | None = None

    REMEDY: ClassVar[str] = "correct the assessment"

    def open_topic(self, attributes: dict[str, str]) -> None:
        """Begin the judgements of a topic, maybe in a second file."""
        self.topic = self.need(attributes, "topic")
        self.rows.topic(self.topic)
        facts = {name: value for name, value in attributes.items() if name != "topic"}
        self.rows.attributes.setdefault(self.topic, {}).update(facts)

    def open_document(self, attributes: dict[str, str], usual: str, other: str) -> str:
        """Begin a judged document, whose name stands in one attribute or another; return its name."""
        if self.topic is None or self.pair is not None:
            raise self.error("expected <file> directly inside <assessments>, found it elsewhere")
        name = (attributes.get(usual) or self.need(attributes, other)).strip()
        self.pair = self.rows.judge(self.topic, name, self.at())
        return name


def read_each(sources: Sequence[Source], rows: Judgements, make: Callable[[Source, Judgements, int], T]) -> Iterator[T]:
    """Read every file into the same rows, and yield its reader; raise where no file has assessments."""
    for code, source in enumerate(sources):
        reader = make(source, rows, code)
        reader.read()
        yield reader
    if not rows.topics:
        raise FormatError(
            "expected <assessments topic=…>, found none", at=sources[0].name, remedy="is it a file of assessments?"
        )


def wrapped(gold: Gold, write_topic: Callable[[int, str], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield an ``<assessments>`` for the gold's topic, or one after another inside a wrapper for several."""
    many = len(gold.topics) != 1
    yield b"<inex-assessments>\n" if many else b""
    for code, topic in enumerate(gold.topics):
        yield from write_topic(code, topic)
        yield b"</assessments>\n"
    yield b"</inex-assessments>\n" if many else b""
