"""A NEXI query: its steps, its target, its support, and which elements answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from focuseval.data.topics.matching import Equivalents, matches
from focuseval.data.topics.syntax import Condition, Node, Step, as_json, conditions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
        return tuple(conditions(self.steps))

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
            ``strict`` or ``vague``, or one of `Reading`; only the target's letter decides here.
        equivalents
            Classes of tags taken for one another, such as `IEEE_EQUIVALENTS`.
        """
        if isinstance(path, str):
            return bool(matches(self.steps, [path], reading, equivalents)[0])
        return matches(self.steps, path, reading, equivalents)

    def as_json(self) -> dict[str, Any]:
        """Return the syntax tree as nested dictionaries with positions."""
        tree: dict[str, Any] = as_json(self)
        return tree
