"""A pool as values: who contributed, what there is to judge, and how it was chosen."""

from __future__ import annotations

from dataclasses import dataclass

ORDERS = ("runs", "shuffled")


@dataclass(frozen=True)
class Contributor:
    """A run that was pooled."""

    run: str
    file: str = ""
    sha256: str = ""
    batch: int = 0
    depth: int | None = None
    """How deep it was pooled, or with `size` until how many documents: a later batch may differ."""
    size: int | None = None


@dataclass(frozen=True)
class Entry:
    """A document to judge for a topic."""

    topic: str
    document: str
    runs: int
    best: int
    by: tuple[int, ...]
    batch: int = 0


@dataclass(frozen=True)
class Pool:
    """Documents to judge, topic by topic in judging order, and where they come from."""

    contributors: tuple[Contributor, ...]
    entries: tuple[Entry, ...]
    depth: int | None = None
    size: int | None = None
    order: str = "runs"
    seed: int = 0
