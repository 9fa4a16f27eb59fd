"""Chunks: documents cut by characters, words, sentences, tokens, elements or a splitter, with exact offsets.

How documents are cut, as people type it::

    characters:400        400 characters, end to end          characters:400/300   a new one every 300: they overlap
    words:100/50          100 words, every 50                 sentences:5          five sentences
    tokens:256/200        256 tokens of a tokenizer           elements:sec,p       every element of these tags
    headings:2            Markdown sections, from headings of the first or second level on
    recursive:400         at empty lines, else lines, else blanks, else anywhere: as much as fits into 400 characters
    semantic:95           before a sentence that is farther from the one before it than 95 % of a document's are
    pages                 every page of a PDF
    blocks:3              three blocks of pages' text         llamaindex:SentenceSplitter:256/200
    langchain:RecursiveCharacterTextSplitter:400/300

The number behind the stroke is the distance between beginnings; without it chunks stand end to end. A distance larger
than the size leaves gaps, which are counted. Everything that retrieves or scores chunks uses this one cutter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.boundaries import (
    Boundaries,
    between_blanks,
    boundaries,
    cut_block,
    moved_left,
    sentences,
    texts_of,
    trimmed,
    windows,
)
from focuseval.collection.index import Collection, Index
from focuseval.collection.tokens import Tokenizer
from focuseval.data.spans import union
from focuseval.data.tables import Framed
from focuseval.engine.plugins import offered, plugin
from focuseval.errors import CollectionError, FormatError, UsageError, counted, did_you_mean

Integers = NDArray[np.int64]
Spans = list[tuple[int, int]]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Cuts = tuple[Integers, Integers, Integers]

WINDOWS = ("characters", "words", "sentences", "tokens")
"""Kinds that count something: chunks are so many of them, every so many."""
PARTS = {"pages": "page", "blocks": "block"}  # kinds that count the pages of PDFs, or their blocks; their elements
SPLITTERS = ("langchain", "llamaindex")  # packages whose splitters can be named
CUTTERS = {"headings": 6, "recursive": 999_999_999, "semantic": 99}
"""Kinds that follow what a text says, which take one number, and the largest."""
_EXAMPLES = (
    "characters:400, words:100/50, sentences:5, headings:2, elements:sec, pages, langchain:CLASS:400/300, or a file"
)


@dataclass(frozen=True)
class Spec:
    """One way of cutting documents.

    >>> [str(parse_spec(how)) for how in ("words:100/100", "elements:sec,p", "page", "blocks:3/2")]
    ['words:100', 'elements:sec,p', 'pages', 'blocks:3/2']
    """

    kind: str
    size: int = 0
    step: int = 0  # distance between beginnings
    names: tuple[str, ...] = ()
    """Tags of elements, the class of a splitter, or what follows the name of another package's chunker."""
    origin: str = ""  # the package that adds the chunker, with its version; empty for ours

    def __str__(self) -> str:
        stroke = "" if self.step == self.size else f"/{self.step}"
        window = [f"{self.size}{stroke}"] if self.size else []
        if self.kind in PARTS and self.size == self.step == 1:
            return self.kind
        return ":".join([self.kind, *([",".join(self.names)] if self.names else []), *window])


def parse_spec(text: str) -> Spec:
    """Read a SPEC; what is none is refused with the nearest one."""
    if found := re.fullmatch(r"elements:([^\s,:/]+(?:,[^\s,:/]+)*)", text):
        return Spec("elements", names=tuple(dict.fromkeys(found[1].split(","))))
    if found := re.fullmatch(r"(page|block)s?(?::([1-9][0-9]{0,8})(?:/([1-9][0-9]{0,8}))?)?", text):
        size = int(found[2] or 1)
        return Spec(f"{found[1]}s", size, int(found[3] or size))
    found = re.fullmatch(r"([a-z]+):(?:([A-Za-z_]\w*):)?([1-9][0-9]{0,8})(?:/([1-9][0-9]{0,8}))?", text)
    if found and found[1] in CUTTERS and not (found[2] or found[4]) and int(found[3]) <= CUTTERS[found[1]]:
        return Spec(found[1], int(found[3]), int(found[3]))
    if found and found[1] in (SPLITTERS if found[2] else WINDOWS):
        spec = Spec(found[1], int(found[3]), int(found[4] or found[3]), (found[2],) if found[2] else ())
        if spec.names and spec.step > spec.size:
            what = f"expected a distance up to the size, found {text!r}"
            raise UsageError(f"{what}; splitters of {spec.kind} leave no gaps")
        return spec
    kind, _, rest = text.partition(":")
    known = (*WINDOWS, *PARTS, "elements", *CUTTERS, *SPLITTERS)
    if kind not in known and (added := plugin("chunkers", kind)):
        return Spec(kind, names=(rest,) if rest else (), origin=added.origin)
    if kind in {*WINDOWS, *PARTS}:
        remedy = f"write {kind}:SIZE or {kind}:SIZE/STEP with whole numbers of at least 1"
    elif kind in CUTTERS:
        remedy = f"write {kind}:N with a whole number from 1 to {CUTTERS[kind]:,}"
    elif kind in SPLITTERS:
        remedy = f"write {kind}:CLASS:SIZE or {kind}:CLASS:SIZE/STEP"
    else:
        remedy = (rest and did_you_mean(kind, (*known, *offered("chunkers")))) or "no file has this name"
    raise UsageError(f"expected how to cut documents ({_EXAMPLES}), found {text!r}; {remedy}")


