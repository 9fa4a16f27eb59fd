"""XML with expat: nothing is ever fetched or expanded, and what is malformed is named by line and column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from focuseval.formats.source import Source

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def parse(source: Source, handlers: Mapping[str, Callable[..., Any]] | None = None) -> None:
    """Run expat over a file with the given handlers (``StartElementHandler`` …); without any, check well-formedness."""
    run_parser(source, safe_parser(source, handlers))


def run_parser(source: Source, parser: Any) -> None:
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


def safe_parser(source: Source, handlers: Mapping[str, Callable[..., Any]] | None = None) -> Any:
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
    bad = _ILLEGAL.search(value)
    if bad:
        raise FormatError(
            f"expected text that XML can hold, found the character U+{ord(bad[0]):04X} in {value[:40]!r}",
            remedy="write a format that can hold it, such as JSONL",
        )
    return value
