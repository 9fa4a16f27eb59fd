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
A path that starts without its dot is read as if it had one. Terms are described in `focuseval.data.topics.syntax`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, cast

from focuseval.data.topics import syntax
from focuseval.data.topics.syntax import Clause, Query
from focuseval.errors import NexiError, Place

DEEPEST = 100  # brackets may nest this deep; real queries stop at three
_NAME = r"\*|@?[^\W\d][\w.:-]*"
_SINGLE_QUOTES = ("'", "‘", "’")


def parse_nexi(text: str, locate: Callable[[int], Place] | None = None) -> Query:
    """Parse a NEXI query; `locate` turns an offset into a place for errors.

    >>> str(parse_nexi("//article[ about(.,'automation +vehicle') AND ./fm//yr=’2000’ ]"))
    "//article[about(., 'automation +vehicle') and ./fm//yr = '2000']"
    >>> parse_nexi("//article[about(., ]")
    Traceback (most recent call last):
    focuseval.errors.NexiError: query:1:20: expected terms, found ']'; an about clause looks like about(.//p, words)
    """

    def in_text(offset: int) -> Place:
        return Place("query", text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))

    return _Parser(text, locate or in_text).query()


class _Parser:
    """A text and how far it has been read."""

    def __init__(self, text: str, locate: Callable[[int], Place]) -> None:
        self.text = text
        self.locate = locate
        self.at = 0
        self.done = 0
        """The end of what was read last, before the blanks that follow it."""
        self.depth = 0

    def query(self) -> Query:
        self.skip()
        start = self.at
        steps = self.steps(predicates=True)
        if not steps:
            self.fail("'/' or '//' and a tag", "a query looks like //article[about(., words)]")
        if self.at < len(self.text):
            self.fail("'/', '//', '[' or the end of the query")
        return Query(steps, start=start, end=self.done)

    def steps(self, *, predicates: bool) -> tuple[syntax.Step, ...]:
        steps = []
        while axis := self.take(r"//?"):
            names = self.names()
            clauses = []
            while predicates and self.accept("["):
                clauses.append(self.either())
                self.expect("]", "'and', 'or' or ']'")
            steps.append(
                syntax.Step(cast("syntax.Axis", axis[0]), names, tuple(clauses), start=axis.start(), end=self.done)
            )
        return tuple(steps)

    def names(self) -> tuple[str, ...]:
        if not self.accept("("):
            return ((self.take(_NAME) or self.fail("a tag, '*', '@name' or '(tag|tag)'"))[0],)
        names: list[str] = []
        while not names or self.accept("|"):
            names.append((self.take(_NAME) or self.fail("a tag, '*' or '@name'"))[0])
        self.expect(")", "'|' or ')'")
        return tuple(names)

    def either(self) -> Clause:
        return self.joined("or", lambda: self.joined("and", self.clause, syntax.Both), syntax.Either)

    def joined(self, word: str, part: Callable[[], Clause], node: type[syntax.Both | syntax.Either]) -> Clause:
        """Read parts with a word between them; one alone stands for itself."""
        start = self.at
        clauses = [part()]
        while self.take(rf"(?i){word}\b"):
            clauses.append(part())
        return node(tuple(clauses), start=start, end=self.done) if len(clauses) > 1 else clauses[0]

    def clause(self) -> Clause:
        if not self.accept("("):
            opening = self.take(r"(?i)about\s*\(")
            return self.about(opening.start()) if opening else self.comparison()
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"at most {DEEPEST} nested brackets", "take some of them away")
        inner = self.either()
        self.expect(")", "'and', 'or' or ')'")
        self.depth -= 1
        return inner

    def about(self, start: int) -> syntax.About:
        path = self.path("a path such as '.' or './/p'")
        self.expect(",", "',' between the path and the terms of about")
        quoted = self.accept(*_SINGLE_QUOTES)
        terms: list[syntax.Term] = []
        while found := self.take(syntax.QUOTED_TERM if quoted else syntax.TERM):
            terms.append(syntax.Term.from_match(found))
            self.skip(r"[\s,]*")
        if not terms:
            self.fail("terms", "an about clause looks like about(.//p, words)")
        if quoted and not self.accept(*_SINGLE_QUOTES):
            self.fail("a quote that closes the terms")
        self.expect(")", "a term or ')'")
        return syntax.About(path, tuple(terms), quoted, start=start, end=self.done)

    def comparison(self) -> syntax.Comparison:
        path = self.path("about(…), a comparison such as ./yr = 2000, or '('")
        operator = self.take(r"<=|>=|=|<|>") or self.fail("=, <, >, <= or >=")
        found = number = self.take(r"-?[0-9]+(?:\.[0-9]+)?")
        found = found or self.take(r"'([^']*)'|\"([^\"]*)\"|[‘’]([^‘’]*)’") or self.fail("a number or a 'string'")
        text = found[0] if number else next(group for group in found.groups() if group is not None)
        value = syntax.Value(text, number=bool(number), start=found.start(), end=found.end())
        # The pattern knows only the five operators that the type lists.
        return syntax.Comparison(path, operator[0], value, start=path.start, end=self.done)  # type: ignore[arg-type]

    def path(self, expected: str) -> syntax.Path:
        start = self.at
        dot = self.accept(".")
        steps = self.steps(predicates=False)
        if not dot and not steps:
            self.fail(expected)
        return syntax.Path(steps, start=start, end=self.done)

    def skip(self, pattern: str = r"\s*") -> None:
        self.at = cast("re.Match[str]", re.compile(pattern).match(self.text, self.at)).end()

    def take(self, pattern: str | re.Pattern[str]) -> re.Match[str] | None:
        """Read what matches here, and the blanks behind it."""
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = self.done = found.end()
            self.skip()
        return found

    def accept(self, *characters: str) -> bool:
        """Read one of the characters if it stands here."""
        if not self.text.startswith(characters, self.at):
            return False
        self.at += 1
        self.done = self.at
        self.skip()
        return True

    def expect(self, character: str, expected: str) -> None:
        """Read a character that must stand here."""
        if not self.accept(character):
            self.fail(expected)

    def fail(self, expected: str, remedy: str | None = None) -> NoReturn:
        rest = self.text[self.at : self.at + 20].split()
        found = repr(rest[0]) if rest else "the end of the query"
        raise NexiError(f"expected {expected}, found {found}", at=self.locate(self.at), remedy=remedy)
