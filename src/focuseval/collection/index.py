"""An index: documents, their texts and their elements, found by id, path or pointer; and what papers' tables say of it.

`Index` answers in columns. Rows of documents are numbered 0 … len − 1 in the index's order; elements are numbered
through all documents in document order (`Elements.row`). `IndexedDocument` and `Elements` are one document and its
elements, for readers and programs that need not know rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from focuseval.collection.block import Block
from focuseval.collection.names import Names, find_elements, find_nodes, parse_paths, path_strings, split_pointers
from focuseval.collection.pages import Pages, pages_of
from focuseval.collection.segments import Segments
from focuseval.data.spans import spread
from focuseval.data.tables import Described
from focuseval.engine.lazy import cached_property
from focuseval.engine.native import encoded
from focuseval.errors import CollectionError, counted


class IndexedElement(NamedTuple):
    """One element: its path, its tag, and where it lies in its document's text."""

    path: str
    tag: str
    depth: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Elements:
    """Elements of one document or of several, in document order: columns, or one by one."""

    document: NDArray[np.int64]
    """Row of the document in the index."""
    row: NDArray[np.int64]
    """Number of the element in the whole index."""
    tag_code: NDArray[np.int32]
    n: NDArray[np.int32]
    depth: NDArray[np.int16]
    """1 for a root."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    parent: NDArray[np.int64]
    """Row of the parent in this table, −1 for a root."""
    tag_names: tuple[str, ...]
    """``tag_names[tag_code]`` is the name of a tag."""

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[IndexedElement]:
        columns = (self.depth.tolist(), self.start.tolist(), self.end.tolist())
        return (IndexedElement(*row) for row in zip(self.paths(), self.tags, *columns, strict=True))

    @cached_property
    def tag(self) -> pa.Array:
        """The tag of every element, a string array."""
        return pa.array(self.tag_names, pa.string()).take(pa.array(self.tag_code))

    @property
    def tags(self) -> list[str]:
        """The tag of every element."""
        return list(self.tag.to_pylist())

    def paths(self) -> list[str]:
        """Return the path of every element."""
        return list(self.path_strings(np.arange(len(self))).to_pylist())

    def path_strings(self, rows: NDArray[np.integer]) -> Any:
        """Return the paths of some rows of this table as a string array."""
        return path_strings(rows.astype(np.int64), self.parent, self.tag_code, self.n, self.tag_names)


@dataclass(frozen=True, eq=False, repr=False)
class Index(Described):
    """A collection of documents; `focuseval.open_index` and `open_documents` make one."""

    documents: Any
    """An Arrow table, a row per document: id, file, bytes, length, sha256, elements, nodes."""
    blocks: Sequence[Block]
    """Those of an index on disk are mapped when they are asked for."""
    first: NDArray[np.int64]
    """The first document of every block, and one more entry for the end of the last."""
    sha256: str
    """Hash over the ids and text hashes of all documents, whatever their order in the source."""
    name: str = ""
    """Where it was read from."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What was counted while it was made."""
    segments: Segments | None = None
    """Where the segments lie, if that is what the documents were given as."""
    reopen: tuple[Callable[..., Index], tuple[Any, ...]] | None = None
    """How another process opens it, where it is stored: a function and its arguments."""

    def __len__(self) -> int:
        return int(self.first[-1])

    def description(self) -> str:
        """Return one line: kind, place and counts."""
        elements = counted(int(self.element_bounds[-1]), "element")
        return f"Index {self.name}: {counted(len(self), 'document')}, {elements}"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Travel to another process by name where the index is stored, as a whole where it is not."""
        return self.reopen or super().__reduce_ex__(protocol)

    def part(self, begin: int, end: int) -> Index:
        """Return some blocks of the collection as one of its own, whose rows count from its first document."""
        first = self.first[begin : end + 1]
        documents = self.documents.slice(int(first[0]), int(first[-1] - first[0]))
        return replace(self, documents=documents, blocks=self.blocks[begin:end], first=first - first[0], reopen=None)

    @cached_property
    def ids(self) -> Any:
        """The ids of all documents, a string array."""
        return self.documents.column("id").combine_chunks()

    _names = cached_property[Names](lambda index: Names(index.ids))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Code points of every document's text."""
        return self._column("length")

    @cached_property
    def element_bounds(self) -> NDArray[np.int64]:
        """The first element of every document in the numbering of all, and the end of the last."""
        return np.append(0, np.cumsum(self._column("elements")))

    def _column(self, name: str) -> NDArray[np.int64]:
        return np.asarray(self.documents.column(name).to_numpy(), np.int64)

    def find(self, ids: Any) -> NDArray[np.int32]:
        """Return the row of every id, −1 where it is unknown; an ambiguous id raises `CollectionError`."""
        column = encoded(ids)
        rows = self._names.match(column.dictionary.cast(pa.string()))
        which: NDArray[np.int64] = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return np.append(rows, np.int32(-1))[which]

    def document(self, id: str) -> IndexedDocument:  # noqa: A002  the name that everybody knows
        """Return one document by its id, which matches as the ids of runs and golds do.

        >>> from focuseval import open_documents
        >>> page = open_documents({"a.md": "To be."}).document("a")
        >>> page.id, page.text, [element.path for element in page]
        ('a.md', 'To be.', ['/document[1]'])
        """
        row = int(self.find([id])[0])
        if row < 0:
            remedy = "index.ids lists the ids of all documents"
            raise CollectionError(f"no document {id!r}", at=self.name, remedy=remedy)
        return IndexedDocument(self, row)

    def __iter__(self) -> Iterator[IndexedDocument]:
        return (IndexedDocument(self, row) for row in range(len(self)))

    def text(self, row: int) -> str:
        """Return the text of one document."""
        return str(self.texts([row])[0])

    def texts(self, rows: ArrayLike) -> Any:
        """Return the texts of documents as one large string array, in the order of `rows`."""
        parts, places = [], []
        for block, documents, here in self._by_block(self._checked(rows)):
            parts.append(block.texts(documents))
            places.append(here)
        if not parts:
            return pa.array([], pa.large_string())
        return pa.concat_arrays(parts).take(pa.array(np.argsort(np.concatenate(places))))

    def put_in(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Return how many characters of documents stand in no text node: those that separate words of HTML."""
        wanted = self._checked(rows)
        number = np.zeros(len(wanted), np.int64)
        for block, documents, here in self._by_block(wanted):
            held = np.append(0, np.cumsum(block.node("end").astype(np.int64) - block.node("start")))
            first, last = block.node_bounds[documents], block.node_bounds[documents + 1]
            number[here] = self.lengths[wanted[here]] - (held[last] - held[first])
        return number

    def pages(self, row: int) -> Pages | None:
        """Return the pages of one document, with the boxes of its characters; None where it is no PDF."""
        ((block, documents, _),) = self._by_block(self._checked([row]))
        return pages_of(block, int(documents[0]))

    def elements(self, row: int) -> Elements:
        """Return the elements of one document, in document order."""
        return self.elements_of([row])

    def elements_of(self, rows: ArrayLike) -> Elements:
        """Return the elements of several documents, one document after the other in the order of `rows`."""
        wanted = self._checked(rows)
        sizes = np.diff(self.element_bounds)[wanted]
        ends = np.cumsum(sizes)
        kinds = {"tag": "i4", "n": "i4", "depth": "i2", "start": "i8", "end": "i8", "parent": "i8"}
        columns = {name: np.zeros(int(sizes.sum()), kind) for name, kind in kinds.items()}
        tags: dict[str, int] = {}
        for block, documents, here in self._by_block(wanted):
            source = spread(block.element_bounds[documents], sizes[here])
            target = spread((ends - sizes)[here], sizes[here])
            for name, column in columns.items():
                column[target] = block.element(name)[source]
            recode = np.array([tags.setdefault(tag, len(tags)) for tag in block.tags], np.int32)
            columns["tag"][target] = recode[columns["tag"][target]]
        columns["parent"] += np.where(columns["parent"] < 0, 0, np.repeat(ends - sizes, sizes))
        row, code = spread(self.element_bounds[wanted], sizes), columns.pop("tag")
        return Elements(np.repeat(wanted, sizes), row, code, **columns, tag_names=tuple(tags))

    def path_strings(self, elements: ArrayLike) -> Any:
        """Return the paths of elements, given by their numbers in the whole index (`Elements.row`)."""
        wanted = np.asarray(elements, np.int64)
        document = np.searchsorted(self.element_bounds, wanted, "right") - 1
        seen, place = np.unique(document, return_inverse=True)
        table = self.elements_of(seen)
        sizes = np.diff(self.element_bounds)[seen]
        inside = wanted - self.element_bounds[document]
        return table.path_strings(inside + (np.cumsum(sizes) - sizes)[place])

    def resolve(self, rows: ArrayLike, paths: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the spans of elements given by document row and path; −1, −1 where there is none."""
        start, end = (np.full(len(np.asarray(rows)), -1, np.int64) for _ in range(2))
        for block, here, _, element in self._resolved(rows, paths):
            start[here] = block.element("start")[element]
            end[here] = block.element("end")[element]
        return start, end

    def resolve_rows(self, rows: ArrayLike, paths: Any) -> NDArray[np.int64]:
        """Return the numbers of elements in the whole index (`Elements.row`), −1 where there is none."""
        documents = np.asarray(rows, np.int64)
        row = np.full(len(documents), -1, np.int64)
        for block, here, document, element in self._resolved(rows, paths):
            row[here] = self.element_bounds[documents[here]] + element - block.element_bounds[document]
        return row

    def resolve_points(self, rows: ArrayLike, pointers: Any, whitespace: str = "keep") -> NDArray[np.int64]:
        """Return the positions of XPointers (``/a[1]/p[2]/text()[1].5``) or of elements' starts; −1 where missing.

        ``whitespace="strip"`` does not count text nodes that hold white space alone.
        """
        paths, n, offset = split_pointers(pointers)
        position = np.full(len(n), -1, np.int64)
        for block, here, document, element in self._resolved(rows, paths):
            position[here] = np.where(offset[here] == 0, block.element("start")[element], -1)
            inner = np.flatnonzero(n[here] > 0)
            at = here[inner]
            node = find_nodes(block, document[inner], element[inner], n[at], strip=whitespace == "strip")
            start, end = (np.append(block.node(name), -1)[node].astype(np.int64) for name in ("start", "end"))
            position[at] = np.where((node >= 0) & (start + offset[at] <= end), start + offset[at], -1)
        return position

    def _resolved(self, rows: ArrayLike, paths: Any) -> Iterator[tuple[Block, Any, Any, Any]]:
        """Yield, block by block: the block, which queries have an answer there, their documents and elements."""
        steps = parse_paths(paths)
        documents = np.asarray(rows, np.int64)
        known = np.flatnonzero((documents >= 0) & (documents < len(self)))
        for block, local, here in self._by_block(documents[known]):
            element = find_elements(block, local, steps.path[known[here]], steps)
            found = element >= 0
            yield block, known[here][found], local[found], element[found]

    def _by_block(self, rows: NDArray[np.int64]) -> Iterator[tuple[Block, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield every block touched: the block, documents counted from its first, and their places in `rows`."""
        number = np.searchsorted(self.first, rows, "right") - 1
        order = np.argsort(number, kind="stable")
        for here in np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []:
            block = int(number[here[0]])
            yield self.blocks[block], rows[here] - self.first[block], here

    def _checked(self, rows: ArrayLike) -> NDArray[np.int64]:
        wanted = np.asarray(rows, np.int64)
        if len(wanted) and not 0 <= wanted.min() <= wanted.max() < len(self):
            raise IndexError(f"document rows are 0 … {len(self) - 1}")
        return wanted


Collection: TypeAlias = Index  # what the rest of the package asks for documents, their texts and elements


@dataclass(frozen=True, eq=False)
class IndexedDocument:
    """One document of a collection."""

    collection: Index
    row: int

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.collection.ids[self.row])

    @cached_property
    def text(self) -> str:
        """Its text, to which the offsets of its elements and of everybody's spans refer."""
        return self.collection.text(self.row)

    @cached_property
    def elements(self) -> Elements:
        """Its elements, in document order."""
        return self.collection.elements(self.row)

    def __len__(self) -> int:
        return int(self.collection.lengths[self.row])

    def __iter__(self) -> Iterator[IndexedElement]:
        return iter(self.elements)

    def span(self, path: str) -> tuple[int, int] | None:
        """Return where an element begins and ends, None where the document has no such path."""
        start, end = self.collection.resolve([self.row], [path])
        return (int(start[0]), int(end[0])) if start[0] >= 0 else None

    def __repr__(self) -> str:
        return f"IndexedDocument({self.id!r}, {len(self):,} characters)"


@dataclass(frozen=True)
class CollectionStatistics:
    """Counts and means of a collection.

    Papers that speak of an article's "nodes" mean its elements; `nodes_per_article` counts text nodes too. A mean depth
    can be taken over all elements of the collection, or over articles, each with its own mean: long articles with much
    mathematics pull the two apart, so both are given.
    """

    documents: int
    elements: int
    text_nodes: int
    bytes: int
    characters: int
    elements_per_article: float
    nodes_per_article: float  # elements and text nodes
    mean_depth: float  # over all elements; a root has depth 1
    mean_depth_of_articles: float  # over articles, of the mean depth of their elements
    max_depth: int
    unique_tags: int
    mean_length: float  # characters of a document's text
    tags: tuple[tuple[str, int], ...]  # every tag with its count, the most frequent first


def describe(index: Index) -> CollectionStatistics:
    """Return the figures that papers print of a collection, one block at a time."""
    tags: Counter[str] = Counter()
    depth = deepest = 0
    article_depth = 0.0
    for block in index.blocks:
        counts = np.bincount(block.element("tag"), minlength=len(block.tags))
        tags.update(dict(zip(block.tags, counts.tolist(), strict=True)))
        depths = block.element("depth")
        sums = np.add.reduceat(depths, block.element_bounds[:-1], dtype=np.int64)
        depth += int(sums.sum())
        article_depth += float((sums / np.diff(block.element_bounds)).sum())
        deepest = max(deepest, int(depths.max(initial=0)))
    columns = ("bytes", "length", "elements", "nodes")
    size, length, elements, nodes = (int(index.documents.column(name).to_numpy().sum()) for name in columns)
    articles = len(index)
    return CollectionStatistics(
        documents=articles,
        elements=elements,
        text_nodes=nodes,
        bytes=size,
        characters=length,
        elements_per_article=elements / articles,
        nodes_per_article=(elements + nodes) / articles,
        mean_depth=depth / elements,
        mean_depth_of_articles=article_depth / articles,
        max_depth=deepest,
        unique_tags=len(tags),
        mean_length=length / articles,
        tags=tuple(sorted(tags.items(), key=lambda item: (-item[1], item[0]))),
    )
