"""Character and entity references, replaced in place: what a reference stands for is never longer than itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.windows import strings_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PREDEFINED = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"quot": b'"', b"apos": b"'"}


def replace_references(
    data: NDArray[np.uint8], is_text: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Write each reference's character over its first bytes, and take the rest out of the text.

    Both arrays are changed; returned are the references' places and by how many bytes each shortens the text.

    >>> data = np.frombuffer(b"x&#233;y&gt;" + bytes(8), np.uint8).copy()
    >>> is_text = data != 0
    >>> places, less = replace_references(data, is_text)
    >>> data[is_text].tobytes().decode(), places.tolist(), less.tolist()
    ('xéy>', [1, 8], [4, 3])
    """
    places = np.flatnonzero(data == ord("&"))
    places = places[is_text[places]]
    if not len(places):
        return places, places
    names = strings_at(data, places + 1, b";")
    values = [_meaning(name) for name in names.distinct]
    size = np.array([len(value) for value in values])[names.code]
    taken = np.array([len(name) + 2 for name in names.distinct])[names.code]
    table = np.frombuffer(b"".join(value.ljust(4, b"\0") for value in values), np.uint8).reshape(-1, 4)
    for k in range(4):
        here = np.flatnonzero(size > k)
        data[places[here] + k] = table[names.code[here], k]
    for k in range(1, int(taken.max())):
        is_text[places[(k >= size) & (k < taken)] + k] = False
    return places, taken - size


def _meaning(name: bytes) -> bytes:
    """Return the UTF-8 of what ``&name;`` stands for."""
    if name.startswith(b"#x"):
        return chr(int(b"0" + name[1:], 16)).encode()
    if name.startswith(b"#"):
        return chr(int(name[1:])).encode()
    return _PREDEFINED[name]
