"""Splitters of LangChain and LlamaIndex, or any object with ``split_text``: their texts, placed in the documents.

What a splitter returns is text. It is placed by `focuseval.align_chunks`, in the splitter's order, so that repeated
texts find their places; a text that stands nowhere is left out and counted in the remarks.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from focuseval.collection.boundaries import texts_of
from focuseval.collection.chunks import Chunks
from focuseval.errors import MissingDataError, UsageError, did_you_mean
from focuseval.placing import align_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection.chunks import Spec
    from focuseval.collection.index import Index
    from focuseval.collection.tokens import Tokenizer

_MODULES = {
    "langchain": ("langchain_text_splitters", "langchain-text-splitters"),
    "llamaindex": ("llama_index.core.node_parser", "llama-index-core"),
}
"""Where the classes of a package are, and what is installed to have them."""


class Splitter(Protocol):
    """What is asked of a splitter."""

    def split_text(self, text: str) -> list[str]:
        """Return the chunks of a text, in their order."""


def named_splitter(spec: Spec, tokenizer: str | Tokenizer | None = None) -> Splitter:
    """Return a splitter of a package by its class; size and overlap count what the class counts.

    With a tokenizer LlamaIndex's classes, and LangChain's that take a length function, count its tokens.
    """
    place, package = _MODULES[spec.kind]
    try:
        module = import_module(place)
    except ImportError:
        raise MissingDataError(f"{spec}: {package} is not installed; run 'pip install {package}'") from None
    [name] = spec.names
    classes = [one for one in dir(module) if hasattr(getattr(module, one), "split_text")]
    if name not in classes:
        remedy = did_you_mean(name, classes, f"there are {', '.join(classes)}")
        raise UsageError(f"expected a class of {place} with split_text, found {name!r}; {remedy}")
    options: dict[str, Any] = {"chunk_size": spec.size, "chunk_overlap": spec.size - spec.step}
    try:
        return getattr(module, name)(**options, **_counting(spec.kind, tokenizer))  # type: ignore[no-any-return]
    except Exception as error:
        reason = str(error).partition("\n")[0][:200]
        what = f"{spec}: {name} cannot be made ({reason})"
        raise UsageError(f"{what}; make it in Python and give it to focuseval.chunk") from error


def _counting(kind: str, tokenizer: str | Tokenizer | None) -> dict[str, Any]:
    """Return the options by which a splitter counts tokens; {} for its own way of counting."""
    if tokenizer is None:
        return {}
    from focuseval.collection.tokens import open_tokenizer  # noqa: PLC0415  only tokens need it

    spans = open_tokenizer(tokenizer).spans
    if kind == "langchain":
        return {"length_function": lambda text: len(spans(text)[0])}
    return {"tokenizer": lambda text: spans(text)[0].tolist()}


def split(index: Index, splitter: Splitter, name: str) -> Chunks:
    """Return the chunks of a splitter at their places in the documents."""
    if not callable(getattr(splitter, "split_text", None)):
        what = (
            f"expected how to cut documents: a SPEC, a file, chunks, or a splitter with split_text, found {splitter!r}"
        )
        raise UsageError(f"{what}; 'characters:400', for instance")
    with _quiet():
        texts = [splitter.split_text(text) if text else [] for text in texts_of(index)]
    return placed(
        index,
        [row for row, own in enumerate(texts) for _ in own],
        [text for own in texts for text in own],
        [number for own in texts for number in range(len(own))],
        name,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep a splitter from logging every chunk that is longer than asked for: the sizes are counted anyway."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def placed(index: Index, rows: list[int], texts: list[str], order: list[int], name: str) -> Chunks:
    """Return texts as chunks where they stand; what stands nowhere is left out and remarked upon."""
    document = index.ids.take(pa.array(rows, pa.int32()))
    found = align_chunks(document, texts, index, order=order)
    kept = np.flatnonzero(found.end > found.start)
    said = () if len(kept) == len(rows) else (f"{name}: {found.summary()}; what has no place is left out",)
    return Chunks(document.take(pa.array(kept)), found.start[kept], found.end[kept], name, said)
