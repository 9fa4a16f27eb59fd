"""Tokens of a language model: where each one lies in a text, by the model's own tokenizer.

Tokenizers are behind one protocol: tiktoken's by name, Hugging Face's by file; both are optional.

::

    tiktoken:cl100k_base              an encoding of tiktoken, or a model whose encoding it knows (tiktoken:gpt-4o)
    tokenizers:tokenizer.json         a file that Hugging Face's tokenizers wrote

A token's span comes from the tokenizer itself: the bytes that tiktoken decodes it to, the offsets that a `tokenizers`
encoding carries. A character that several tokens make up belongs to each of them. Special tokens are never made: what
looks like one in a text is text.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from focuseval.engine.lazy import cached_property
from focuseval.errors import FormatError, MissingDataError, UsageError

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
MOST = 10_000_000  # tokens that are remembered; texts beyond are tokenized whenever they are asked for


class Tokenizer(Protocol):
    """What focuseval asks of a tokenizer; any object with these two will do."""

    @property
    def name(self) -> str:
        """What a signature calls it: equal names give equal tokens."""

    def spans(self, text: str) -> Spans:
        """Return the first code point of every token and the one past its last, both ascending."""


def open_tokenizer(given: str | Tokenizer) -> Tokenizer:
    """Return a tokenizer, loaded, from ``tiktoken:NAME`` or ``tokenizers:FILE``; one that is open stays as it is."""
    if not isinstance(given, str):
        return given
    package, _, name = given.partition(":")
    if package == "tokenizers" and name:
        opened = TokenizerFile(name)
        _ = opened.loaded
        return opened
    if package != "tiktoken" or not name:
        what = f"expected tiktoken:NAME or tokenizers:FILE as tokenizer, found {given!r}"
        raise UsageError(f"{what}; tiktoken:cl100k_base, for instance")
    try:
        import tiktoken  # noqa: PLC0415  optional
    except ImportError:
        raise _absent("tiktoken") from None
    if name not in tiktoken.list_encoding_names():
        try:
            name = tiktoken.encoding_name_for_model(name)
        except KeyError:
            known = ", ".join(tiktoken.list_encoding_names())
            what = f"expected an encoding or a model of tiktoken, found {name!r}"
            raise UsageError(f"{what}; there are {known}") from None
    try:
        return TiktokenEncoding(tiktoken.get_encoding(name))
    except Exception as error:  # whatever its download raises, it is the vocabulary that is missing
        what = f"tiktoken:{name}: the vocabulary cannot be loaded ({type(error).__name__})"
        remedy = "tiktoken downloads it once: connect, or set TIKTOKEN_CACHE_DIR to a folder that holds it"
        raise MissingDataError(f"{what}; {remedy}") from error


@dataclass(frozen=True, eq=False)
class TiktokenEncoding:
    """An encoding of tiktoken; build one around a `tiktoken.Encoding` of your own."""

    encoding: Any

    @property
    def name(self) -> str:
        """``tiktoken:`` and the encoding's name."""
        return f"tiktoken:{self.encoding.name}"

    def spans(self, text: str) -> Spans:
        """Return the characters that each token's bytes lie in."""
        tokens = self.encoding.decode_tokens_bytes(self.encoding.encode_ordinary(text))
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        starts = np.append(0, ends[:-1])[: len(ends)]
        codes = np.frombuffer(text.encode(), np.uint8)
        character = np.cumsum((codes & 0xC0) != 0x80) - 1  # of every byte; a character's later bytes begin none
        return character[starts], character[ends - 1] + 1


@dataclass(frozen=True, eq=False)
class TokenizerFile:
    """A ``tokenizer.json`` of Hugging Face's tokenizers."""

    path: str

    @property
    def name(self) -> str:
        """``tokenizers:``, the file's name, and the first digits of its hash: another file has another name."""
        return f"tokenizers:{Path(self.path).name}@{self.loaded[0][:12]}"

    @cached_property
    def loaded(self) -> tuple[str, Any]:
        """The file's hash, and the tokenizer."""
        try:
            import tokenizers  # noqa: PLC0415  optional

            data = Path(self.path).read_bytes()
            tokenizer = tokenizers.Tokenizer.from_buffer(data)
        except ImportError:
            raise _absent("tokenizers") from None
        except OSError as error:
            raise FormatError(f"cannot read: {error.strerror or error}", at=self.path) from None
        except Exception as error:  # noqa: BLE001  the package raises this class and no other
            what = f"expected a tokenizer.json of Hugging Face's tokenizers, found: {error}"
            raise FormatError(what, at=self.path, remedy="save it with Tokenizer.save") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return hashlib.sha256(data).hexdigest(), tokenizer

    def __reduce__(self) -> Any:
        """Go to another process by name."""
        return TokenizerFile, (self.path,)

    def spans(self, text: str) -> Spans:
        """Return the offsets of the tokens; special tokens are left out."""
        found = np.array(self.loaded[1].encode(text, add_special_tokens=False).offsets, np.int64).reshape(-1, 2)
        return np.maximum.accumulate(found[:, 0]), np.maximum.accumulate(found[:, 1])


def _absent(package: str) -> MissingDataError:
    return MissingDataError(f"{package} is not installed; run 'pip install focuseval[{package}]'")


class RememberedTokens:
    """Another tokenizer, each of whose texts is tokenized once."""

    def __init__(self, tokenizer: Tokenizer, most: int = MOST) -> None:
        self.tokenizer = tokenizer
        self.most = most
        self._known: dict[str, Spans] = {}
        self._tokens = 0

    @property
    def name(self) -> str:
        """The other's name."""
        return self.tokenizer.name

    def spans(self, text: str) -> Spans:
        """Return the other's spans."""
        if (found := self._known.get(text)) is None:
            found = self.tokenizer.spans(text)
            if self._tokens + len(found[0]) <= self.most:
                self._known[text] = found
                self._tokens += len(found[0])
        return found

    def __reduce__(self) -> Any:
        """Go to another process without what was seen."""
        return RememberedTokens, (self.tokenizer, self.most)


def remembered(given: str | Tokenizer) -> RememberedTokens:
    """Open a tokenizer that remembers."""
    return given if isinstance(given, RememberedTokens) else RememberedTokens(open_tokenizer(given))
