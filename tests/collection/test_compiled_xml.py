"""The handlers in C: what they leave to Python, that both read the same, and that no access is out of bounds."""

import ctypes
import struct

import pytest
from hypothesis import given, settings

from focuseval.collection import parse
from focuseval.collection.parse import parse_documents
from focuseval.collection.trees import MAX_DEPTH
from focuseval.engine import native
from sanitizers import run_sanitized
from strategies.xml_documents import columns, documents, raws

needs_library = pytest.mark.skipif(native.library() is None, reason="no C compiler made the library")


def read(*contents):
    found = parse.read_compiled(contents)
    return [] if found is None else found[0].tolist()


def both(contents):
    fast, one = parse_documents(raws(contents), keep_going=True)
    plain, two = parse_documents(raws(contents), keep_going=True, fast=False)
    assert one == two
    assert (fast is None) == (plain is None)
    if fast is not None:
        assert columns(fast) == columns(plain)
    return one


@needs_library
@pytest.mark.parametrize(
    "content",
    [
        b"<a/>",
        b'<?xml version="1.0"?><a>x</a>',
        b"\xef\xbb\xbf<a>x</a>",
        b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?><a>\xc3\xa9</a>",
        b"<?xml version='1.0' encoding = 'ISO-8859-1' standalone='yes'?><a>\xe9\xff</a>",
        b'<?xml version="1.0" encoding="US-ASCII"?><a>x</a>',
        b'<!DOCTYPE a SYSTEM "a.dtd"><a>x&lt;y</a>',
        b'<!DOCTYPE a [<!ELEMENT a (#PCDATA)> <!ATTLIST a n CDATA "1">]><a>x</a>',
        b"<a>wow! <!-- ENTITY --> ! </a>",
        b"<a><![CDATA[&nbsp;]]></a>",
    ],
)
def test_ordinary_documents_are_read_in_c(content):
    assert read(content) == [0]
    assert not both([content]).failures


@needs_library
@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
        b'<!DOCTYPE a SYSTEM "a.dtd"><a>one&nbsp;two&unknown;</a>',
        "<a>x</a>".encode("utf-16"),
        "<a>x</a>".encode("utf-16-le"),
        "<a>x</a>".encode("utf-16-be"),
        '<?xml version="1.0" encoding="koi8-r"?><a>привет</a>'.encode("koi8-r"),
        '<?xml version="1.0" encoding="shift_jis"?><a>漢</a>'.encode("shift_jis"),
        b'<?xml version="1.0" encoding="latin-1"?><a>\xe9</a>',
    ],
)
def test_what_c_cannot_read_rightly_is_read_in_python(content):
    assert read(content) == []
    assert read(b"<a/>", content, b"<b/>") == [0, 2]
    assert not both([b"<z/>", content, b"<b/>"]).failures


@needs_library
@pytest.mark.parametrize(
    "content", [b"", b"<", b"<a", b"<a>", b"<a></b>", b"<a>&x;</a>", b"<a>\xff</a>", b"<a/><b/>", b"\0"]
)
def test_what_is_wrong_is_told_by_python(content):
    assert read(content) == []
    assert len(both([b"<z>x</z>", content, b"<b/>"]).failures) == 1


@needs_library
def test_names_of_a_document_that_is_taken_back_are_forgotten():
    block, _ = parse_documents(raws([b"<a/>", b"<gone><b/></wrong>", b"<c><b/></c>"]), keep_going=True)
    assert block.tags == ("a", "b", "c")


@needs_library
def test_nesting_has_the_same_limit():
    deep = [b"<a>" * depth + b"</a>" * depth for depth in (MAX_DEPTH, MAX_DEPTH + 1)]
    assert read(*deep) == [0]
    assert both(deep).failures == [f"d1.xml:1:{3 * MAX_DEPTH + 1}: refused: elements nested more than {MAX_DEPTH} deep"]


