"""A tokenizer that remembers the texts that it has seen: several runs return the same documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.collection.tokens.tokenizer import Tokenizer, open_tokenizer

if TYPE_CHECKING:
    from typing import Any

    from focuseval.collection.tokens.tokenizer import Spans

MOST = 10_000_000
"""Tokens that are remembered; texts beyond are tokenized whenever they are asked for."""


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
        if (found := self._known.get(text)) is not None:
            return found
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