@dataclass(frozen=True, eq=False)
class Chunks(Framed):
    """All chunks of a chunker: document ids and half-open spans of code points."""

    document: pa.Array
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    name: str = ""
    """How they were cut: the SPEC, or the file that they were read from."""
    remarks: tuple[str, ...] = ()
    """What a reader should know: texts of a splitter that stand nowhere, say."""
    origin: str = ""
    """The package whose chunker cut them, with its version, where it is none of ours."""

    def __len__(self) -> int:
        return len(self.start)

    def to_arrow(self) -> pa.Table:
        """Return a table of doc, start and end, a row for every chunk."""
        return pa.table({"doc": self.document.cast(pa.string()), "start": self.start, "end": self.end})

    def rows(self, documents: Collection) -> NDArray[np.int64]:
        """Return the row of every chunk's document; one that is unknown, or ends before its chunk, is refused."""
        rows = documents.find(self.document).astype(np.int64)
        length = np.append(documents.lengths, -1)[rows]
        bad = np.flatnonzero((self.start < 0) | (self.end < self.start) | (self.end > length))
        if len(bad):
            which = int(bad[0])
            name, more = self.document[which].as_py(), f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
            inside = f"the {length[which]:,} characters of {name!r}"
            known = inside if rows[which] >= 0 else "a document of the collection"
            what = f"expected a chunk within {known}, found {name!r} {self.start[which]} … {self.end[which]}{more}"
            raise FormatError(what, at=self.name or None, remedy="give the documents that were cut")
        return rows

    def texts(self, documents: Collection) -> Iterator[str]:
        """Yield the text of every chunk."""
        return span_texts(documents, self.rows(documents), self.start, self.end)


def span_texts(documents: Collection, rows: Integers, start: Integers, end: Integers) -> Iterator[str]:
    """Yield the texts of spans; those of one document that stand together are cut from it at once."""
    edges = [*np.flatnonzero(np.diff(rows, prepend=-2)).tolist(), len(rows)]
    for first, last in pairwise(edges):
        text = documents.text(int(rows[first]))
        pairs = zip(start[first:last].tolist(), end[first:last].tolist(), strict=True)
        yield from (text[begin:stop] for begin, stop in pairs)


def as_chunks(index: Index, found: Cuts, name: str) -> Chunks:
    """Return documents' rows and spans as chunks; empty ones are left out."""
    kept = found[2] > found[1]
    document, start, end = (column[kept].astype(np.int64) for column in found)
    ids = pa.DictionaryArray.from_arrays(pa.array(document, pa.int32()), index.ids)
    return Chunks(ids, start, end, name)


