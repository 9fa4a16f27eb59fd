r"""Text as people see it: one form for what differs only in white space or in Unicode's spelling, or by markup.

The normal form is the compatibility decomposition (NFKD), with every run of white space as one blank, typographic
quotes and dashes as their plain sisters, and invisible characters (soft hyphen, zero-width space, byte-order mark)
left out. Every character of it knows the code point it came from, so that a place found here is a place there.

People and models quote what they see. Of a text in Markdown that is its text without emphasis, code marks, the
addresses of links, images, heading marks, list marks, the pipes and rules of tables, fences, and inline tags; and with
the characters that entities (``&amp;``) and escapes (``\*``) stand for. The rendered form is the normal form of what is
left. A text and a document are both rendered before they are compared, so that it does not matter which of them has the
marks; and only texts that are found in no other way are looked for like this, so that nothing else moves. Where even
that is not found, and the text is not short, blanks make no difference, either. A star or underscore between two word
characters (``2*3``, ``snake_case``) or between two blanks is no mark.

Positions counted in UTF-8 bytes or in UTF-16 code units become code points here, too; one inside a character is never
rounded.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from focuseval.collection.boundaries import code_points
from focuseval.data.spans import spread

_UNICODE = 0x110000
_SISTERS = str.maketrans("‘’‚‛“”„‟«»′″‐‑‒–—―−", "''''" + '""""""' + "'\"" + "-------")
_PAIRS = tuple((chr(sister), chr(plain)) for sister, plain in _SISTERS.items())
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_BLANK = 0x20
_WHITE = tuple(white for white in map(chr, range(0x3001)) if white.isspace() and white != " ")
"""Unicode's white space, but the blank; none of it stands beyond."""


