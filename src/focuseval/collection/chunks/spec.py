"""How documents are cut, as people type it.

::

    characters:400        400 characters, end to end          characters:400/300   a new one every 300: they overlap
    words:100/50          100 words, every 50                 sentences:5          five sentences
    tokens:256/200        256 tokens of --tokenizer           elements:sec,p       every element of these tags
    langchain:RecursiveCharacterTextSplitter:400/300          llamaindex:SentenceSplitter:256/200

The number behind the stroke is the distance between beginnings; without it chunks stand end to end. A distance larger
than the size leaves gaps, which are counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from focuseval.errors import UsageError, did_you_mean

WINDOWS = ("characters", "words", "sentences", "tokens")
"""Kinds that count something: chunks are so many of them, every so many."""

SPLITTERS = ("langchain", "llamaindex")
"""Packages whose splitters can be named."""

_WINDOW = re.compile(r"([a-z]+):([1-9][0-9]{0,8})(?:/([1-9][0-9]{0,8}))?")
_ELEMENTS = re.compile(r"elements:([^\s,:/]+(?:,[^\s,:/]+)*)")
_SPLITTER = re.compile(rf"({'|'.join(SPLITTERS)}):([A-Za-z_]\w*):([1-9][0-9]{{0,8}})(?:/([1-9][0-9]{{0,8}}))?")
_EXAMPLES = "characters:400, words:100/50, sentences:5, tokens:256, elements:sec, langchain:CLASS:400/300, or a file"


@dataclass(frozen=True)
class Spec:
    """One way of cutting documents.

    >>> str(parse_spec("words:100/100")), str(parse_spec("elements:sec,p"))
    ('words:100', 'elements:sec,p')
    """

    kind: str
    size: int = 0
    step: int = 0
    """Distance between beginnings."""
    names: tuple[str, ...] = ()
    """Tags of elements, or the class of a splitter."""

    def __str__(self) -> str:
        """Return it as it is typed."""
        stroke = "" if self.step == self.size else f"/{self.step}"
        window = [f"{self.size}{stroke}"] if self.size else []
        return ":".join([self.kind, *([",".join(self.names)] if self.names else []), *window])


def parse_spec(text: str) -> Spec:
    """Read a SPEC; what is none is refused with the nearest one."""
    if found := _SPLITTER.fullmatch(text):
        return _checked(Spec(found[1], int(found[3]), int(found[4] or found[3]), (found[2],)), text)
    if found := _ELEMENTS.fullmatch(text):
        return Spec("elements", names=tuple(dict.fromkeys(found[1].split(","))))
    found = _WINDOW.fullmatch(text)
    if found is None or found[1] not in WINDOWS:
        kind, _, rest = text.partition(":")
        raise UsageError(f"expected how to cut documents ({_EXAMPLES}), found {text!r}; {_remedy(kind, rest)}")
    return Spec(found[1], int(found[2]), int(found[3] or found[2]))


def _remedy(kind: str, rest: str) -> str:
    if kind in WINDOWS:
        return f"write {kind}:SIZE or {kind}:SIZE/STEP with whole numbers of at least 1"
    if kind in SPLITTERS:
        return f"write {kind}:CLASS:SIZE or {kind}:CLASS:SIZE/STEP"
    return (rest and did_you_mean(kind, (*WINDOWS, "elements", *SPLITTERS))) or "no file has this name"


def _checked(spec: Spec, text: str) -> Spec:
    """Refuse gaps of a splitter, which knows an overlap only."""
    if spec.step > spec.size:
        raise UsageError(f"expected a distance up to the size, found {text!r}; splitters of {spec.kind} leave no gaps")
    return spec
