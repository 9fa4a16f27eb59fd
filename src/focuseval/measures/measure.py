"""What a measure is: a declared value whose printed form parses back.

A measure is a name, what may stand behind its ``@``, its parameters, and one pure function from the matched table to
one number per topic. Help, documentation and the common tests are made from these declarations; a user's own measure
is the same value, passed to `focuseval.evaluate`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.data.limits import MOST
from focuseval.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray


class Budget(NamedTuple):
    """How much text a reader takes: ``2000c`` characters, ``500w`` words or ``500t`` tokens."""

    amount: int
    unit: str
    """``characters``, ``words`` or ``tokens``."""


MOST_RANK = 10**6
DECIMALS = 9
"""Of a recall level: then its products with any number of characters stay exact in 64 bits."""

_LEVEL = re.compile(rf"[01]?\.?[0-9]{{0,{DECIMALS}}}")

TRAITS = ("ideal recall base", "grouped output", "two dimensions")
"""Declared properties: it uses the ideal recall base; it takes results grouped by article; it reads e and s apart."""


@dataclass(frozen=True)
class Parameter:
    """One named parameter of a measure: ``beta`` of ``MAgP(beta=0.25)``."""

    name: str
    default: int | float | str
    summary: str
    choices: tuple[str, ...] = ()
    """Allowed words; empty where any number (or, with a word as default, any word) will do."""
    always: bool = False
    """Whether the canonical name prints it even at its default: ``BEPD(A=0.1)``."""
    only: tuple[str, str] | None = None
    """Another parameter and its value, without which this one means nothing: ``n`` needs ``score=bep``."""
    policy: bool = False
    """Whether the policy of the same name is the default."""
    bare: bool = False
    """Whether it prints without its name: ``ceiling(spanR)``."""
    least: float | None = None
    """The smallest number allowed; the next larger ones where it is open."""


@dataclass(frozen=True)
class Measure:
    """A measure as it is declared: everything that help, documentation and tests say of it."""

    name: str
    compute: Callable[..., NDArray[np.float64]]
    """``compute(matched, at=…, **parameters)`` → one value per topic; NaN where the topic has no base for it."""
    summary: str
    cite: str
    """Key into the bibliography."""
    needs: tuple[str, ...] = ()
    """What must be given: ``documents``, ``spans``, ``entry points``, ``elements``, ``grades``, ``index``."""
    at: tuple[str, ...] = ()
    """What may follow ``@``: any of ``rank``, ``level``, ``characters``, ``words``, ``tokens``; empty for none."""
    at_required: bool = False
    parameters: tuple[Parameter, ...] = ()
    """In the order of MEASURES.md, which is the order in which they print."""
    bounds: tuple[float, float] = (0.0, 1.0)
    formula: str = ""
    """LaTeX."""
    example: str = ""
    """A short worked case in words and numbers."""
    perfect: bool = True
    """Whether a perfect run reaches the upper bound."""
    perfect_unless: str = ""
    """With which parameter it does not: ``ideal=full``."""
    tasks: tuple[str, ...] = ()
    """Tasks that it was made for; empty for any."""
    traits: tuple[str, ...] = ()
    """What cannot be observed by running it, of `TRAITS`."""
    curve: Callable[..., Any] | None = None
    """Where the measure summarises a curve: ``curve(matched, **parameters)`` → (x, y), y with a row per topic."""
    aliases: tuple[str, ...] = ()
    """Other names of the same measure: AgP is MAgP."""
    needs_if: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Parameter and value → what it needs instead: ``EPRUM(nav=contains)`` needs elements."""
    topicwise: bool = True
    """Whether a topic's value depends on that topic alone, not on chunks or lengths of the whole collection."""


