"""``focuseval.tokens.tokenizer`` of 0.2.0, now `focuseval.collection.tokens`."""

from focuseval.collection.tokens import TiktokenEncoding as TiktokenEncoding
