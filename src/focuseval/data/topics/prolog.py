"""Make any topic file of any year one well-formed document: decode it, and blank what precedes or divides its topics.

Files are found with one root, several, or none; joined from many files, each with its own XML declaration; and with a
DOCTYPE whose internal subset redeclares ``lt``, ``gt`` and ``amp`` as words. Declarations and DOCTYPEs are replaced by
blanks of the same shape, so no declaration is trusted, nothing outside is ever fetched, and places stay exact.
"""

from __future__ import annotations

import codecs
import html
import re

from focuseval.errors import FormatError, Place

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))

_PIECE = re.compile(
    r"""
    (?P<keep> <!--.*?(?:-->|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) )
    | <\?xml\s.*?(?:\?>|\Z)
    | <!DOCTYPE (?>[^\[>"'] | "[^"]*" | '[^']*')*+
      (?: \[ (?P<subset> (?> <!--.*?--> | <\?.*?\?> | "[^"]*" | '[^']*' | [^\]"'] )*+ ) \] \s* )? (?:>|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.:-]+)\s+(?:"([^"&<%]*)"|'([^'&<%]*)')\s*>""")
_NOT_BLANK = re.compile(r"[^\n]")


def decode(data: bytes, file: str) -> str:
    """Return a topic file's text by its byte order mark, its declared encoding, or UTF-8."""
    declared = _DECLARED.match(data)
    name = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    name = name or (declared[1].decode() if declared else "utf-8")
    try:
        return data.decode(name).replace("\r\n", "\n").replace("\r", "\n")
    except LookupError:
        raise FormatError(
            f"expected an encoding that exists, found {name!r}",
            at=Place(file, 1),
            remedy="declare the encoding that the file is written in",
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = f"byte 0x{data[error.start]:02x}" if error.start < len(data) else "the end"
        remedy = "declare the file's encoding in <?xml version='1.0' encoding='…'?>"
        raise FormatError(f"expected {name} text, found {found}", at=Place(file, line), remedy=remedy) from None


def without_prolog(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with its declarations blanked, and the harmless entities that they declared.

    A declared entity counts when its value is plain text and XML does not define it; ``lt``, ``gt``, ``amp``,
    ``quot`` and ``apos`` always mean what XML says.

    >>> without_prolog('<!DOCTYPE t [<!ENTITY lt "less"> <!ENTITY x "INEX">]><t>&lt;</t>')[1]
    {'x': 'INEX'}
    """
    entities: dict[str, str] = {}

    def blank(piece: re.Match[str]) -> str:
        if piece["keep"]:
            return piece[0]
        for name, double, single in _ENTITY.findall(piece["subset"] or ""):
            entities[name] = double or single
        return _NOT_BLANK.sub(" ", piece[0])

    body = _PIECE.sub(blank, text)
    return body, {name: value for name, value in entities.items() if name not in _PREDEFINED}


_PREDEFINED = frozenset(("lt", "gt", "amp", "quot", "apos"))


def entity_text(name: str, declared: dict[str, str]) -> str | None:
    """Return what an entity stands for: declared in the file, or one of HTML's; None if neither knows it."""
    if name in declared:
        return declared[name]
    known = html.unescape(f"&{name};")
    return None if known.startswith("&") and known.endswith(";") and len(known) > 1 else known
