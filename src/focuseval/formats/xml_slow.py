"""INEX runs in XML by expat events: any well-formed file, any order of children, with the line of every result."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from focuseval.errors import FormatError
from focuseval.formats.numbers import checked, no_number, number
from focuseval.formats.xml import EventReader

if TYPE_CHECKING:
    from focuseval.formats.source import Source

_OFFSET = re.compile(r"[0-9]{1,9}")
_UNKNOWN = frozenset({"-1", "X", "x"})
_TEXTS = frozenset({"file", "path", "rank", "rsv", "in", "description", "collection"})
_RANKED = ("document", "path", "rank", "score", "start", "end", "end_path", "in", "line")


@dataclass
class Submission:
    """A submission as it is read: lists of raw columns, None where a result does not say."""

    attributes: dict[str, str] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    topic: Any = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=lambda: {name: [] for name in _RANKED})
    faults: list[FormatError] = field(default_factory=list)
    """Scores that are no finite numbers."""


@dataclass
class SubmissionReader(EventReader):
    """The state of one pass: where we are, and the result being read."""

    run: Submission = field(default_factory=Submission)
    open_topic: int | None = None
    result: dict[str, Any] | None = None
    text: list[str] | None = None
    collections: list[str] = field(default_factory=list)

    REMEDY: ClassVar[str] = "correct the result"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a start tag."""
        if name == "inex-submission":
            self.run.attributes.update(attributes)
        elif name == "topic-fields":
            self.run.attributes.update({f"topic-fields.{key}": value for key, value in attributes.items()})
        elif name == "topic":
            topic = self.need(attributes, "topic-id", name)
            self.open_topic = self.run.topics.setdefault(topic, len(self.run.topics))
            said = {f"topic[{topic}].{key}": value for key, value in attributes.items() if key != "topic-id"}
            self.run.attributes.update(said)
        elif name == "result":
            if self.open_topic is None:
                raise self.error("expected <result> inside <topic>, found it outside")
            self.result = {"line": self.parser.CurrentLineNumber}
        elif name == "fol":
            self.place(name, self.span(attributes))
        elif name == "passage":
            self.place(
                name, {"path": self.need(attributes, "start", name), "end_path": self.need(attributes, "end", name)}
            )
        self.text = [] if name in _TEXTS else None

    def end(self, name: str) -> None:
        """Take in an end tag."""
        value = "".join(self.text).strip() if self.text is not None else ""
        self.text = None
        if name == "topic":
            self.open_topic = None
        elif name == "result" and self.result is not None:
            self.close()
        elif name in _TEXTS and self.result is not None:
            self.say(name, value)
        elif name == "description":
            self.run.attributes.setdefault("description", value)
        elif name == "collection" and value not in self.collections:
            self.collections.append(value)

    def characters(self, data: str) -> None:
        """Take in text."""
        if self.text is not None:
            self.text.append(data)

    def say(self, name: str, value: str) -> None:
        """Take in one fact about the open result."""
        line = self.parser.CurrentLineNumber
        if name == "path":
            self.place(name, {"path": value})
        elif name == "rank":
            self.put(name, "rank", checked(self.source, line, "rank", "rank", value))
        elif name == "rsv":
            self.put(name, "score", self.score(line, value))
        elif name == "file":
            self.put(name, "document", value)
        elif name == "in":
            self.put(name, "in", value)

    def score(self, line: int, text: str) -> float:
        """Return a score; one that is no finite number is a fault."""
        value = number(text, "real")
        if value is None or not math.isfinite(value):
            error = FormatError(no_number("rsv", "real", text), at=self.source.at(line), remedy="correct the line")
            if value is None:
                raise error
            self.run.faults.append(error)
        return value

    def put(self, element: str, column: str, value: Any) -> None:
        """Set a value that a result says once."""
        if self.result is None:
            raise self.error(f"expected <{element}> inside <result>, found it outside")
        if column in self.result:
            raise self.error(f"expected one <{element}> in a result, found two")
        self.result[column] = value

    def place(self, element: str, values: dict[str, Any]) -> None:
        """Set the place of the open result."""
        if self.result is not None and {"path", "start"} & self.result.keys():
            raise self.error(f"expected one place in a result, found <{element}> besides another")
        for column, value in values.items():
            self.put(element, column, value)

    def span(self, attributes: dict[str, str]) -> dict[str, int]:
        """Return the span of a <fol>; without a length it is an entry point, at −1 or X it is unknown."""
        offset, length = self.need(attributes, "offset", "fol"), attributes.get("length")
        if offset in _UNKNOWN:
            return {"start": -1, "end": -1}
        for value in (offset, length or "0"):
            if not _OFFSET.fullmatch(value.strip()):
                raise self.error(f"expected an offset and a length that are not negative, found {value!r}")
        start = int(offset)
        return {"start": start, "end": -1 if length is None else start + int(length)}

    def close(self) -> None:
        """File the open result among the columns."""
        result = self.result or {}
        if not result.get("document"):
            raise self.error("expected a <file> in the result, found none")
        self.run.topic.append(self.open_topic)
        for name, column in self.run.columns.items():
            column.append(result.get(name))
        self.result = None


def read(source: Source) -> Submission:
    """Return what a submission says, in file order."""
    reader = SubmissionReader(source)
    try:
        reader.read()
    except FormatError as error:
        raise (reader.run.faults or [error])[0] from None
    if reader.collections:
        reader.run.attributes["collections"] = "\n".join(reader.collections)
    return reader.run
