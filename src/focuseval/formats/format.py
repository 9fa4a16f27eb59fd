"""What a format is: a name, a documentation, a way to tell it, a reader and a writer."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["run", "gold"]


@dataclass(frozen=True)
class Format:
    """A file format; its module holds ``read``, ``write`` and, as docstring, the documentation with a sample.

    A run's ``read`` takes one `Source`, a gold's a sequence of them (a folder is one gold); ``write`` yields bytes.
    """

    name: str
    kind: Kind
    summary: str
    module: str
    sniff: Callable[[bytes], bool]
    """Whether the first bytes of a file look like this format."""
    says: frozenset[str]
    """What the format can say: see `focuseval.formats.facets`."""
    aliases: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    """File name endings that choose this format for output."""

    @property
    def read(self) -> Callable[[Any], Any]:
        """The reader, imported when it is first used."""
        reader: Callable[[Any], Any] = import_module(self.module).read
        return reader

    @property
    def write(self) -> Callable[[Any], Any]:
        """The writer, imported when it is first used."""
        writer: Callable[[Any], Any] = import_module(self.module).write
        return writer

    @property
    def documentation(self) -> str:
        """The module's docstring: what the format is, with a sample."""
        return import_module(self.module).__doc__ or self.summary
