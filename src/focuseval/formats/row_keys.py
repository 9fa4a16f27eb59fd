"""The names of the fields in the first row of a file, by its first bytes: what rows are told by."""

from __future__ import annotations

import re

from focuseval.data.fields import KNOWN

_SCORES = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.DOTALL)


def first_keys(head: bytes) -> frozenset[str]:
    r"""Return the field names of the first row in a file's first bytes; none where they are no rows with names.

    >>> sorted(first_keys(b'[{"qid": 1, "metadata": {"page": 1}, "text": "\xc3'))
    ['metadata', 'qid', 'text']
    >>> sorted(first_keys(b"qid,doc_id,score\n1,a,2\n")), first_keys(b"1 Q0 a 1 2.0 run\n")
    (['doc_id', 'qid', 'score'], frozenset())
    """
    begin = head.lstrip()[:1]
    if begin in {b"{", b"["}:
        return frozenset({"topic", "doc", "score"}) if _SCORES.match(head) else _json_keys(head)
    header = head.partition(b"\n")[0].decode("utf-8", "replace").strip("\ufeff\r")
    if begin == b"<" or (not header.isprintable() and "\t" not in header):
        return frozenset()
    names = header.split("\t" if "\t" in header else ",")
    return frozenset(name.strip('"') for name in names) if len(names) > 1 else frozenset()


def _json_keys(head: bytes) -> frozenset[str]:
    """Return the keys of the first object, or, if it is written around a list, those of the list's first object."""
    outer = keys_of(head, 0)
    if outer & KNOWN or head.lstrip()[:1] == b"[":
        return outer
    inner = re.search(rb"\[\s*\{", head)
    return keys_of(head, inner.start()) if inner else outer


def keys_of(head: bytes, at: int) -> frozenset[str]:
    """Return the keys of the first object behind a place, as far as it goes."""
    found, depth, last = set[bytes](), 0, b""
    for token in _TOKEN.finditer(head, max(head.find(b"{", at), 0)):
        sign = token[0]
        if sign in b"{[":
            depth += 1
        elif sign in b"}]":
            depth -= 1
            if not depth:
                break
        elif sign == b":" and depth == 1:
            found.add(last)
        last = sign
    return frozenset(key.strip(b'"').decode("utf-8", "replace") for key in found)
