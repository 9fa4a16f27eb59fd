"""The compiled part gives what its slow twins give, refuses what it does not know, and is missed by nobody."""

import errno
import importlib.util
import shutil
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.engine import native
from focuseval.formats import columns, find_format, source_of
from focuseval.formats.columns import Layout, read_table
from strategies.runs import said
from strategies.samples import SAMPLES

ROOT = Path(__file__).parents[2]
KINDS = [("topic", "block"), ("Q0", None), ("document", "text"), ("rank", "rank"), ("score", "real"), ("n", "int")]
LAYOUT = Layout(dict(KINDS), least=6)
LINE = b"q1 Q0 doc-1 1 0.5 7\n"
STRINGS = st.lists(st.text(max_size=30), max_size=12)

needs_library = pytest.mark.skipif(native.library() is None, reason="the compiled part is not built: no C compiler")
VISIBLE = st.text(st.characters(min_codepoint=0x21, exclude_categories=["Cs"]), min_size=1, max_size=20)
NUMBER = st.from_regex(r"-?[0-9]{1,9}", fullmatch=True)
REAL = st.from_regex(r"-?([0-9]{1,7}\.?[0-9]{0,8}|\.[0-9]{1,9})", fullmatch=True)
ROW = st.tuples(st.sampled_from(["q", "q1", "topic-number-1", "Überschrift"]), VISIBLE, VISIBLE, NUMBER, REAL, NUMBER)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_library), False])
@given(keys=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)), others=st.lists(st.integers(-5, 5)))
def test_a_key_is_found_at_its_first_row(compiled, keys, others):
    with mock.patch.object(native, "library", native.library if compiled else lambda: None):
        found = native.Lookup(np.array(keys, np.int64)).find(np.array([*keys, *others], np.int64))
    assert found.tolist() == [keys.index(key) if key in keys else -1 for key in (*keys, *others)]


def taken(text, kinds=KINDS):
    found = native.split(pa.py_buffer(text), [kind for _, kind in kinds])
    return None if found is None else found[0]


def values(arrays):
    return [None if array is None else array.to_pylist() for array in arrays]


def plain(text):
    """The columns as Python splits and converts them."""
    kinds = {"block": str, "text": str, "rank": int, "int": int, "real": float}
    rows = [[word.decode() for word in line.split()] for line in text.split(b"\n") if line.split()]
    return [kind and [kinds[kind](row[i]) for row in rows] for i, (_, kind) in enumerate(KINDS)]


BLANKS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t", "\v", "\f", "\r"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \t\r\n "])


@needs_library
@given(st.data(), st.lists(ROW, min_size=1, max_size=12), st.booleans())
def test_lines_are_split_as_python_splits_them(data, rows, last):
    blank, end = data.draw(BLANKS), data.draw(ENDS)
    text = (end.join(blank.join(row) for row in rows) + end * last).encode()
    arrays, line = native.split(pa.py_buffer(text), [kind for _, kind in KINDS])
    assert repr(values(arrays)) == repr(plain(text))  # -0.0 is not 0.0
    there = [number for number, words in enumerate(text.split(b"\n"), 1) if words.split()]
    assert (line is None) == (there == list(range(1, text.count(b"\n") + 1 + (text[-1:] != b"\n"))))
    assert line is None or line.tolist() == there


@needs_library
def test_every_length_of_the_last_line_is_split():
    for size in range(1, 40):
        text = LINE + b"q1 Q0 " + b"d" * size + b" 2 1 3"
        assert values(taken(text)) == plain(text)


@needs_library
def test_a_block_begins_where_its_value_changes():
    topics = [b"1", b"1", b"11", b"1", b"long-topic-name", b"long-topic-name", b"long-topic-nam"]
    topic = taken(b"".join(LINE.replace(b"q1", name) for name in topics))[0]
    assert topic.values.to_pylist() == ["1", "11", "1", "long-topic-name", "long-topic-nam"]
    assert topic.run_ends.to_pylist() == [2, 3, 4, 6, 7]


