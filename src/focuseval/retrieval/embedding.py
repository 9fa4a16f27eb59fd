"""Texts into vectors: by a server, a local model or a function; each text once, whatever asks for it again.

::

    http://localhost:11434/v1#nomic-embed-text       any server that speaks OpenAI's /v1/embeddings
    sentence-transformers:NAME_OR_PATH               where sentence-transformers is installed
    model2vec:NAME_OR_PATH                           where model2vec is installed

Vectors are kept in a database by a hash of the model and of the text as it was sent, prefix included: a second run, an
overlapping chunking or an interrupted one asks for nothing twice. They are kept as the model gave them; normalisation
and truncation come after, so that other settings of these ask for nothing either.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from focuseval.engine.http import EMBEDDINGS, Client, complaint, endpoint_of, pause, refuse_useless
from focuseval.errors import FormatError, ModelError, UnansweredError, UsageError, counted

Progress = Callable[..., None]
Matrix = NDArray[np.float32]

BATCH, AT_ONCE, RETRIES = 64, 4, 5  # texts of a request, requests at once, and how often one is sent again
_REPLY = 64_000_000  # bytes of a reply: 64 vectors of 4,096 numbers in decimals need a tenth
_TOO_LONG = re.compile(r"(?i)context|too long|too large|too many tokens|maximum|input length|max.{0,9}tokens")


class Encoded(NamedTuple):
    """Vectors of texts, in their order, and what they cost."""

    vectors: Matrix
    cut: NDArray[np.int8]
    """1 where a text was too long for the model and was cut, 0 where it was not, −1 where nobody said."""
    tokens: int = 0  # tokens that were embedded now, as far as the embedder counts them
    asked: int = 0  # texts that were embedded now; the others were known

    @property
    def cut_texts(self) -> int:
        """How many texts were too long, as far as somebody said."""
        return int((self.cut > 0).sum())


class Embedder(Protocol):
    """What makes vectors."""

    @property
    def name(self) -> str:
        """The model, as a run names it; an empty one is not remembered."""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return a vector for every text."""


