"""The syntax tree of a NEXI query: frozen nodes that know where they stand and print as NEXI.

::

    Query      //article[…]//sec[…]        steps; the last one is the target
    Step       //(sec|p)[…]                axis, names, predicates
    Both       … and …                     Either: … or …
    About      about(.//p, +car "a b")     a path relative to the step, terms
    Comparison .//yr >= 2000               a path, an operator, a number or a string

Every node carries ``start`` and ``end``, half-open offsets into the query's text. They take no part in comparisons:
two trees are equal when they say the same, and ``parse_nexi(str(query)) == query``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.data.topics.terms import Term

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
    quoted: bool = False
    """Whether the terms stand in quotes of their own, as in 2003."""

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
    names: tuple[str, ...]
    """Tags, ``*`` for any element, ``@name`` for an attribute; more than one is an alternation."""
    predicates: tuple[Clause, ...] = ()

    def __str__(self) -> str:
        test = self.names[0] if len(self.names) == 1 else f"({'|'.join(self.names)})"
        return self.axis + test + "".join(f"[{clause}]" for clause in self.predicates)


@dataclass(frozen=True)
class Condition:
    """One content condition of a query, with the whole path from the root to the element it speaks of."""

    steps: tuple[Step, ...]
    clause: About | Comparison
    on_target: bool
    """Whether it speaks of the target element itself."""

    def __str__(self) -> str:
        return f"{''.join(map(str, self.steps))}: {self.clause}"


def conditions(steps: tuple[Step, ...]) -> Iterator[Condition]:
    """Yield the content conditions of all steps, in the order of the query."""
    bare = tuple(Step(step.axis, step.names, start=step.start, end=step.end) for step in steps)
    for number, step in enumerate(steps, 1):
        for predicate in step.predicates:
            for clause in leaves(predicate):
                on_target = number == len(steps) and not clause.path.steps
                yield Condition(bare[:number] + clause.path.steps, clause, on_target)


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
