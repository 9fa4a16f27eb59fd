"""What a format is: a name, a documentation, a way to tell it, a reader and a writer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.data.run import Run
    from focuseval.formats.source import Source

Kind = Literal["run", "gold"]
Faults = Literal["refuse", "keep"]


def read_faultless(read: Callable[[Source], Run], source: Source) -> Run:
    """Return what a reader makes of a file; raise the first fault that it kept."""
    run = read(source)
    if run.faults:
        raise run.faults[0]
    return run


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
    by_topic: bool = False
    """Whether the campaign kept a file for every topic."""

    located: bool = False
    """Whether ``read`` and ``write`` take the documents too, to understand or to write other offsets than ours."""

    def reader(self, documents: Any, faults: Faults = "refuse") -> Callable[..., Any]:
        """Return the reader, given the documents (or None) where it asks for them.

        Whoever looks for what is wrong with a run keeps its faults; for everybody else they are errors.
        """
        read = import_module(self.module).read
        read = partial(read, documents=documents) if self.located else read
        return read if self.kind == "gold" or faults == "keep" else partial(read_faultless, read)

    def writer(self, documents: Any) -> Callable[..., Any]:
        """Return the writer in the same way; a format that can only be read is refused."""
        if not hasattr(import_module(self.module), "write"):
            raise FormatError(f"{self.name} can be read, not written", remedy="choose another format, such as JSONL")
        return partial(self.write, documents=documents) if self.located else self.write

    @property
    def read(self) -> Callable[..., Any]:
        """The reader without documents, imported when it is first used."""
        return self.reader(None)

    @property
    def write(self) -> Callable[..., Any]:
        """The writer, imported when it is first used."""
        writer: Callable[..., Any] = import_module(self.module).write
        return writer

    @property
    def documentation(self) -> str:
        """The module's docstring: what the format is, with a sample."""
        return import_module(self.module).__doc__ or self.summary
