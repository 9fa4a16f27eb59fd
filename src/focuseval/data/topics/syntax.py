"""The syntax tree of a NEXI query: frozen nodes that know where they stand, print as NEXI and match elements' paths.

::

    Query      //article[…]//sec[…]        steps; the last one is the target
    Step       //(sec|p)[…]                axis, names, predicates
    Both       … and …                     Either: … or …
    About      about(.//p, +car "a b")     a path relative to the step, terms
    Comparison .//yr >= 2000               a path, an operator, a number or a string

Every node carries ``start`` and ``end``, half-open offsets into the query's text. They take no part in comparisons:
two trees are equal when they say the same, and ``parse_nexi(str(query)) == query``.

Terms are words and phrases, wanted (+) and unwanted (−): ``+important -unwanted "a phrase"`` is three terms. A sign
belongs to what follows it without a blank; a sign alone is a word (real titles write ``query expansion - techniques``).
Commas between words separate, commas inside (``10,000``) stay. Typographic double quotes do what straight ones do.

An element's path satisfies a location path when its steps can be walked from the root: ``/sec`` is a child,
``//sec`` any descendant. Conditions on content are not checked: they are for the assessor. The location path becomes
one regular expression for RE2, which is linear in the path whatever the query, so a recall base of millions of paths is
filtered at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.engine.native import encoded
from focuseval.errors import MeasureError

_STOP = r'\s"“”()\[\]'
_PHRASE = r'"(?=\s*[^\s"])(?P<straight>[^"]*)"|“(?=\s*[^\s“”"])(?P<curly>[^“”"]*)”'


def _term(inside: str) -> re.Pattern[str]:
    """Return the pattern of one term, given the pattern of one character inside a word, commas excepted."""
    word = rf"(?:{inside})(?:,*(?:{inside}))*"
    return re.compile(rf"(?P<sign>[+-]?)(?:{_PHRASE}|(?P<word>{word}))")


TERM = _term(rf"[^{_STOP},]")  # a term of a title, or of an ``about`` clause as written from 2004 on

QUOTED_TERM = _term(rf"[^{_STOP},'‘’]|['‘’](?!\s*\))")
"""A term of 2003's ``about(., 'terms')``: an apostrophe inside is a letter, before the bracket it ends the terms."""


@dataclass(frozen=True)
class Term:
    """One word or phrase, with its sign and where it stands.

    >>> str(Term("markov chains", "+", phrase=True))
    '+"markov chains"'
    """

    text: str
    sign: str = ""  # ``+`` important, ``-`` unwanted, or nothing
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
        return f'{self.sign}"{self.text}"' if self.phrase else self.sign + self.text