@dataclass(frozen=True, eq=False)
class ServerEmbedder:
    """A server that speaks OpenAI's ``/v1/embeddings``."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0

    @property
    def name(self) -> str:
        """Address and model."""
        return f"{self.url}#{self.model}"

    @cached_property
    def _client(self) -> Client:
        return Client(endpoint_of(self.url, EMBEDDINGS, "--embedder"), self.key, self.timeout, _REPLY)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return a vector for every text; several requests are under way at once."""
        parts = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        try:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                found = list(pool.map(self._request, parts))
        except BaseException:
            self._client.stop()
            raise
        sizes = {part.vectors.shape[1] for part in found}
        if len(sizes) > 1:
            raise ModelError(f"{self.name}: expected vectors of one size, found {', '.join(map(str, sorted(sizes)))}")
        return _joined(found)

    def _request(self, texts: Sequence[str]) -> Encoded:
        """Ask for some texts until they are answered; what is too long is asked for alone, and shorter."""
        body, problem = {"model": self.model, "input": list(texts), "encoding_format": "float"}, ""
        for tries in range(1, RETRIES + 2):
            reply = self._client.post(body)
            if reply.status == 200:
                return self._read(reply.body, len(texts))
            problem = self._client.scrubbed(reply.problem or f"HTTP {reply.status}: {complaint(reply.body)}")
            if reply.status in (400, 413, 422, 500) and _TOO_LONG.search(reply.body):
                if len(texts) > 1:
                    return _joined([self._request([text]) for text in texts])
                if len(texts[0]) > 1:
                    shorter = self._request([texts[0][: len(texts[0]) * 3 // 4]])
                    return shorter._replace(cut=np.ones(1, np.int8))
            try:
                refuse_useless(self._client, reply, problem, answered=False, option="--embedder")
            except UnansweredError as error:
                raise ModelError(f"{self.name}: {error}; check --embedder and --model") from None
            if self._client.stopped.wait(pause(tries, reply.wait) if tries <= RETRIES else 0):
                break
        raise ModelError(f"{self.name}: {problem or 'interrupted'}; vectors that came before are kept: try again")

    def _read(self, body: str, many: int) -> Encoded:
        """Return the vectors of a reply."""
        try:
            reply = msgspec.json.decode(body.encode("utf-8", "replace"), type=_Reply)
        except msgspec.DecodeError as error:
            what = f"expected {{'data': [{{'embedding': […]}}]}}, found {self._client.scrubbed(body[:80])!r} ({error})"
            raise ModelError(f"{self.name}: {what}; is this a server of embeddings?") from None
        found = sorted(reply.data, key=lambda item: item.index)
        if len(found) != many or len({len(item.embedding) for item in found}) != 1:
            raise ModelError(f"{self.name}: expected {many} vectors of one size, found {len(found)}; try another model")
        vectors, usage = np.array([item.embedding for item in found], np.float32), reply.usage
        return Encoded(vectors, np.full(many, -1, np.int8), usage.prompt_tokens or usage.total_tokens)


def _joined(parts: Sequence[Encoded]) -> Encoded:
    vectors, cut, tokens, _ = zip(*parts, strict=True)
    return Encoded(np.concatenate(vectors), np.concatenate(cut), sum(tokens))


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    total_tokens: int = 0


class _Reply(msgspec.Struct):
    data: list[_Item]
    usage: _Usage = msgspec.field(default_factory=_Usage)


@dataclass(frozen=True, eq=False)
class LocalEmbedder:
    """A model of sentence-transformers or model2vec, loaded when it is first needed."""

    name: str  # package and model

    @cached_property
    def _loaded(self) -> Any:
        package, _, model = self.name.partition(":")
        try:
            module = import_module(package.replace("-", "_"))
        except ImportError:
            what = f"expected {package} for the embedder {self.name}, found it not installed"
            raise ModelError(f"{what}; pip install {package}") from None
        try:
            return (module.StaticModel.from_pretrained if package == "model2vec" else module.SentenceTransformer)(model)
        except Exception as error:
            why = " ".join(str(error).split())[:200]
            raise ModelError(f"{self.name}: expected a model, found none ({why}); give a folder or a name") from error

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return a vector for every text."""
        if self.name.startswith("model2vec:"):  # a mean over all words: it needs no limit
            vectors = self._loaded.encode(list(texts), max_length=None, show_progress_bar=False)
            return Encoded(np.asarray(vectors, np.float32), np.zeros(len(texts), np.int8))
        model, most = self._loaded, self._loaded.max_seq_length
        vectors = model.encode(list(texts), convert_to_numpy=True, show_progress_bar=False)
        counts = [len(ids) for ids in model.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]
        cut = np.array([most is not None and count > most for count in counts], np.int8)
        return Encoded(np.asarray(vectors, np.float32), cut, sum(min(count, most or count) for count in counts))


@dataclass(frozen=True, eq=False)
class FunctionEmbedder:
    """A function from texts to vectors; what it does is unknown, so nothing is kept."""

    function: Callable[[Sequence[str]], Any]
    name: str = ""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return a vector for every text."""
        vectors = np.asarray(self.function(texts), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            what = f"expected {len(texts)} vectors of the embedder, found an array of shape {vectors.shape}"
            raise FormatError(what, remedy="return one row for each text")
        return Encoded(vectors, np.full(len(texts), -1, np.int8))


LOCAL = ("sentence-transformers", "model2vec")


def open_embedder(source: Any, model: str | None = None, key: str = "") -> Embedder:
    """Return an embedder from its name, a function, or one as it is.

    >>> open_embedder("http://localhost:11434/v1#nomic").name, open_embedder("http://host", "m").name
    ('http://localhost:11434/v1#nomic', 'http://host#m')
    """
    if not isinstance(source, str):
        given: Embedder = source if hasattr(source, "encode") else FunctionEmbedder(source)
        return given
    package, _, name = source.partition(":")
    if package in LOCAL and name:
        return LocalEmbedder(source)
    if package in ("http", "https"):
        url, _, own = source.partition("#")
        named = own or model
        if not named:
            raise UsageError(f"expected a model for {url}, found none; give --model NAME or {url}#NAME")
        endpoint_of(url, EMBEDDINGS, "--embedder")
        return ServerEmbedder(url, named, key)
    what = f"expected an embedder ({', '.join(f'{one}:NAME' for one in LOCAL)} or http://HOST:PORT/v1#MODEL)"
    raise UsageError(f"{what}, found {source!r}; name one of these")


def _open_cache(folder: Path) -> sqlite3.Connection:
    """Open the file of vectors by hash, which several processes may use."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(folder / "vectors.db", timeout=60)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        columns = "hash BLOB PRIMARY KEY, cut INTEGER, vector BLOB"
        database.execute(f"CREATE TABLE IF NOT EXISTS vectors ({columns}) WITHOUT ROWID")
    except (OSError, sqlite3.Error) as error:
        what = f"{folder}: expected a folder for vectors, found: {error}"
        raise UsageError(f"{what}; name another one (FOCUSEVAL_VECTORS)") from None
    return database


def embed(
    texts: Sequence[str], embedder: Embedder, cache: Path | None = None, progress: Progress | None = None
) -> Encoded:
    """Return the vectors of texts; what is in the cache is not asked for again.

    The cache is a folder: by default ``FOCUSEVAL_VECTORS``, or one of the user's caches.

    >>> embed(["ab", "b"], FunctionEmbedder(lambda texts: [[t.count("a"), t.count("b")] for t in texts])).vectors
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    step, folder = BATCH * AT_ONCE, cache or Path(os.environ.get("FOCUSEVAL_VECTORS") or Path(own, "focuseval"))
    vectors, cut, asked, tokens, begin = None, np.zeros(len(texts), np.int8), 0, 0, perf_counter()
    with closing(_open_cache(folder)) if embedder.name else nullcontext() as kept:
        for first in range(0, len(texts), step):
            some = texts[first : first + step]
            sent = (f"{embedder.name}\0{text}".encode("utf-8", "replace") for text in some)
            hashes = [blake2b(content, digest_size=20).digest() for content in sent]
            known: dict[bytes, tuple[int, bytes]] = {}
            if kept:
                query = f"SELECT hash, cut, vector FROM vectors WHERE hash IN ({','.join('?' * len(hashes))})"  # noqa: S608  question marks alone
                known = {key: (was_cut, vector) for key, was_cut, vector in kept.execute(query, hashes)}
            new = {key: text for key, text in zip(hashes, some, strict=True) if key not in known}
            if new:
                encoded = embedder.encode(list(new.values()))
                if not np.isfinite(encoded.vectors).all():
                    raise ModelError(f"{embedder.name}: expected finite numbers, found others; is the model damaged?")
                numbers = (vector.tobytes() for vector in encoded.vectors)
                rows = list(zip(new, encoded.cut.tolist(), numbers, strict=True))
                if kept:
                    with kept:
                        kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
                known.update({key: (was_cut, vector) for key, was_cut, vector in rows})
                asked, tokens = asked + len(new), tokens + encoded.tokens
            block = [np.frombuffer(known[key][1], np.float32) for key in hashes]
            if vectors is None:
                vectors = np.zeros((len(texts), len(block[0])), np.float32)
            if any(len(vector) != vectors.shape[1] for vector in block):
                what = f"{embedder.name}: expected vectors of {vectors.shape[1]} numbers, found others"
                raise ModelError(f"{what}; if the model has changed, remove {folder}")
            vectors[first : first + len(some)] = block
            cut[first : first + len(some)] = [known[key][0] for key in hashes]
            if progress:
                rate = asked / max(perf_counter() - begin, 1e-9)
                counts = f", {counted(tokens, 'token')}" if tokens else ""
                progress(first + len(some), len(texts), f"embedding, {rate:,.0f} texts a second{counts}")
    return Encoded(np.zeros((0, 0), np.float32) if vectors is None else vectors, cut, tokens, asked)
