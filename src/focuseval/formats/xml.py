"""XML with expat: nothing is ever fetched or expanded, and what is malformed is named by line and column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from xml.parsers import expat

from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source

_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Compiled when something is written: it takes longer than reading a small run."""
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
_HANDLERS = {
    "StartElementHandler": "start",
    "EndElementHandler": "end",
    "CharacterDataHandler": "characters",
    "XmlDeclHandler": "declaration",
    "EntityDeclHandler": "refuse_declaration",
    "SkippedEntityHandler": "refuse_reference",
}
"""The methods of a reader that expat calls, where there are such."""


@dataclass
class EventReader:
    """One pass over a file by expat events; a subclass takes in tags (`start`, `end`) and maybe text (`characters`).

    Entity declarations are refused, and references to entities that nobody can know.
    """

    source: Source
    parser: expat.XMLParserType = field(init=False, repr=False)

    REMEDY: ClassVar[str] = "correct the file"

    def __post_init__(self) -> None:
        """Make the parser."""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        for handler, name in _HANDLERS.items():
            if hasattr(self, name):
                setattr(self.parser, handler, getattr(self, name))

    def read(self) -> None:
        """Read the whole file; without methods that take anything in, see whether it is well-formed."""
        try:
            self.parser.Parse(self.source.data, True)
        except expat.ExpatError as error:
            what, at = expat.ErrorString(error.code), self.source.at(error.lineno, error.offset + 1)
            remedy = "mend the file at this place"
            raise FormatError(f"expected well-formed XML, found: {what}", at=at, remedy=remedy) from error
        except (ValueError, LookupError) as error:  # a declared encoding that nobody knows, or of several bytes
            what = f"expected an encoding that can be read, found: {error}"
            raise FormatError(what, at=self.source.at(1), remedy="save the file as UTF-8") from error

    def refuse_declaration(self, name: str, *_: object) -> None:
        """Refuse to declare an entity."""
        raise self.error(f"expected no entity declarations, found one of {name!r}", "write the characters themselves")

    def refuse_reference(self, name: str, *_: object) -> None:
        """Refuse an entity that was not declared."""
        raise self.error(f"expected characters, found the undeclared entity &{name};", "write the character itself")

    def need(self, attributes: Mapping[str, str], name: str, element: str = "") -> str:
        """Return an attribute that must be there."""
        value = attributes.get(name, "").strip()
        if not value:
            where = f" of <{element}>" if element else ""
            raise self.error(f"expected the attribute {name!r}{where}, found none")
        return value

    def at(self) -> Place:
        """Return where the parser is."""
        return self.source.at(self.parser.CurrentLineNumber)

    def error(self, what: str, remedy: str | None = None) -> FormatError:
        """Return an error at the current line."""
        return FormatError(what, at=self.at(), remedy=remedy or self.REMEDY)


def text(value: str) -> str:
    """Return character data; a character that XML cannot hold is refused.

    >>> text("R&D <x>")
    'R&amp;D &lt;x&gt;'
    """
    if value.isascii() and value.isprintable() and not ("&" in value or "<" in value or ">" in value):
        return value  # nearly all: ids and paths
    return _legal(value).translate(_TEXT)


def attributes(values: Mapping[str, object]) -> str:
    """Return attributes with a blank before each; None leaves one out.

    >>> attributes({"topic": "1", "pool": None, "name": 'a"b'})
    ' topic="1" name="a&quot;b"'
    """
    return "".join(
        f' {name}="{_legal(str(value)).translate(_VALUE)}"' for name, value in values.items() if value is not None
    )


def _legal(value: str) -> str:
    bad = re.search(_ILLEGAL, value)
    if bad:
        what = f"expected text that XML can hold, found the character U+{ord(bad[0]):04X} in {value[:40]!r}"
        raise FormatError(what, remedy="write a format that can hold it, such as JSONL")
    return value