def parse_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a title; any text has some reading, an unclosed quote or a bracket is skipped.

    >>> [str(term) for term in parse_terms('+"markov chains" graphs, -biology (survey')]
    ['+"markov chains"', 'graphs', '-biology', 'survey']
    """
    return tuple(Term.from_match(found) for found in TERM.finditer(text))


Equivalents: TypeAlias = "Iterable[Collection[str]]"

IEEE_EQUIVALENTS: tuple[frozenset[str], ...] = (
    frozenset(("sec", "ss1", "ss2", "ss3")),
    frozenset(("p", "p1", "p2", "p3", "ip1", "ip2", "ip3", "ip4", "ip5", "ilrj", "item-none")),
    frozenset(("list", "dl", *(f"l{n}" for n in "123456789abcde"), "numeric-list", "numeric-rbrace", "bullet-list")),
    frozenset(("h", "h1", "h1a", "h2", "h2a", "h3", "h4")),
)
"""Tags of the IEEE collection that INEX 2003–2005 took for one another in a query: a named choice, never a default."""


READINGS = ("SS", "SV", "VS", "VV")
"""How the structure of a query is read: first letter the target, second the support, Strict or Vague."""


def parse_reading(name: str) -> str:
    """Return one of `READINGS` by its name; ``strict`` is SS and ``vague`` VV, as in SCAS and VCAS.

    >>> parse_reading("vague"), parse_reading("svcas")
    ('VV', 'SV')
    """
    key = name.upper().removesuffix("CAS")
    reading = {"STRICT": "SS", "VAGUE": "VV", "S": "SS", "V": "VV"}.get(key, key)
    if reading not in READINGS:
        raise MeasureError(f"expected a reading (SS, SV, VS, VV, strict or vague), found {name!r}")
    return reading


def location_pattern(steps: Iterable[Step], equivalents: Equivalents = ()) -> str:
    r"""Return the regular expression of the element paths that a location path reaches.

    >>> location_pattern([Step("//", ("sec", "p"))])
    '^(?:/[^/@][^/]*)*/(?:p|sec)(?:\\[[0-9]+\\])?$'
    """
    classes, parts = [frozenset(tags) for tags in equivalents], []
    for step in steps:
        names = set(step.names).union(*(tags for tags in classes if not tags.isdisjoint(step.names)))
        tests = sorted(r"[^/@\[][^/\[]*" if name == "*" else re.escape(name) for name in names)
        deeper = r"(?:/[^/@][^/]*)*" if step.axis == "//" else ""
        parts.append(rf"{deeper}/(?:{'|'.join(tests)})(?:\[[0-9]+\])?")
    return f"^{''.join(parts)}$"


Axis: TypeAlias = Literal["/", "//"]


@dataclass(frozen=True, kw_only=True)
class Node:
    """What all nodes share: their place in the query."""

    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Path(Node):
    """Steps from the element that a predicate stands on; no steps mean the element itself.

    >>> str(Path((Step("/", ("fm",)), Step("//", ("yr",)))))
    './fm//yr'
    """

    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return "." + "".join(map(str, self.steps))


@dataclass(frozen=True)
class About(Node):
    """An element that the path reaches should be about the terms."""

    path: Path
    terms: tuple[Term, ...]
    quoted: bool = False  # whether the terms stand in quotes of their own, as in 2003

    def __str__(self) -> str:
        quote = "'" if self.quoted else ""
        return f"about({self.path}, {quote}{' '.join(map(str, self.terms))}{quote})"


@dataclass(frozen=True)
class Value(Node):
    """The right-hand side of a comparison, as written; a number or a string."""

    text: str
    number: bool

    def __str__(self) -> str:
        quote = "" if self.number else next(mark for mark in "'\"’" if mark not in self.text)
        return f"{quote}{self.text}{quote}"


@dataclass(frozen=True)
class Comparison(Node):
    """The content of an element that the path reaches compares with a value."""

    path: Path
    operator: Literal["=", "<", ">", "<=", ">="]
    value: Value

    def __str__(self) -> str:
        return f"{self.path} {self.operator} {self.value}"


@dataclass(frozen=True)
class Both(Node):
    """All clauses hold; ``and`` binds tighter than ``or``."""

    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Both | Either) else str(part) for part in self.clauses)


@dataclass(frozen=True)
class Either(Node):
    """At least one clause holds."""

    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Either) else str(part) for part in self.clauses)


Clause: TypeAlias = About | Comparison | Both | Either


@dataclass(frozen=True)
class Step(Node):
    """One step of a path: how far down (child or descendant), to which names, under which conditions."""

    axis: Axis
    names: tuple[str, ...]  # tags, ``*`` for any element, ``@name`` for an attribute; more than one is an alternation
    predicates: tuple[Clause, ...] = ()

    def __str__(self) -> str:
        test = self.names[0] if len(self.names) == 1 else f"({'|'.join(self.names)})"
        return self.axis + test + "".join(f"[{clause}]" for clause in self.predicates)


@dataclass(frozen=True)
class Condition:
    """One content condition of a query, with the whole path from the root to the element it speaks of."""

    steps: tuple[Step, ...]
    clause: About | Comparison
    on_target: bool  # whether it speaks of the target element itself

    def __str__(self) -> str:
        return f"{''.join(map(str, self.steps))}: {self.clause}"


def leaves(clause: Clause) -> Iterator[About | Comparison]:
    """Yield the ``about`` and comparison clauses of a predicate, left to right."""
    if isinstance(clause, Both | Either):
        for part in clause.clauses:
            yield from leaves(part)
    else:
        yield clause


def as_json(node: Any) -> Any:
    """Return a node as nested dictionaries, each with its kind and place.

    >>> as_json(Path(start=6, end=7))
    {'node': 'Path', 'start': 6, 'end': 7, 'steps': []}
    """
    if isinstance(node, tuple):
        return [as_json(part) for part in node]
    if not is_dataclass(node):
        return node
    return {"node": type(node).__name__} | {part.name: as_json(getattr(node, part.name)) for part in fields(node)}


@dataclass(frozen=True)
class Query(Node):
    """A parsed query: the root of its syntax tree.

    >>> from focuseval.data.topics import parse_nexi
    >>> query = parse_nexi("//article[about(.//abs, trust)]//(sec|p)[about(., key)]")
    >>> str(query.target), [str(condition) for condition in query.support]
    ('//(sec|p)[about(., key)]', ['//article//abs: about(.//abs, trust)'])
    >>> query.matches("/article[1]/bdy[1]/sec[2]"), query.matches("/article[1]", "vague")
    (True, True)
    """

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.steps))

    @property
    def target(self) -> Step:
        """The last step: what to return."""
        return self.steps[-1]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions on content, in the order of the query."""
        bare = tuple(Step(step.axis, step.names, start=step.start, end=step.end) for step in self.steps)
        return tuple(
            Condition(bare[:number] + clause.path.steps, clause, number == len(bare) and not clause.path.steps)
            for number, step in enumerate(self.steps, 1)
            for predicate in step.predicates
            for clause in leaves(predicate)
        )

    @property
    def support(self) -> tuple[Condition, ...]:
        """Where else to look: every condition that does not speak of the target itself."""
        return tuple(condition for condition in self.conditions if not condition.on_target)

    @property
    def location(self) -> str:
        """The path of the target without predicates: ``//article//sec``."""
        return "".join(str(Step(step.axis, step.names)) for step in self.steps)

    @overload
    def matches(self, path: str, reading: str = "strict", equivalents: Equivalents = ()) -> bool: ...

    @overload
    def matches(self, path: Any, reading: str = "strict", equivalents: Equivalents = ()) -> NDArray[np.bool_]: ...

    def matches(self, path: Any, reading: str = "strict", equivalents: Equivalents = ()) -> bool | NDArray[np.bool_]:
        """Return whether an element's path is what the query asks for; an array of answers for many paths.

        Parameters
        ----------
        path
            ``/article[1]/sec[2]`` (``[n]`` may be missing), or an Arrow array or list of such paths.
        reading
            ``strict`` or ``vague``, or one of `READINGS`; only the target's letter decides here: under a vague
            reading every element matches, but never a null path.
        equivalents
            Classes of tags taken for one another, such as `IEEE_EQUIVALENTS`.
        """
        if isinstance(path, str):
            return bool(self.matches([path], reading, equivalents)[0])
        column = encoded(path)  # every distinct path once
        if parse_reading(reading)[0] == "V":
            found = pc.is_valid(column.dictionary)
        else:
            pattern = location_pattern(self.steps, equivalents)
            found = pc.fill_null(pc.match_substring_regex(column.dictionary, pattern), False)
        return np.asarray(np.append(found, False)[column.indices.fill_null(-1).to_numpy(zero_copy_only=False)])

    def as_json(self) -> dict[str, Any]:
        """Return the syntax tree as nested dictionaries with positions."""
        return dict(as_json(self))