def cuts(index: Index, spec: Spec, tokenizer: Tokenizer | None = None, embed: Embed | None = None) -> Cuts:
    """Return the row of its document, the start and the end of every chunk."""
    if spec.kind in CUTTERS:
        return _following(index, spec, embed)
    if spec.kind == "elements":
        return _elements(index, spec.names)
    if spec.kind in PARTS:
        document, start, end = _elements(index, (PARTS[spec.kind],))
        bounds = np.searchsorted(document, np.arange(len(index) + 1))
        return Boundaries(start, end, bounds).windows(spec.size, spec.step)
    if spec.kind == "characters":  # an edge inside of what is seen as one character moves before it
        document, start, end = windows(index.lengths, spec.size, spec.step)
        bounds = np.searchsorted(document, np.arange(len(index) + 1))
        for row, text in enumerate(texts_of(index)):
            here = slice(int(bounds[row]), int(bounds[row + 1]))
            start[here], end[here] = moved_left(text, start[here]), moved_left(text, end[here])
        return document, start, end
    if spec.kind == "words":
        pieces = boundaries(
            (cut.start[low:high].astype(np.int64), cut.end[low:high].astype(np.int64))
            for cut in map(cut_block, index.blocks)
            for low, high in pairwise(cut.bounds.tolist())
        )
    elif spec.kind == "sentences":
        pieces = boundaries(map(sentences, texts_of(index)))
    elif tokenizer is not None:  # a character that several tokens make up belongs to the first: no two chunks share it
        tokens = map(tokenizer.spans, texts_of(index))
        pieces = boundaries((np.append(start[:1], np.maximum(start[1:], end[:-1])), end) for start, end in tokens)
    else:
        what = "expected a tokenizer for chunks of tokens, found none"
        raise UsageError(f'{what}; give tokenizer="tiktoken:cl100k_base" or tokenizer="tokenizers:FILE"')
    return pieces.windows(spec.size, spec.step)


def _following(index: Index, spec: Spec, embed: Embed | None) -> Cuts:
    """Return chunks that follow headings, separators or subjects."""
    if spec.kind == "semantic":
        if embed is None:
            what = "expected an embedder for chunks by meaning, found none"
            raise UsageError(f"{what}; give --embedder http://HOST:PORT/v1#MODEL, or embed= in Python")
        every = semantic(list(texts_of(index)), spec.size, embed)
    else:
        cut = headings if spec.kind == "headings" else recursive
        every = [cut(text, spec.size) for text in texts_of(index)]
    spans = np.array([span for own in every for span in own], np.int64).reshape(-1, 2)
    return np.repeat(np.arange(len(every)), list(map(len, every))), spans[:, 0], spans[:, 1]


def _elements(index: Index, tags: tuple[str, ...]) -> Cuts:
    """Return every element of some tags, nested ones included."""
    seen = {tag for block in index.blocks for tag in block.tags}
    for tag in tags:
        if tag not in seen:
            remedy = did_you_mean(tag, seen, f"its tags: {', '.join(sorted(seen)[:10])}")
            raise CollectionError(f"expected a tag of the collection, found {tag!r}", at=index.name, remedy=remedy)
    parts = []
    for number, block in enumerate(index.blocks):
        begin, upto = int(block.element_bounds[0]), int(block.element_bounds[-1])
        wanted = np.flatnonzero(np.array([tag in tags for tag in block.tags])[block.element("tag")[begin:upto]])
        document = np.repeat(np.arange(len(block)), np.diff(block.element_bounds)) + index.first[number]
        columns = (block.element(name)[begin + wanted].astype(np.int64) for name in ("start", "end"))
        parts.append((document[wanted], *columns))
    document, start, end = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return document, start, end


_LINE = re.compile(r"(?m)^ {0,3}(?:(`{3,}|~{3,})|(#{1,6})(?:[ \t]|$)|(=+|-+)[ \t]*$)|^[^\n]*$")
SEPARATORS = ("\n\n", "\n", " ")


def headings(text: str, level: int) -> Spans:
    r"""Return the sections of a Markdown text, each from a heading of this level or above to the next.

    A heading begins with ``#``, or is underlined by ``=`` or ``-``; in a fenced block there is none.

    >>> text = "Intro\n# A\none\n### B\ntwo\nC\n---\nthree"
    >>> [text[a:b] for a, b in headings(text, 2)]
    ['Intro', '# A\none\n### B\ntwo', 'C\n---\nthree']
    """
    edges, fence, before = [0], "", 0
    for line in _LINE.finditer(text):
        mark, hashes, rule = line.groups()
        if mark and not fence:
            fence = mark
        elif fence:
            closes = mark and mark[0] == fence[0] and len(mark) >= len(fence)
            fence = "" if closes else fence
        elif hashes and len(hashes) <= level:
            edges.append(line.start())
        elif rule and text[before : line.start()].strip() and (1 if rule[0] == "=" else 2) <= level:
            edges.append(before)
        before = line.start()
    return trimmed(text, pairwise([*sorted(set(edges)), len(text)]))


def recursive(text: str, size: int) -> Spans:
    r"""Return as much of a text as fits into so many characters, cut at the coarsest separator that makes pieces fit.

    >>> text = "One two.\n\nThree four five six.\nSeven."
    >>> [text[a:b] for a, b in recursive(text, 12)]
    ['One two.', 'Three four', 'five six.', 'Seven.']
    """
    return trimmed(text, _fitting(text, 0, len(text), size, SEPARATORS))


