"""The words of a title or of an ``about`` clause: words and phrases, wanted (+) and unwanted (−).

``+important -unwanted "a phrase"`` is three terms. A sign belongs to what follows it without a blank; a sign alone
is a word (real titles write ``query expansion - techniques``). Commas between words separate, commas inside
(``10,000``) stay. Typographic double quotes do what straight ones do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_STOP = r'\s"“”()\[\]'
_PHRASE = r'"(?=\s*[^\s"])(?P<straight>[^"]*)"|“(?=\s*[^\s“”"])(?P<curly>[^“”"]*)”'


def _term(inside: str) -> re.Pattern[str]:
    """Return the pattern of one term, given the pattern of one character inside a word, commas excepted."""
    word = rf"(?:{inside})(?:,*(?:{inside}))*"
    return re.compile(rf"(?P<sign>[+-]?)(?:{_PHRASE}|(?P<word>{word}))")


TERM = _term(rf"[^{_STOP},]")
"""A term of a title, or of an ``about`` clause as written from 2004 on."""

QUOTED_TERM = _term(rf"[^{_STOP},'‘’]|['‘’](?!\s*\))")
"""A term of 2003's ``about(., 'terms')``: an apostrophe inside is a letter, before the bracket it ends the terms."""


@dataclass(frozen=True)
class Term:
    """One word or phrase, with its sign and where it stands.

    >>> str(Term("markov chains", "+", phrase=True))
    '+"markov chains"'
    """

    text: str
    sign: str = ""
    """``+`` important, ``-`` unwanted, or nothing."""
    phrase: bool = False
    start: int = field(default=0, compare=False)
    """First code point in the text it was read from; half-open, as everywhere."""
    end: int = field(default=0, compare=False)

    @classmethod
    def from_match(cls, found: re.Match[str]) -> Term:
        """Make a term of a match of `TERM` or `QUOTED_TERM`."""
        phrase = found["straight"] or found["curly"]
        return cls(phrase or found["word"], found["sign"], phrase is not None, found.start(), found.end())

    def __str__(self) -> str:
        """Return the term as NEXI writes it."""
        return f'{self.sign}"{self.text}"' if self.phrase else self.sign + self.text


def parse_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a title; any text has some reading, an unclosed quote or a bracket is skipped.

    >>> [str(term) for term in parse_terms('+"markov chains" graphs, -biology (survey')]
    ['+"markov chains"', 'graphs', '-biology', 'survey']
    """
    return tuple(Term.from_match(found) for found in TERM.finditer(text))