@needs_library
def test_a_document_of_several_pieces_is_one_document():
    text = "naïve 漢字 😀 &amp; <b>x</b>\r\n<!-- c --> " * 60_000
    content = f"<a>{text}</a>".encode()
    assert len(content) > 2 << 20
    assert read(content) == [0]
    both([content, b"<a>x</a>"])


@needs_library
def test_many_names_and_long_ones_are_all_kept():
    names = [f"n{i}" for i in range(70_000)] + ["x" * 5_000]
    content = f"<a>{''.join(f'<{name}/>' for name in names)}</a>".encode()
    both([content, b"<a>x</a>"])


def fake(monkeypatch, *, magic=b"pyexpat.expat_CAPI 1.1", size=176, major=2):
    """A capsule whose struct begins like this."""
    text = ctypes.create_string_buffer(magic)
    head = ctypes.create_string_buffer(struct.pack("Piiii", ctypes.addressof(text), size, major, 6, 0) + bytes(200))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule = make(ctypes.addressof(head), parse._NAME, None)
    monkeypatch.setattr(parse.pyexpat, "expat_CAPI", capsule)
    return text, head


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (True, {}),
        (True, {"size": 184}),
        (True, {"size": 144}),
        (False, {"size": 143}),
        (False, {"size": 0}),
        (False, {"magic": b"pyexpat.expat_CAPI 1.0"}),
        (False, {"major": 1}),
        (False, {"major": 3}),
    ],
)
def test_the_capsule_is_taken_by_its_magic_version_and_size(monkeypatch, known, said):
    kept = fake(monkeypatch, **said)
    assert (parse.expat.__wrapped__() is not None) == known
    assert kept


def test_characters_of_two_bytes_are_not_taken(monkeypatch):
    monkeypatch.setattr(parse.pyexpat, "features", [("sizeof(XML_Char)", 2)])
    assert parse.expat.__wrapped__() is None


@pytest.mark.parametrize("missing", ["no capsule", "another capsule", "no library"])
def test_without_the_capsule_everything_is_read_in_python(monkeypatch, missing):
    contents = [b"<a>x<b/></a>", b"<c>y</c>"]
    expected = columns(parse_documents(raws(contents))[0])
    monkeypatch.setattr(parse, "expat", parse.expat.__wrapped__)
    if missing == "no capsule":
        monkeypatch.delattr(parse.pyexpat, "expat_CAPI")
    elif missing == "another capsule":
        monkeypatch.setattr(parse, "_NAME", b"another")
    else:
        monkeypatch.setattr(native, "library", lambda: None)
    assert parse.read_compiled(contents) is None
    assert columns(parse_documents(raws(contents))[0]) == expected


@settings(max_examples=25)
@given(documents())
def test_a_document_cut_off_anywhere_reads_the_same(content):
    both([content[:size] for size in range(len(content))])


SCRIPT = """
import random, sys
from pathlib import Path
from focuseval import native
native.LIBRARY = Path(sys.argv[1])
from focuseval.collection.parse import read_compiled
assert native.library() is not None
random.seed(5)
parts = [b"<a>", b"</a>", b"<b c='d'/>", b"x", b" ", "é漢😀".encode(), b"&lt;", b"&#233;", b"&nope;", b"<!-- c -->"]
parts += [b"<?p i?>", b"<![CDATA[<]]>", b"\\xff", b"<!DOCTYPE a SYSTEM 'a'>", b"\\r\\n", b"!"]
parts += [b"<?xml version='1.0' encoding='iso-8859-1'?>"]
for _ in range(400):
    contents = [b"<r>" + b"".join(random.choices(parts, k=random.randint(0, 30))) + b"</r>" for _ in range(20)]
    contents += [b"".join(random.choices(parts, k=5)), b"", None, b"<" + b"n" * random.randint(1, 3000) + b"/>"]
    contents += [content[: random.randint(0, len(content))] for content in contents if content]
    read_compiled(contents)
print("fine")
"""


@needs_library
def test_no_access_is_out_of_bounds_and_no_behaviour_undefined(tmp_path):
    run_sanitized(SCRIPT, tmp_path)
