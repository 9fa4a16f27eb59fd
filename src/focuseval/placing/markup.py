r"""Text as it is rendered: Markdown and HTML's entities without their marks, with the way back to every code point.

People and models quote what they see. Of a text in Markdown that is its text without emphasis, code marks, the
addresses of links, images, heading marks, list marks, the pipes and rules of tables, fences, and inline tags; and with
the characters that entities (``&amp;``) and escapes (``\*``) stand for. The rendered form is the normal form of what is
left. A text and a document are both rendered before they are compared, so that it does not matter which of them has the
marks; and only texts that are found in no other way are looked for like this, so that nothing else moves.

Where even that is not found, and the text is not short, blanks make no difference, either.

A star or underscore between two word characters (``2*3``, ``snake_case``) or between two blanks is no mark.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import numpy as np

from focuseval.placing.normalise import Normalised, normal_form, normalise

SQUEEZED = 20
"""Characters, without blanks, of a text in which blanks make no difference."""

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
    kept = np.array([character != " " for character in form.text], np.bool_)
    columns = {name: getattr(form, name)[kept] for name in ("source", "inside")}
    until = None if form.until is None else form.until[kept]
    return replace(form, text=form.text.replace(" ", ""), until=until, **columns)


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
