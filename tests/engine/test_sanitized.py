"""Lines, keys and words in C, on random and on damaged input, under the sanitizers."""

from sanitizers import run_sanitized

LINES = """
import ctypes, random, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from focuseval.engine import native
native.LIBRARY = Path(sys.argv[1])
assert native.library() is not None
random.seed(7)
parts = ["1", "Q0", "doc", "-3", "4.5", "1e9", "9" * 30, "x" * 20, "é漢", " ", "  "]
parts += [ "\\t", "\\n", "\\r\\n", "\\v", "\\0", "Q0 "]
kinds = [None, "text", "block", "int", "rank", "real"]
line = "1 Q0 doc 1 2.5 run\\n"
def checked(content, columns):
    found = native.split(pa.py_buffer(content), columns)
    for array in () if found is None else found[0]:
        if array is not None:
            native.hash64(array) if array.type == "string" else None
            if array.type == "string":
                native.coded(array, native.hash64(array))
for _ in range(3000):
    content = "".join(random.choices(parts, k=random.randint(0, 40))).encode()
    checked(content, random.choices(kinds, k=random.randint(1, 8)))
    whole = (line * random.randint(1, 9)).encode()
    cut = bytearray(whole[: random.randint(0, len(whole))])
    for _ in range(random.randint(0, 2)):
        if cut:
            cut[random.randrange(len(cut))] = random.randrange(256)
    checked(bytes(cut), ["block", None, "text", "rank", "real", "block"])
for _ in range(300):  # keys that collide: a few slots, or equal ones
    keys = np.array(random.choices(range(50), k=random.randint(0, 40)), np.int64) << random.choice((0, 40, 57))
    found, first = native.Lookup(keys).find(np.append(keys, 99)), dict(zip(keys[::-1].tolist(), range(len(keys))[::-1]))
    assert found.tolist() == [*(first[key] for key in keys.tolist()), -1]
# lines that appear between the two passes: there is room for as many as there were
text = np.frombuffer(b"1 2\\n" * 50, np.uint8).copy()
members = ("kind", "values", "offsets", "ends", "count", "above", "length")
column, values, code = np.zeros(2, [(n, "i8") for n in members]), np.zeros((2, 10), np.int64), native.library()
column["kind"], column["values"] = ord("i"), [row.ctypes.data for row in values]
assert code.split(text.ctypes.data, len(text), column.ctypes.data, 2, 10) == -1
assert code.split(text.ctypes.data, 40, column.ctypes.data, 2, 10) == 10
print("fine")
"""

WORDS = """
import random, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from focuseval.engine import native
native.LIBRARY = Path(sys.argv[1])
library = native.library()
assert library is not None
from focuseval.collection.boundaries import _compiled
random.seed(11)
parts = ["one", "two", " ", "é", "e\\u0301", "漢", "字", "ก", "\\u0e31"]
parts += ["😀", "\\u0300", "-", "12", "\\n", "한", "\\u1100"]
for _ in range(1500):
    texts = ["".join(random.choices(parts, k=random.randint(0, 15))).encode() for _ in range(random.randint(1, 5))]
    entries = sum(len(text.decode()) + 1 for text in texts)
    if random.random() < 0.5:  # damaged: cut off inside a character, or with other bytes
        texts = [bytearray(text[: random.randint(0, len(text))]) for text in texts]
        for text in texts:
            if text:
                text[random.randrange(len(text))] = random.randrange(256)
    breaks = np.array(random.choices((0, 0, 1), k=entries), np.uint8)
    data = b"".join(texts)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    exact = np.frombuffer(data, np.uint8).copy() if data else np.zeros(0, np.uint8)  # ends where the text does
    array = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(exact))
    _compiled(library, array, breaks)
for _ in range(3000):  # words among elements, in a tree or in none
    elements = random.randint(1, 12)
    begin = np.sort(np.array([0, *random.choices(range(20), k=elements - 1)], np.int32))
    end = begin + np.array(random.choices(range(20), k=elements), np.int32)
    end[0] = random.choice((20, 20, 3))
    above = [random.choice((random.randrange(-2, 14), random.randrange(k))) for k in range(1, elements)]
    parent = np.array([-1, *above], np.int32)
    start = np.sort(np.array(random.choices(range(20), k=random.randint(0, 9)), np.int32))
    first, last = np.zeros((2, elements), np.int32)
    bounds = np.array([0, len(start)]), np.array([0, elements])
    where = [array.ctypes.data for array in (start, *bounds)]
    sound = library.words_place(*where, 1, *native.addresses(begin, end, parent, first, last))
    deepest, depth = np.zeros(len(start), np.int32), np.zeros(elements, np.int16)
    if sound:
        library.words_deepest(*native.addresses(first, last, parent), elements, len(start), *native.addresses(deepest))
    depth[:] = random.choices(range(5), k=elements)
    library.words_parents(*native.addresses(depth), elements, *native.addresses(np.zeros(elements, np.int32)))
    some = np.array(random.choices(range(256), k=20), np.uint8)  # numbers that may be cut off
    native.unpack(some, sums=True)
    word, (one, other) = np.sort(some[:8]).astype(np.int32), np.sort(some.astype(np.int64)[:10].reshape(2, 5), axis=1)
    lowest, around = np.zeros((2, 8), np.int32)
    given = (*native.addresses(word), 8, *native.addresses(one, other), 5)
    library.words_around(*given, *native.addresses(lowest, around))
    assert 0 <= int((lowest + around).max()) <= 5
    term = np.array(random.choices(range(4), k=20), np.int32)
    ends = np.append(0, np.cumsum(np.bincount(term, minlength=4)))[:4].astype(np.int64)
    posted = np.zeros(20, np.int32)
    library.words_post(term.ctypes.data, 20, 0, ends.ctypes.data, posted.ctypes.data)
    assert sorted(posted.tolist()) == list(range(20))
    kept = np.array(random.choices((True, False), k=elements))  # terms counted in elements and spans, and ranked
    near, units, many = np.zeros(elements, np.int32), np.zeros((int(kept.sum()), 2), np.int32), int(kept.sum())
    library.words_near(parent.ctypes.data, elements, *native.addresses(kept, near, units))
    leaf = np.array(random.choices(range(elements), k=30), np.int32)
    own, tf = np.zeros((2, many), np.int32)
    found = library.words_tally(leaf.ctypes.data, 30, None, *native.addresses(near, units, own, tf))
    total, seen = np.zeros(many), np.zeros(many, np.uint8)
    share, touched = np.array([random.random() for _ in range(found)]), np.zeros(many + 1, np.int32)
    room = native.addresses(total, seen, touched)
    again = library.words_add(*native.addresses(own, share), found, 2.0, 1, *room, 0)
    score, spare = np.zeros((2, many + 1))
    ranked = library.words_rank(room[2], again, *room[:2], 0.0, None, None, 1, *native.addresses(score, spare))
    assert (ranked > 0) == (found > 0)
    assert not total.any()
print("fine")
"""


def test_lines_into_columns_touch_nothing_else(tmp_path):
    run_sanitized(LINES, tmp_path)


def test_texts_into_words_touch_nothing_else(tmp_path):
    run_sanitized(WORDS, tmp_path)
