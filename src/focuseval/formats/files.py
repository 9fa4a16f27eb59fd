"""Reading runs and golds from files, whatever their format; a large run also a block of whole topics at a time.

Blocks are cut where a topic begins, by a look at the lines near every sixteenth megabyte. A run whose topics do not
stand together comes out with a topic in two blocks: the caller must notice, and read the file at once. The first blocks
are read before anybody asks for them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.engine.storage import Location, Remote, location
from focuseval.engine.workers import cores
from focuseval.errors import FormatError, Place
from focuseval.formats import detection
from focuseval.formats.catalogue import Faults, Format, detect_source, find_format, sniffed
from focuseval.formats.content import Source, open_source, open_sources, shown, without_preamble
from focuseval.formats.ranking import RankingOrder
from focuseval.placing.place import place_gold, place_run, refuse_past_end

if TYPE_CHECKING:
    from focuseval.collection.index import Collection

    Documents = Collection | str | Path | Mapping[str, str]
    """What may be given as documents: an index, a folder or a file of documents, or a mapping from ids to texts."""

T = TypeVar("T")

STREAMED = ("run-jsonl", "trec-run")  # formats whose lines each name their topic
LARGE = 1 << 26  # bytes from which on a run is read in blocks
BLOCK = 1 << 24  # bytes that are read at once: about 200,000 results as JSON lines, 450,000 as TREC writes them
_LOOK = 1 << 16  # bytes before a cut that are looked at first; a topic that reaches further back is followed
_COUNTED = 1 << 20  # bytes whose lines are counted at once


def read_run(
    path: str | Path | Source,
    format: str | None = None,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    docs: Documents | None = None,
    hashed: bool = True,
    faults: Faults = "refuse",
    order: RankingOrder | None = None,
) -> Run:
    """Return the run in a file (``-``: standard input).

    Documents (`docs`: a folder, a file, an index, a mapping from ids to texts; or an open `index`) resolve its paths
    and texts to spans. With ``hashed=False`` its `sha256` stays empty. With ``faults="keep"`` scores that are no finite
    numbers, and documents that a TREC run repeats, are not refused: the run's `faults` say why no measure can be
    computed, and a score that is no finite number ranks last. `order` says what ranks the results where the file does
    not, or does it wrongly: ``"file"``, descending ``"score"``, or ``"lower"`` scores first, for distances.
    """
    index = index if docs is None else _opened(docs)
    folder = not isinstance(path, Source) and str(path) != "-" and location(path).is_dir()
    sources = open_sources(path) if folder else (open_source(path, hashed=hashed),)
    chosen = find_format(format, "run") if format else detect_source(sources[0], "run")
    run: Run = chosen.reader(index, faults, order)(run_source(chosen, sources))
    return run if index is None else place_run(run, index)


def read_gold(
    path: str | Path | Source,
    format: str | None = None,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    docs: Documents | None = None,
) -> Gold:
    """Return the gold in a file, a folder of files, or standard input.

    Documents (`docs`: a folder, a file, an index, a mapping from ids to texts; or an open `index`) resolve its paths
    and check its quotes.
    """
    index = index if docs is None else _opened(docs)
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else one_format(sources)
    gold = chosen.reader(index)(sources)
    asked = None if isinstance(path, Source) or str(path) == "-" else location(path) / "queries.jsonl"
    if asked is not None and not any(gold.queries.values()) and asked.is_file():  # beside the judgements of BEIR
        from focuseval.data.topics import read_topics  # noqa: PLC0415  few golds have their questions in another file

        gold = replace(gold, queries={topic.id: topic.title for topic in read_topics(str(asked))})
    return placed_gold(gold, index)


def run_source(chosen: Format, sources: Sequence[Source]) -> Any:
    """Return what the reader of a run takes: the file, or all files of the formats that may have several."""
    if chosen.several:
        return sources
    if len(sources) > 1:
        what = "expected one file, as a run is, found a folder of several"
        raise FormatError(what, at=sources[1].name, remedy="name the file")
    return sources[0]


def _opened(docs: Documents) -> Collection:
    if hasattr(docs, "lengths"):  # a collection, open already
        return cast("Collection", docs)
    from focuseval.formats.embedded import open_documents  # noqa: PLC0415  loads every kind of collection

    return open_documents(cast("Any", docs))


def placed_gold(gold: Gold, index: Collection | None) -> Gold:
    """Return a gold in its collection; without one a quoted span past its document's end cannot be put right."""
    if index is not None:
        return place_gold(gold, index)
    if gold.passages.quote is not None:
        refuse_past_end(gold)
    return gold


def one_format(sources: Sequence[Source]) -> Format:
    """Return the format that all files of a gold share; assessments without any judged element fit every year."""
    formats = [detect_source(source, "gold") for source in sources]
    unjudged = [detection.unjudged(source.head()) for source in sources]
    judged = [known for known, empty in zip(formats, unjudged, strict=True) if not empty]
    chosen = (judged or formats)[0]
    for source, other, empty in zip(sources, formats, unjudged, strict=True):
        if other != chosen and not (chosen.by_topic and empty):
            what = f"expected one format in the folder, {chosen.name}, found {other.name}"
            raise FormatError(what, at=source.name, remedy="keep golds of different formats in different folders")
    return chosen


