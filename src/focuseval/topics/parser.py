"""NEXI by recursive descent: one method for each rule of the grammar, no tokens in between.

::

    query      = step+
    step       = ("/" | "//") names predicate*
    names      = name | "(" name ("|" name)* ")"          name = tag | "*" | "@" tag
    predicate  = "[" either "]"
    either     = both ("or" both)*
    both       = clause ("and" clause)*
    clause     = "(" either ")" | about | comparison
    about      = "about" "(" path "," terms ")"
    comparison = path ("=" | "<" | ">" | "<=" | ">=") (number | string)
    path       = "." step* | step+                         steps without predicates

Blanks may stand between any two of these. ``and``, ``or`` and ``about`` are read in either case; ``and`` binds tighter.
A path that starts without its dot is read as if it had one. Terms are described in `focuseval.topics.terms`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn, cast

from focuseval.errors import NexiError, Place
from focuseval.topics.query import Query
from focuseval.topics.syntax import About, Axis, Both, Clause, Comparison, Either, Path, Step, Value
from focuseval.topics.terms import QUOTED_TERM, TERM, Term

if TYPE_CHECKING:
    from collections.abc import Callable

DEEPEST = 100
"""Brackets may nest this deep; real queries stop at three."""

_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"\*|@?[^\W\d][\w.:-]*")
_AXIS = re.compile(r"//?")
_OPERATOR = re.compile(r"<=|>=|=|<|>")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_STRING = re.compile(r"'([^']*)'|\"([^\"]*)\"|[‘’]([^‘’]*)’")
_ABOUT = re.compile(r"about\s*\(", re.IGNORECASE)
_AND = re.compile(r"and\b", re.IGNORECASE)
_OR = re.compile(r"or\b", re.IGNORECASE)
_BETWEEN_TERMS = re.compile(r"[\s,]*")
_SINGLE_QUOTES = ("'", "‘", "’")


def parse_nexi(text: str, locate: Callable[[int], Place] | None = None) -> Query:
    """Parse a NEXI query; `locate` turns an offset into a place for errors.

    >>> str(parse_nexi("//article[ about(.,'automation +vehicle') AND ./fm//yr=’2000’ ]"))
    "//article[about(., 'automation +vehicle') and ./fm//yr = '2000']"
    >>> parse_nexi("//article[about(., ]")
    Traceback (most recent call last):
    focuseval.errors.NexiError: query:1:20: expected terms, found ']'; an about clause looks like about(.//p, words)
    """
    return _Parser(text, locate or (lambda offset: place_in(text, offset))).query()


def place_in(text: str, offset: int, file: str = "query") -> Place:
    """Return line and column, both from 1, of an offset into a text."""
    before = text[:offset]
    return Place(file, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


class _Parser:
    """A text and how far it has been read."""

    def __init__(self, text: str, locate: Callable[[int], Place]) -> None:
        self.text = text
        self.locate = locate
        self.at = 0
        self.depth = 0

    def query(self) -> Query:
        self.blank()
        start = self.at
        steps = self.steps(predicates=True)
        if not steps:
            self.fail("'/' or '//' and a tag", "a query looks like //article[about(., words)]")
        if self.at < len(self.text):
            self.fail("'/', '//', '[' or the end of the query")
        return Query(steps, start=start, end=steps[-1].end)

    def steps(self, *, predicates: bool) -> tuple[Step, ...]:
        steps = []
        while axis := self.take(_AXIS):
            start = axis.start()
            names, end = self.names()
            clauses = []
            while predicates and self.accept("["):
                clauses.append(self.either())
                end = self.expect("]", "'and', 'or' or ']'")
            steps.append(Step(cast("Axis", axis[0]), names, tuple(clauses), start=start, end=end))
        return tuple(steps)

    def names(self) -> tuple[tuple[str, ...], int]:
        """Return the names of a step and where they end."""
        if not self.accept("("):
            name = self.take(_NAME) or self.fail("a tag, '*', '@name' or '(tag|tag)'")
            return (name[0],), name.end()
        names = []
        while True:
            names.append((self.take(_NAME) or self.fail("a tag, '*' or '@name'"))[0])
            if not self.accept("|"):
                return tuple(names), self.expect(")", "'|' or ')'")

    def either(self) -> Clause:
        clauses = [self.both()]
        while self.take(_OR):
            clauses.append(self.both())
        if len(clauses) == 1:
            return clauses[0]
        return Either(tuple(clauses), start=clauses[0].start, end=clauses[-1].end)

    def both(self) -> Clause:
        clauses = [self.clause()]
        while self.take(_AND):
            clauses.append(self.clause())
        if len(clauses) == 1:
            return clauses[0]
        return Both(tuple(clauses), start=clauses[0].start, end=clauses[-1].end)

    def clause(self) -> Clause:
        if not self.accept("("):
            opening = self.take(_ABOUT)
            return self.about(opening.start()) if opening else self.comparison()
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"at most {DEEPEST} nested brackets", "take some of them away")
        inner = self.either()
        self.expect(")", "'and', 'or' or ')'")
        self.depth -= 1
        return inner

    def about(self, start: int) -> About:
        path = self.path("a path such as '.' or './/p'")
        self.expect(",", "',' between the path and the terms of about")
        quoted = self.accept(*_SINGLE_QUOTES)
        terms = self.terms(QUOTED_TERM if quoted else TERM)
        if not terms:
            self.fail("terms", "an about clause looks like about(.//p, words)")
        if quoted and not self.accept(*_SINGLE_QUOTES):
            self.fail("a quote that closes the terms")
        return About(path, terms, quoted, start=start, end=self.expect(")", "a term or ')'"))

    def terms(self, pattern: re.Pattern[str]) -> tuple[Term, ...]:
        terms = []
        while found := self.take(pattern):
            terms.append(Term.from_match(found))
            self.at = cast("re.Match[str]", _BETWEEN_TERMS.match(self.text, self.at)).end()
        return tuple(terms)

    def comparison(self) -> Comparison:
        path = self.path("about(…), a comparison such as ./yr = 2000, or '('")
        operator = self.take(_OPERATOR) or self.fail("=, <, >, <= or >=")
        if found := self.take(_NUMBER):
            value = Value(found[0], number=True, start=found.start(), end=found.end())
        elif found := self.take(_STRING):
            text = next(group for group in found.groups() if group is not None)
            value = Value(text, number=False, start=found.start(), end=found.end())
        else:
            self.fail("a number or a 'string'")
        # The pattern knows only the five operators that the type lists.
        return Comparison(path, operator[0], value, start=path.start, end=value.end)  # type: ignore[arg-type]

    def path(self, expected: str) -> Path:
        start = self.at
        dot = self.accept(".")
        end = start + 1
        steps = self.steps(predicates=False)
        if not dot and not steps:
            self.fail(expected)
        return Path(steps, start=start, end=steps[-1].end if steps else end)

    def blank(self) -> None:
        self.at = cast("re.Match[str]", _BLANK.match(self.text, self.at)).end()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what matches here, and the blanks behind it."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
            self.blank()
        return found

    def accept(self, *characters: str) -> bool:
        """Read one of the characters if it stands here."""
        if not self.text.startswith(characters, self.at):
            return False
        self.at += 1
        self.blank()
        return True

    def expect(self, character: str, expected: str) -> int:
        """Read a character that must stand here; return the offset behind it."""
        end = self.at + 1
        if not self.accept(character):
            self.fail(expected)
        return end

    def fail(self, expected: str, remedy: str | None = None) -> NoReturn:
        rest = self.text[self.at : self.at + 20].split()
        found = repr(rest[0]) if rest else "the end of the query"
        raise NexiError(f"expected {expected}, found {found}", at=self.locate(self.at), remedy=remedy)
