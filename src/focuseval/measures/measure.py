"""What a measure is: a declared value whose printed form parses back.

A measure is a name, what may stand behind its ``@``, its parameters, and one pure function from the matched table to
one number per topic. Help, documentation and the common tests are made from these declarations; a user's own measure
is the same value, passed to `focuseval.evaluate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Parameter:
    """One named parameter of a measure: ``beta`` of ``MAgP(beta=0.25)``."""

    name: str
    default: int | float | str
    summary: str
    choices: tuple[str, ...] = ()
    """Allowed words; empty where any number will do."""


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
    """What gold and run must say: ``documents``, ``spans``, ``entry points``, ``elements``, ``grades``."""
    at: tuple[str, ...] = ()
    """What may follow ``@``: any of ``rank``, ``level``, ``characters``, ``words``; empty for none."""
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
    tasks: tuple[str, ...] = ()
    """Tasks that it was made for; empty for any."""
    curve: Callable[..., Any] | None = None
    """Where the measure summarises a curve: the function that returns its points."""


@dataclass(frozen=True)
class Asked:
    """A measure with what was asked of it: ``nxCG(ideal=full)@10``.

    ``str()`` prints the canonical form: parameters that differ from their defaults, in declared order.
    """

    measure: Measure
    at: str = ""
    """As written behind ``@``: ``10``, ``0.01``, ``2000c``, ``500w``; empty where nothing was."""
    given: Mapping[str, int | float | str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the canonical name.

        >>> beta = Parameter("beta", 1, "weight of recall")
        >>> str(Asked(Measure("MAgP", abs, "", "", parameters=(beta,)), given={"beta": 0.25}))
        'MAgP(beta=0.25)'
        """
        inside = ", ".join(
            f"{p.name}={number(self.given[p.name])}"
            for p in self.measure.parameters
            if p.name in self.given and self.given[p.name] != p.default
        )
        return self.measure.name + (f"({inside})" if inside else "") + (f"@{self.at}" if self.at else "")


def number(value: float | str) -> str:
    """Print a parameter: integers without ``.0``, words as they are.

    >>> number(1.0), number(0.25), number("gen")
    ('1', '0.25', 'gen')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)