def streamed_format(source: object, run_format: str | None = None) -> str | None:
    """Return the format of a large file that may be streamed, else None; such a run names no task."""
    if not isinstance(source, (str, PathLike)):
        return None
    path = location(source)
    try:
        if not (isinstance(path, Remote) or path.is_file()) or path.stat().st_size < LARGE:
            return None
    except OSError:  # whoever reads it says why not
        return None
    with path.open("rb") as file:
        known = find_format(run_format, "run") if run_format else sniffed(file.read(1 << 16), "run")
    return known.name if known is not None and known.name in STREAMED else None


def ahead(sources: Sequence[Any], run_format: str | None = None) -> list[Any]:
    """Return runs, the first of them being read already if it is a large file: while a gold is read, a core is idle."""
    known = streamed_format(sources[0], run_format) if sources else None
    if known is None:
        return list(sources)
    first = sources[0] if isinstance(sources[0], LargeRun) else LargeRun(location(sources[0]), known)
    return [first, *sources[1:]]


class LineBlock(Source):
    """The lines between two cuts of a file, which know where in it they stand; a byte-order mark is left out."""

    def __init__(self, path: Location, start: int, end: int) -> None:
        """Read the lines, which nobody hashes."""
        super().__init__(shown(path), path=path, hashed=False)
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(end - start)
        if len(data) != end - start:
            what = f"expected {end:,} bytes, found {start + len(data):,}: the file was cut off while it was read"
            raise FormatError(what, at=shown(path), remedy="read it when it has been written")
        self.path, self.start, self.data = path, start, data if start else without_preamble(data)

    def at(self, line: int | None = None, column: int | None = None) -> Place:
        """Return a place in the whole file; lines before this block are counted only now that somebody asks."""
        if line is not None:
            with self.path.open("rb") as file:
                sizes = (min(_COUNTED, self.start - first) for first in range(0, self.start, _COUNTED))
                line += sum(file.read(size).count(b"\n") for size in sizes)
        return Place(self.name, line, column)


def cuts(path: Location, topic_of: Callable[[bytes], Any], size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield first and last byte of every block: whole topics, about `size` bytes, more where one topic has more."""
    start, asked, whole = 0, size, path.stat().st_size
    with path.open("rb") as file:
        while start < whole:
            near = start + asked
            end = _topic_start(file, start, near, topic_of) if near < whole else whole
            if end > start:
                yield start, end
                start, asked = end, size
            else:
                asked *= 2  # one topic fills the block


def _topic_start(file: BinaryIO, first: int, near: int, topic_of: Callable[[bytes], Any]) -> int:
    """Return where the topic of the last whole line before a byte begins; `first` where it fills all in between."""
    look = _LOOK
    while True:
        low = max(first, near - look)
        file.seek(low)
        lines = file.read(near - low).split(b"\n")
        at = near - len(lines.pop())
        lines = lines if low == first else lines[1:]  # its beginning may be missing
        topic = topic_of(lines[-1]) if lines else None
        for line in reversed(lines):
            if topic_of(line) != topic:
                return at
            at -= len(line) + 1
        if low == first:
            return first
        look *= 4


def json_topic(line: bytes) -> Any:
    """Return the topic of a line of JSON; None where there is none, which the reader will say.

    >>> json_topic(b'{"topic": "q1", "doc": "a.md"}')
    'q1'
    """
    try:
        return json.loads(line)["topic"]
    except (ValueError, LookupError, TypeError):
        return None


class LargeRun:
    """A large run in a file, to be used as its path; its first blocks are being read while somebody reads the gold."""

    def __init__(self, path: Location, name: str) -> None:
        """Start reading a file in the format of this name."""
        self.path, self._most = path, 2 * cores()  # blocks that are read before anybody asks, or wait to be taken
        self._pool = ThreadPoolExecutor(cores())
        self._read, topic_of = block_reader(path, name)
        self._cuts = cuts(path, topic_of)
        self._ahead = [(cut[1], self._pool.submit(self._block, *cut)) for cut in islice(self._cuts, self._most)]

    def __fspath__(self) -> str:
        """Return the file's name: whoever knows nothing of blocks reads the file at once."""
        return str(self.path)

    def each(self, work: Callable[[Run], T]) -> Iterator[tuple[T, float]]:
        """Yield what `work` returns for every block, in file order, and the share of the file that is done; once.

        Several blocks are worked on at once, and only so many wait.
        """
        whole = self.path.stat().st_size
        waiting: deque[tuple[Future[T], float]] = deque()
        reading: Iterator[tuple[int, Callable[[], Run]]] = chain(
            ((end, begun.result) for end, begun in self._ahead),
            ((end, partial(self._block, start, end)) for start, end in self._cuts),
        )
        with self._pool as pool:
            for end, block in reading:
                waiting.append((pool.submit(lambda wait: work(wait()), block), end / whole))
                if len(waiting) > self._most:
                    future, share = waiting.popleft()
                    yield future.result(), share
            yield from ((future.result(), share) for future, share in waiting)

    def _block(self, start: int, end: int) -> Run:
        return self._read(LineBlock(self.path, start, end))


def block_reader(path: Location, name: str) -> tuple[Callable[[Source], Run], Callable[[bytes], Any]]:
    """Return how the blocks of a file in this format are read, and how its lines name their topic."""
    read = find_format(name, "run").reader(None, part=True)
    if name != "trec-run":
        return read, json_topic
    with path.open("rb") as file:
        named = without_preamble(file.read(BLOCK)).strip().split(b"\n", 1)[0].split()[-1:]
    read = partial(read, name=named[0].decode(errors="replace") if named else None)
    return read, lambda line: line.split(None, 1)[:1]