@dataclass(frozen=True)
class Asked:
    """A measure with what was asked of it: ``nxCG(ideal=full)@10``.

    ``str()`` prints the canonical form: parameters that differ from their defaults, in declared order.
    """

    measure: Measure
    at: str = ""
    """As written behind ``@``: ``10``, ``0.01``, ``2000c``, ``500w``, ``500t``; empty where nothing was."""
    given: Mapping[str, int | float | str] = field(default_factory=dict)
    written: str = ""
    """The name as the user wrote it, which is the key of every output; empty for a profile's own."""

    def __str__(self) -> str:
        """Return the canonical name.

        >>> beta = Parameter("beta", 1, "weight of recall")
        >>> str(Asked(Measure("MAgP", abs, "", "", parameters=(beta,)), given={"beta": 0.25}))
        'MAgP(beta=0.25)'
        """
        inside = ", ".join(
            number(self._value(p)) if p.bare else f"{p.name}={number(self._value(p))}"
            for p in self.measure.parameters
            if self._shown(p)
        )
        return self.measure.name + (f"({inside})" if inside else "") + (f"@{self.at}" if self.at else "")

    @property
    def key(self) -> str:
        """The name in every output: as written, else canonical."""
        return self.written or str(self)

    @property
    def counts_tokens(self) -> bool:
        """Whether it is asked at a budget of tokens."""
        return self.at.endswith("t") and "tokens" in self.measure.at

    @property
    def needs(self) -> tuple[str, ...]:
        """What gold and run must say for it, with the parameters given."""
        chosen = {p.name: self._value(p) for p in self.measure.parameters}
        return next(
            (needs for (name, value), needs in self.measure.needs_if.items() if chosen.get(name) == value),
            self.measure.needs,
        )

    def _value(self, parameter: Parameter) -> int | float | str:
        return self.given.get(parameter.name, parameter.default)

    def _shown(self, parameter: Parameter) -> bool:
        if self.given.get(parameter.name, parameter.default) != parameter.default or parameter.always:
            return True
        if parameter.only is None:
            return False
        other = next(p for p in self.measure.parameters if p.name == parameter.only[0])
        return self._value(other) == parameter.only[1]

    def arguments(self, policies: Any = None) -> dict[str, Any]:
        """Return what `compute` is called with: given values, else policies, else defaults; and `at`, parsed.

        A rank is an int, a recall level a `Fraction` (levels are never floats), a budget a `Budget`.
        """
        arguments: dict[str, Any] = {
            p.name: self.given.get(p.name, getattr(policies, p.name, p.default) if p.policy else p.default)
            for p in self.measure.parameters
        }
        if self.measure.at:
            arguments["at"] = parse_at(self.at, self.measure) if self.at else None
        return arguments


def parse_at(text: str, measure: Measure) -> int | Fraction | Budget:
    """Read what stands behind ``@``.

    >>> parse_at("2000c", Measure("spanR", abs, "", "", at=("rank", "characters")))
    Budget(amount=2000, unit='characters')
    >>> parse_at("0.01", Measure("iP", abs, "", "", at=("level",)))
    Fraction(1, 100)
    """
    unit = {"c": "characters", "w": "words", "t": "tokens"}.get(text[-1:], "rank")
    digits = text if unit == "rank" else text[:-1]
    most = MOST_RANK if unit == "rank" else MOST
    if unit in measure.at and digits.isascii() and digits.isdigit() and 0 < int(digits[:12]) <= most:
        return int(digits[:12]) if unit == "rank" else Budget(int(digits[:12]), unit)
    if "level" in measure.at and _LEVEL.fullmatch(text) and text.strip(".") and Fraction(text) <= 1:
        return Fraction(text)
    raise MeasureError(f"{measure.name}@{text}: expected {_expected(measure)} after '@', found {text!r}")


def _expected(measure: Measure) -> str:
    words = {
        "rank": f"a rank such as 10 ({MOST_RANK} at most)",
        "level": f"a recall level from 0 to 1 such as 0.01 ({DECIMALS} decimals at most)",
        "characters": "a budget of characters such as 2000c",
        "words": "a budget of words such as 500w",
        "tokens": "a budget of tokens such as 500t",
    }
    return " or ".join(words[kind] for kind in measure.at)


def number(value: float | str) -> str:
    """Print a parameter: integers without ``.0``, words as they are.

    >>> number(1.0), number(0.25), number("gen")
    ('1', '0.25', 'gen')
    """
    short = f"{value:.12g}" if isinstance(value, float) else str(value)
    return short if isinstance(value, str) or float(short) == value else repr(value)
