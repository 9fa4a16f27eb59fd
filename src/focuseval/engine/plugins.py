"""What other packages add to focuseval: measures, formats, chunkers and retrievers, found by their entry points.

A package names what it adds in its ``pyproject.toml``, and it is found once the package is installed::

    [project.entry-points."focuseval.measures"]
    useful = "my_package:USEFUL"

The groups are ``focuseval.measures``, ``focuseval.formats``, ``focuseval.chunkers`` and ``focuseval.retrievers``.
Packages are asked only for a name that is not one of ours, so that they can replace nothing, and cost nothing where
they are not used.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

from focuseval.errors import UsageError

Kind = Literal["measures", "formats", "chunkers", "retrievers"]


class Plugin(NamedTuple):
    """A value that a package adds."""

    value: Any
    origin: str  # the package and its version, as signatures name it


@cache
def offered(kind: Kind) -> dict[str, Any]:
    """Return what the installed packages add, by name: entry points that are not loaded yet."""
    from importlib.metadata import entry_points  # noqa: PLC0415  15 ms, and most calls use our own names alone

    found: dict[str, Any] = {}
    for point in entry_points(group=f"focuseval.{kind}"):
        other = found.setdefault(point.name, point)
        if _origin(other) != _origin(point):
            what = f"expected one package to add {point.name!r} to focuseval.{kind}, found two"
            raise UsageError(f"{what}, {_origin(other)} and {_origin(point)}; uninstall one of them")
    return found


def plugin(kind: Kind, name: str, wanted: type | None = None) -> Plugin | None:
    """Return what a package adds under a name, None where none does; it must be `wanted`, by default a function."""
    point = offered(kind).get(name)
    if point is None:
        return None
    what = f"{_origin(point)}: the entry point {name!r} of focuseval.{kind}"
    try:
        value: Any = point.load()
    except Exception as error:
        why = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        raise UsageError(f"{what} cannot be loaded ({why}); repair or uninstall the package") from error
    if not (isinstance(value, wanted) if wanted else callable(value)):
        expected = wanted.__name__ if wanted else "function or a class"
        raise UsageError(f"{what}: expected a {expected}, found {str(value)[:80]!r}; see the page 'Extend focuseval'")
    if wanted and name not in {value.name, *value.aliases}:
        raise UsageError(f"{what}: expected something of this name, found {value.name!r}; give both one name")
    return Plugin(value, _origin(point))


def _origin(point: Any) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"