@needs_library
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b" Q0", b""),
        (b"q1", b""),
        (b"7\n", b"7 8\n"),
        (b"7\n", b"7x\n"),
        (b"7\n", b"7\1\n"),
        (b"1 0.5", b"1\n0.5"),
        (b"7\n", b""),
        (b"doc-1", b"d\0"),
        (b"doc-1", b"d\xff"),
        (b"q1", "é".encode()[:1]),
        (b" 1 ", " ١ ".encode()),
        (b" 1 ", b" 1234567890 "),
        (b" 1 ", b" +1 "),
        (b" 1 ", b" - "),
        (b" 1 ", b" 1.0 "),
        (b"0.5", b"nan"),
        (b"0.5", b"5e-1"),
        (b"0.5", b"."),
        (b"0.5", b"-"),
        (b"0.5", b"0.12345678901234567"),
        (b"0.5", b"0.1234567890123456789"),
        (b"7", b"0x7"),
        (b"7", b"1234567890123456789"),
    ],
)
def test_what_is_not_regular_is_refused(right, wrong):
    assert taken(LINE * 3) is not None
    assert taken(LINE + LINE.replace(right, wrong) + LINE) is None
    assert taken(LINE.replace(right, wrong) + LINE) is None


@needs_library
def test_an_empty_text_is_refused_and_blank_lines_hold_nothing():
    assert taken(b"") is None
    assert values(taken(b"\n \r\n")) == [[], None, [], [], [], []]


@needs_library
@given(st.integers(0, 10**18 - 1), st.integers(0, 18))
def test_a_real_number_is_the_nearest_double_or_refused(number, decimals):
    digits = str(number).rjust(decimals + 1, "0")
    text = f"{digits[: len(digits) - decimals]}.{digits[len(digits) - decimals :]}"
    found = taken(text.encode(), [("score", "real")])
    if number <= 2**53 and len(digits) <= 18:
        assert found[0].to_pylist() == [float(text)]
    else:
        assert found is None or found[0].to_pylist() == [float(text)]


@needs_library
@pytest.mark.parametrize("scores", [("0.12345678901234567", "1e-3"), ("17.000000000000000001", "-2.5E+2")])
def test_long_numbers_are_split_as_text_and_converted_exactly(scores, monkeypatch):
    monkeypatch.setattr(columns, "_by_fields", None)
    text = "".join(f"q Q0 d{i} 1 {score} 1\n" for i, score in enumerate(scores)).encode()
    assert read_table(source_of(text), LAYOUT)["score"].to_pylist() == [float(score) for score in scores]


@needs_library
def test_pieces_of_a_large_text_are_split_side_by_side(monkeypatch):
    monkeypatch.setattr(columns, "_SMALL", 0)
    monkeypatch.setattr(columns, "_BLOCK", 50)
    text = b"".join(b"q%d Q0 d%d %d 0.5 1\n" % (i // 7, i, i) for i in range(40))
    table = read_table(source_of(text), LAYOUT)
    assert table["topic"].num_chunks > 10
    assert [table[name].to_pylist() for name, kind in KINDS if kind] == [c for c in plain(text) if c]


WITHOUT = mock.patch.object(native, "library", return_value=None)


@needs_library
@given(STRINGS, st.integers(0, 3))
def test_keys_are_those_of_the_slow_twin(strings, first):
    array = pa.array(strings, pa.string()).slice(first)
    quick = native.hash64(array)
    with WITHOUT:
        assert native.hash64(array).tolist() == quick.tolist()


@needs_library
@given(STRINGS, st.sampled_from([1, 3, 1 << 32]), st.integers(0, 3))
def test_codes_are_those_of_the_slow_twin_even_where_keys_collide(strings, few, first):
    array = pa.array(strings, pa.string()).slice(first)
    keys = native.hash64(array) % np.uint64(few)
    codes, distinct = native.coded(array, keys)
    expected = array.dictionary_encode()
    assert codes.tolist() == expected.indices.to_pylist()
    assert distinct.to_pylist() == expected.dictionary.to_pylist()


@needs_library
@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**31 - 1)), max_size=9))
def test_joint_keys_are_those_of_the_slow_twin(pairs):
    keys, groups = np.array([a for a, _ in pairs], np.uint64), np.array([b for _, b in pairs], np.int32)
    quick = native.joint(keys, groups).tolist()
    assert native.joint(keys, groups.astype(np.int64)).tolist() == quick
    assert native.joint(keys[::2], groups[::2]).tolist() == quick[::2]
    with WITHOUT:
        assert native.joint(keys, groups).tolist() == quick