def _fitting(text: str, start: int, end: int, size: int, separators: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pieces of a span that fit, neighbours together as long as they do."""
    if len(text[start:end].strip()) <= size:
        yield start, end
        return
    if not separators:
        edges = moved_left(text, np.arange(start, end, size)).tolist()
        yield from pairwise([*dict.fromkeys(edges), end])
        return
    first, *rest = separators
    cuts = [found.end() for found in re.finditer(re.escape(first), text[start:end])]
    begin = start
    for low, high in pairwise([start, *(start + cut for cut in cuts if start + cut < end), end]):
        if begin < low and len(text[begin:high].strip()) > size:  # this piece does not fit with those before it
            yield begin, low
            begin = low
        if begin == low and len(text[low:high].strip()) > size:  # nor alone
            yield from _fitting(text, low, high, size, rest)
            begin = high
    if begin < end:
        yield begin, end


def semantic(texts: Sequence[str], percent: int, embed: Embed) -> list[Spans]:
    """Return the chunks of every text: sentences that follow each other, as long as their vectors stay near."""
    cut = [sentences(text) for text in texts]
    flat = [text[a:b] for text, (start, end) in zip(texts, cut, strict=True) for a, b in zip(start, end, strict=True)]
    vectors = np.asarray(embed(flat), np.float64) if flat else np.zeros((0, 1))
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    found, at = [], 0
    for start, end in cut:
        own = vectors[at : at + len(start)]
        at += len(start)
        far = 1 - np.einsum("ij,ij->i", own[1:], own[:-1])
        breaks = np.flatnonzero(far > np.percentile(far, percent)) + 1 if len(far) else np.zeros(0, np.int64)
        edges = [0, *breaks.tolist(), len(start)] if len(start) else [0]
        found.append([(int(start[a]), int(end[b - 1])) for a, b in pairwise(edges)])
    return found


@dataclass(frozen=True)
class Extent:
    """Numbers of one chunking."""

    chunks: int
    documents: int  # documents that have a chunk
    characters: int  # characters in all chunks, repeats included
    text: int  # characters of all documents
    least: int
    most: int
    """Characters of the smallest and of the largest chunk."""
    left_out: int  # characters in no chunk, white space not counted
    tokens: int | None = None  # tokens in all chunks, repeats included; None without a tokenizer

    @property
    def mean(self) -> float:
        """Characters of a chunk."""
        return self.characters / self.chunks if self.chunks else 0.0

    @property
    def times(self) -> float:
        """How often the text is indexed: 1 without overlap and gaps."""
        return self.characters / self.text if self.text else 0.0

    def sentence(self) -> str:
        """Say it in a line.

        >>> Extent(2, 1, 8, 6, 4, 4, 0).sentence()
        '2 chunks of 4 to 4 characters (mean 4) in 1 document: 1.33 × the text, 0 characters in no chunk'
        """
        sizes = f"{self.least:,} to {self.most:,} characters (mean {self.mean:,.0f})"
        where = f"{counted(self.chunks, 'chunk')} of {sizes} in {counted(self.documents, 'document')}"
        tokens = "" if self.tokens is None else f", {counted(self.tokens, 'token')}"
        return f"{where}: {self.times:.2f} × the text{tokens}, {counted(self.left_out, 'character')} in no chunk"


def extent(chunks: Chunks, documents: Collection, tokens: Boundaries | None = None) -> Extent:
    """Count what a chunking of documents holds; `tokens` are those of all documents, in their order."""
    document, start, end = chunks.rows(documents), chunks.start, chunks.end
    size, covered = end - start, union(document, start, end)
    open_ = np.flatnonzero(covered.total(len(documents)) < documents.lengths)
    words = boundaries(map(between_blanks, texts_of(documents, open_)))
    row = open_[np.repeat(np.arange(len(open_)), np.diff(words.bounds))]
    left_out = words.end - words.start - covered.covered(row, words.start, words.end)
    return Extent(
        chunks=len(chunks),
        documents=len(np.unique(document)),
        characters=int(size.sum()),
        text=int(documents.lengths.sum()),
        least=int(size.min(initial=size.max(initial=0))),
        most=int(size.max(initial=0)),
        left_out=int(left_out.sum()),
        tokens=None if tokens is None else int(tokens.count(document, start, end).sum()),
    )
