"""XML with expat: nothing is ever fetched or expanded, and what is malformed is named by line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from xml.parsers import expat

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from focuseval.errors import Place
    from focuseval.formats.source import Source

_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Compiled when something is written: it takes longer than reading a small run."""
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def parse(source: Source, handlers: Mapping[str, Callable[..., Any]] | None = None) -> None:
    """Run expat over a file with the given handlers (``StartElementHandler`` …); without any, check well-formedness."""
    run_parser(source, safe_parser(source, handlers))


def run_parser(source: Source, parser: expat.XMLParserType) -> None:
    """Feed a whole file to a parser made by `safe_parser`."""
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"expected well-formed XML, found: {expat.ErrorString(error.code)}",
            at=source.at(error.lineno, error.offset + 1),
            remedy="mend the file at this place",
        ) from error
    except (ValueError, LookupError) as error:  # a declared encoding that nobody knows, or of several bytes
        raise FormatError(
            f"expected an encoding that can be read, found: {error}", at=source.at(1), remedy="save the file as UTF-8"
        ) from error


def safe_parser(source: Source, handlers: Mapping[str, Callable[..., Any]] | None = None) -> expat.XMLParserType:
    """Return a parser that refuses entity declarations, and references to entities it cannot know."""
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse_declaration(name: str, *_: object) -> None:
        raise FormatError(
            f"expected no entity declarations, found one of {name!r}",
            at=source.at(parser.CurrentLineNumber),
            remedy="write the characters themselves",
        )

    def refuse_reference(name: str, *_: object) -> None:
        raise FormatError(
            f"expected characters, found the undeclared entity &{name};",
            at=source.at(parser.CurrentLineNumber),
            remedy="write the character itself",
        )

    parser.EntityDeclHandler = refuse_declaration
    parser.SkippedEntityHandler = refuse_reference
    for name, handler in (handlers or {}).items():
        setattr(parser, name, handler)
    return parser


_HANDLERS = {
    "StartElementHandler": "start",
    "EndElementHandler": "end",
    "CharacterDataHandler": "characters",
    "XmlDeclHandler": "declaration",
}
"""The methods of a reader that expat calls."""


@dataclass
class EventReader:
    """One pass over a file by expat events; a subclass takes in tags (`start`, `end`) and maybe text (`characters`)."""

    source: Source
    parser: expat.XMLParserType = field(init=False, repr=False)

    REMEDY: ClassVar[str] = "correct the file"

    def __post_init__(self) -> None:
        """Make the parser."""
        handlers = {handler: getattr(self, name, None) for handler, name in _HANDLERS.items()}
        self.parser = safe_parser(self.source, {name: handler for name, handler in handlers.items() if handler})

    def read(self) -> None:
        """Read the whole file."""
        run_parser(self.source, self.parser)

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

    def error(self, what: str) -> FormatError:
        """Return an error at the current line."""
        return FormatError(what, at=self.at(), remedy=self.REMEDY)


def text(value: str) -> str:
    """Return character data; a character that XML cannot hold is refused.

    >>> text("R&D <x>")
    'R&amp;D &lt;x&gt;'
    """
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
        raise FormatError(
            f"expected text that XML can hold, found the character U+{ord(bad[0]):04X} in {value[:40]!r}",
            remedy="write a format that can hold it, such as JSONL",
        )
    return value
