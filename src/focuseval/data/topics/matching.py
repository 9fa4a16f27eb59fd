"""Does an element fit the structure a query asks for? Strict and vague readings of the target.

An element's path satisfies a location path when its steps can be walked from the root: ``/sec`` is a child,
``//sec`` any descendant. All conditions on content are left aside: they are the assessor's business. The location
path becomes one regular expression for RE2, which is linear in the path whatever the query, so a recall base of
millions of paths is filtered at once.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from focuseval.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from focuseval.data.topics.syntax import Step

Equivalents: TypeAlias = "Iterable[Collection[str]]"

IEEE_EQUIVALENTS: tuple[frozenset[str], ...] = (
    frozenset(("sec", "ss1", "ss2", "ss3")),
    frozenset(("p", "p1", "p2", "p3", "ip1", "ip2", "ip3", "ip4", "ip5", "ilrj", "item-none")),
    frozenset(("list", "dl", *(f"l{n}" for n in "123456789abcde"), "numeric-list", "numeric-rbrace", "bullet-list")),
    frozenset(("h", "h1", "h1a", "h2", "h2a", "h3", "h4")),
)
"""Tags of the IEEE collection that INEX 2003–2005 took for one another in a query: a named choice, never a default."""


class Reading(StrEnum):
    """How the structure of a query is read: first letter the target, second the support, Strict or Vague."""

    SS = "SS"
    SV = "SV"
    VS = "VS"
    VV = "VV"

    @property
    def strict_target(self) -> bool:
        """Whether a result must be what the query asks to return."""
        return self.value[0] == "S"

    @property
    def strict_support(self) -> bool:
        """Whether the conditions must hold where the query says."""
        return self.value[1] == "S"

    @classmethod
    def parse(cls, name: str) -> Reading:
        """Return the reading of a name; ``strict`` is SS and ``vague`` VV, as in SCAS and VCAS.

        >>> Reading.parse("vague"), Reading.parse("svcas")
        (<Reading.VV: 'VV'>, <Reading.SV: 'SV'>)
        """
        short = {"STRICT": "SS", "VAGUE": "VV", "S": "SS", "V": "VV"}
        key = name.upper().removesuffix("CAS")
        try:
            return cls(short.get(key, key))
        except ValueError:
            raise MeasureError(f"expected a reading (SS, SV, VS, VV, strict or vague), found {name!r}") from None


def location_pattern(steps: Iterable[Step], equivalents: Equivalents = ()) -> str:
    r"""Return the regular expression of the element paths that a location path reaches.

    >>> from focuseval.data.topics.syntax import Step
    >>> location_pattern([Step("//", ("sec", "p"))])
    '^(?:/[^/@][^/]*)*/(?:p|sec)(?:\\[[0-9]+\\])?$'
    """
    classes = [frozenset(tags) for tags in equivalents]
    return "^" + "".join(_step_pattern(step, classes) for step in steps) + "$"


def _step_pattern(step: Step, classes: list[frozenset[str]]) -> str:
    names = set(step.names).union(*(tags for tags in classes if not tags.isdisjoint(step.names)))
    tests = sorted(r"[^/@\[][^/\[]*" if name == "*" else re.escape(name) for name in names)
    deeper = r"(?:/[^/@][^/]*)*" if step.axis == "//" else ""
    return rf"{deeper}/(?:{'|'.join(tests)})(?:\[[0-9]+\])?"


def matches(
    steps: tuple[Step, ...], paths: Any, reading: str = "strict", equivalents: Equivalents = ()
) -> NDArray[np.bool_]:
    """Return for every path (an Arrow array or a list) whether it is what the location path asks for.

    A null path never matches; under a vague reading every element does.
    """
    import pyarrow as pa  # noqa: PLC0415  parsing a query must not wait for Arrow
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    column = paths if isinstance(paths, pa.Array | pa.ChunkedArray) else pa.array(paths, pa.string())
    if not Reading.parse(reading).strict_target:
        found = pc.is_valid(column)
    elif pa.types.is_dictionary(column.type):
        return _matches_dictionary(steps, column, reading, equivalents)
    else:
        found = pc.fill_null(pc.match_substring_regex(column, location_pattern(steps, equivalents)), False)
    mask: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False) if isinstance(found, pa.Array) else found.to_numpy()
    return mask


def _matches_dictionary(
    steps: tuple[Step, ...], column: Any, reading: str, equivalents: Equivalents
) -> NDArray[np.bool_]:
    """Match every distinct path once; null codes take the extra last entry, which is no match."""
    import numpy as np  # noqa: PLC0415  parsing a query must not wait for NumPy
    import pyarrow as pa  # noqa: PLC0415  as above

    whole = column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # what combine_chunks returns differs between Arrow's versions
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], whole.type)
    known = np.append(matches(steps, whole.dictionary, reading, equivalents), False)
    codes = whole.indices.cast(pa.int64()).fill_null(len(whole.dictionary)).to_numpy(zero_copy_only=False)
    answer: NDArray[np.bool_] = known[codes]
    return answer