@dataclass(frozen=True, eq=False)
class Normalised:
    r"""A normal form and, for each of its characters, the code point of the original that it came from.

    >>> form = normalise("a\u00a0\r\n“é”")
    >>> form.text == 'a "e\u0301"', form.source.tolist()
    (True, [0, 1, 4, 5, 5, 6])
    """

    text: str
    source: NDArray[np.int64]  # non-decreasing positions in the original, one for each character of `text`
    inside: NDArray[np.bool_]
    """Whether a cut before this character would fall inside a character of the original, or before a mark."""
    until: NDArray[np.int64] | None = None
    """Where in the original each character ends; None where that is one place behind its `source`."""

    def original(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span of the original behind a span of this text, None when it would cut a character in two."""
        if start >= end or self.inside[start] or (end < len(self.inside) and self.inside[end]):
            return None
        return int(self.source[start]), int(self.source[end - 1] + 1 if self.until is None else self.until[end - 1])


@lru_cache(maxsize=1 << 16)
def _expand(code: int) -> tuple[tuple[int, int], ...]:
    """Return what one code point becomes: pairs of code point and canonical combining class."""
    character = chr(code)
    if character in _INVISIBLE:
        return ()
    form = unicodedata.normalize("NFKD", " " if character.isspace() else character).translate(_SISTERS)
    return tuple((_BLANK if c.isspace() else ord(c), unicodedata.combining(c)) for c in form)


def normal_form(text: str) -> str:
    r"""Return a text's normal form alone: what `normalise` gives, without the way back.

    >>> normal_form(" “ﬁve”\u00a0–\r\n six ")
    '"five" - six'
    """
    if not text.isascii():  # a search for each of some characters is faster than a look at every one, here and below
        for invisible in _INVISIBLE:
            text = text.replace(invisible, "")
        text = unicodedata.normalize("NFKD", text)
        for sister, plain in _PAIRS:
            text = text.replace(sister, plain)
    for white in _WHITE:
        text = text.replace(white, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")


def longer_than(text: str, most: int) -> bool:
    """Say whether a text's normal form is longer than `most` characters, after as much of it as is needed to know.

    >>> longer_than("a  b c", 4), longer_than("a  b c", 5), longer_than(" " * 9 + "a", 5)
    (True, False, False)
    """
    size = max(2 * most, 1024)
    while size < len(text):
        if len(normal_form(text[:size])) > most:
            return True
        size *= 3
    return len(normal_form(text)) > most


def normalise(text: str) -> Normalised:
    """Return a text's normal form, blanks at both ends removed."""
    if not text:
        return Normalised("", np.zeros(0, np.int64), np.zeros(0, np.bool_))
    codes, mark, source = _decompose(code_points(text))
    blank = codes == _BLANK
    keep = ~(blank & np.r_[True, blank[:-1]])
    if len(keep) and blank[-1]:
        keep[np.flatnonzero(keep & blank)[-1:]] = False
    codes, mark, source = codes[keep], mark[keep], source[keep]
    inside = np.r_[False, source[1:] == source[:-1]][: len(source)] | (mark > 0)
    if ((mark[1:] > 0) & (mark[:-1] > 0)).any():  # the marks of each base character go into canonical order
        codes = codes[np.lexsort((mark, np.cumsum(mark == 0)))]
    return Normalised(codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"), source, inside)


def _decompose(codes: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint8], NDArray[np.int64]]:
    """Replace every code point by its expansion: code points, combining classes, positions they come from."""
    if len(codes) < _UNICODE // 8:
        distinct, row = np.unique(codes, return_inverse=True)
    else:  # the same without sorting a long text
        present = np.zeros(_UNICODE, np.bool_)
        present[codes] = True
        distinct, row = np.flatnonzero(present).astype(np.uint32), (np.cumsum(present) - 1)[codes]
    forms = [_expand(int(code)) for code in distinct]
    size = np.array([len(form) for form in forms])
    pairs = np.array([pair for form in forms for pair in form], np.uint32).reshape(-1, 2)
    first, source = np.cumsum(size) - size, np.arange(len(codes))
    if (size == 1).all():
        at = first[row]
    else:
        at, source = spread(first[row], size[row]), np.repeat(source, size[row])
    return pairs[at, 0], pairs[at, 1].astype(np.uint8), source


SQUEEZED = 20  # characters, without blanks, of a text in which blanks make no difference

_MARKUP = re.compile(
    r"""
      (?P<fence>^[ \t]*(?:```|~~~)[^\n]*$)
    | (?P<rule>^[ \t]*(?:\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?|={2,})[ \t]*$)
    | (?P<reference>^[ ]{0,3}\[[^\]\n]+\]:[ \t]*\S[^\n]*$)
    | (?P<begin>^(?:[ \t]*(?:>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|[0-9]{1,3}[.)][ \t]+|\#{1,6}[ \t]+))+)
    | (?P<image>!\[[^\[\]]*\]\([^()\n]*\))
    | (?P<note>\[\^[^\]\n]{1,40}\])
    | (?P<open>\[(?=!\[|[^\[\]]{1,300}\][(\[]))
    | (?P<close>\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\[\]\n]*\]))
    | (?P<address><(?:https?://|mailto:)[^<>\s]+>)
    | (?P<comment><!--.*?-->)
    | (?P<apart></?(?:br|p|div|li|ul|ol|dl|dt|dd|h[1-6]|hr|table|thead|tbody|tr|td|th)\b[^<>\n]{0,200}>)
    | (?P<tag></?[A-Za-z][^<>\n]{0,200}>)
    | (?P<code>`+)
    | (?P<mark>\*{1,3}|_{1,3}|~~)
    | (?P<pipe>\|)
    | (?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | (?P<escape>\\[!-/:-@\[-`{-~])
    """,
    re.MULTILINE | re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


def rendered(text: str, *, numbers: bool = False) -> Normalised:
    r"""Return a text's rendered form, which is its normal form where it has no marks.

    With `numbers` those before lines stay: in a list they are marks, in a heading they are text.

    >>> form = rendered("These are **connect** &amp; [read](x.md), see\n| `a` | 2*3 |")
    >>> form.text, form.original(10, 24)
    ('These are connect & read, see a 2*3', (12, 33))
    """
    at, segments = 0, list[tuple[str, int, int, bool]]()  # what is seen, from where to where, letter by letter or not
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        put, kept = _shown(text, match)
        if numbers and match.lastgroup == "begin":
            put = " ".join([*re.findall(r"[0-9]+[.)]", match[0]), ""])
        if put is not None:
            segments += ((text[at:start], at, start, True), (put, start + kept, end - kept, bool(kept)))
            at = end
    if not segments:
        return normalise(text)
    segments.append((text[at:], at, len(text), True))
    sizes = np.array([len(put) for put, *_ in segments])
    first, last, plain = (np.repeat(np.array([segment[i] for segment in segments]), sizes) for i in (1, 2, 3))
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    source = np.where(plain, first + within, first)
    until = np.where(plain, source + 1, last)
    form = normalise("".join(put for put, *_ in segments))
    source, until = source[form.source], until[form.source]
    inside = form.inside | np.r_[False, source[1:] == source[:-1]][: len(source)]
    return replace(form, source=source, inside=inside, until=until)


def squeezed(text: str) -> Normalised:
    """Return a text's rendered form without blanks: programs that take the text of HTML put them at other places.

    >>> squeezed("2. Page 1alpha , **beta**").text
    '2.Page1alpha,beta'
    """
    form = rendered(text, numbers=True)
    kept = code_points(form.text) != _BLANK
    until = None if form.until is None else form.until[kept]
    return Normalised(form.text.replace(" ", ""), form.source[kept], form.inside[kept], until)


def squeezed_form(text: str, least: int = SQUEEZED) -> str:
    """Return a text's rendered form without blanks; nothing for a short one, whose words may be others."""
    form = rendered(text, numbers=True).text.replace(" ", "")
    return form if len(form) >= least else ""


def _shown(text: str, match: re.Match[str]) -> tuple[str | None, int]:
    """Return what is seen in place of a mark, None for no mark; and how many characters around it are not seen."""
    kind, found, (start, end) = match.lastgroup, match[0], match.span()
    if kind == "escape":  # a mark that is seen: who quotes it without the escape has what looks like a mark
        kind = {"*": "mark", "_": "mark", "~": "mark", "`": "code", "|": "pipe"}.get(found[1], kind)
    if kind == "address":
        return found[1:-1], 1
    if kind == "entity":
        put = unescape(found)
        return (None if put == found else put), 0
    if kind == "escape":
        return found[1], 0
    none = None if len(found) == 1 or found[0] != "\\" else found[1]
    before, after = text[start - 1 : start], text[end : end + 1]
    if kind == "mark":
        words = bool(re.match(r"[^\W_]", before)) and bool(re.match(r"[^\W_]", after))
        return (none if words or not (before.strip() or after.strip()) else ""), 0
    if kind == "pipe":
        line = text.rfind("\n", 0, start) + 1
        apart = not (before.strip() and after.strip()) or text[line:start].lstrip().startswith("|")
        return (" " if apart else none), 0
    return (" " if kind == "apart" else ""), 0


def rendered_form(text: str) -> str:
    """Return a text's rendered form alone.

    >>> rendered_form("## The `timeout` of **connect**"), rendered_form("snake_case and 2 * 3")
    ('The timeout of connect', 'snake_case and 2 * 3')
    """
    return rendered(text).text if _MARKUP.search(text) else normal_form(text)


_SIZES = np.array([0x80, 0x800, 0x10000])


def from_bytes(text: str, positions: ArrayLike) -> NDArray[np.int64]:
    """Return the code point at every byte position, −1 where it is inside a character or beyond the text.

    >>> from_bytes("aé€b", [0, 1, 3, 6, 7, 2, 9]).tolist()
    [0, 1, 2, 3, 4, -1, -1]
    """
    wanted = np.asarray(positions, np.int64)
    if text.isascii():
        return np.where((wanted >= 0) & (wanted <= len(text)), wanted, -1)
    return _characters_at(1 + np.searchsorted(_SIZES, code_points(text), "right"), wanted)


def from_utf16(text: str, positions: ArrayLike) -> NDArray[np.int64]:
    """Return the code point at every position in UTF-16 code units (JavaScript, Java), −1 inside a pair or beyond.

    >>> from_utf16("a😀b", [0, 1, 3, 4, 2]).tolist()
    [0, 1, 2, 3, -1]
    """
    return _characters_at(np.where(code_points(text) >= _SIZES[2], 2, 1), positions)


def _characters_at(sizes: NDArray[np.integer], positions: ArrayLike) -> NDArray[np.int64]:
    """Return which character begins at every position, given the characters' sizes."""
    wanted = np.asarray(positions, np.int64)
    begins = np.r_[0, np.cumsum(sizes)]
    found = np.searchsorted(begins, wanted)
    return np.where(begins[np.minimum(found, len(begins) - 1)] == wanted, found, -1)