@needs_library
def test_strings_of_other_kinds_have_the_same_keys_and_codes():
    plain = native.hash64(pa.array(["a", "bc", "a"]))
    for array in (pa.array(["a", "bc", "a"], pa.large_string()), pa.array(["a", "bc", "a"]).dictionary_encode()):
        assert native.hash64(array).tolist() == plain.tolist()
    large = pa.array(["a", "bc", "a"], pa.large_string())
    assert native.coded(large, plain)[0].tolist() == [0, 1, 0]
    assert len(native.hash64(pa.array([], pa.string()))) == 0
    assert native.hash64(pa.array(["a", None]))[0] == plain[0]


@pytest.mark.parametrize("name", ["trec-run", "inex-text"])
def test_a_run_is_the_same_without_the_compiled_part(name, monkeypatch):
    quick = find_format(name).read(source_of(SAMPLES[name], "file"))
    monkeypatch.setattr(native, "library", lambda: None)
    slow = find_format(name).read(source_of(SAMPLES[name], "file"))
    assert said(quick) == said(slow)
    assert native.split(pa.py_buffer(LINE), ["text"] * 6) is None


def test_a_library_that_cannot_be_loaded_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "libnative.so")
    assert native.library.__wrapped__() is None
    native.LIBRARY.write_bytes(b"for another machine")
    assert native.library.__wrapped__() is None


@pytest.fixture
def build():
    """Return the build hook, which lies beside the package, in a tree of its own."""
    if importlib.util.find_spec("hatchling") is None or not (ROOT / "hatch_build.py").exists():
        pytest.skip("hatchling or the source tree is not at hand")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_library_is_compiled_without_a_warning(build, tmp_path, monkeypatch):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("FOCUSEVAL_PURE", "0")
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-Wall", "-Wextra", "-Werror"))
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "libnative.so")
    assert build.compiled(native.SOURCES, native.LIBRARY) is None
    assert native.library.__wrapped__() is not None
    (tmp_path / "native.c").write_text("another version")
    monkeypatch.setattr(native, "SOURCES", (tmp_path / "native.c", native.SOURCES[1]))
    assert native.library.__wrapped__() is None


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("CC=no-such-compiler", "no C compiler"),
        ('CC=gcc "', "no C compiler: No closing quotation"),
        ("CC=false", "false -std=c11"),
        ("FOCUSEVAL_PURE=1", "is set"),
    ],
)
def test_without_a_compiler_the_build_says_so_and_goes_on(build, tmp_path, monkeypatch, setting, why):
    monkeypatch.delenv("FOCUSEVAL_PURE", raising=False)
    monkeypatch.setenv(*setting.split("="))
    assert why in build.compiled(native.SOURCES, tmp_path / "libnative.so")
    assert list(tmp_path.iterdir()) == []


def test_on_windows_nothing_is_compiled(build, tmp_path, monkeypatch):
    monkeypatch.delenv("FOCUSEVAL_PURE", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert "Windows" in build.compiled(native.SOURCES, tmp_path / "libnative.so")


def test_a_tree_that_cannot_be_written_to_is_no_reason_to_fail(build, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.delenv("FOCUSEVAL_PURE", raising=False)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert build.compiled(native.SOURCES, tmp_path / "nowhere" / "libnative.so")


KEYS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 40), max_size=60)


@given(KEYS, KEYS)
def test_a_key_leads_to_its_first_row(keys, asked):
    first = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    found = native.Lookup(np.array(keys, np.int64)).find(np.array(asked + keys, np.int64))
    assert found.tolist() == [first.get(key, -1) for key in asked + keys]


def test_many_keys_that_start_at_one_slot_are_all_found():
    keys = np.arange(5000, dtype=np.int64) << 52
    assert native.Lookup(keys).find(keys[::-1]).tolist() == native.Lookup(keys).find(keys).tolist()[::-1]
