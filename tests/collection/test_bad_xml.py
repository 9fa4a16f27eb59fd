"""Hostile and broken documents give one clear line; nothing outside the file is read, nothing vanishes uncounted."""

import pytest

from focuseval.collection.document_files import kind_of
from focuseval.collection.documents import in_memory
from focuseval.collection.parse import Raw, parse_documents
from focuseval.collection.trees import MAX_DEPTH, MAX_ENTITIES
from focuseval.errors import CollectionError


def read(content, file="a.xml"):
    block, report = parse_documents([Raw("a", file, content, kind_of(file)[1])])
    return in_memory([block], "test").text(0), report


def nested(depth):
    return b"<a>" * depth + b"</a>" * depth


def laughs(levels=9):
    declared = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, levels + 1))
    return f'<!DOCTYPE a [<!ENTITY l0 "lol">{declared}]><a>&l{levels};</a>'.encode()


BROKEN = {
    "an element is not closed": (b"<a>\n<b>x</a>", "a.xml:2:7: ", "mismatched tag"),
    "two roots": (b"<a/><b/>", "a.xml:1:5: ", "junk after document element"),
    "nothing": (b"", "a.xml:1:1: ", "no element found"),
    "no XML": (b"hello", "a.xml:1:1: ", "syntax error"),
    "a NUL": (b"<a>\nx\0</a>", "a.xml:2:2: ", "invalid token"),
    "Latin-1 without a declaration": ("<a>é</a>".encode("latin-1"), "a.xml:1:4: ", "invalid token"),
    "an encoding that is not the file's": (b'<?xml version="1.0" encoding="utf-16"?><a/>', "a.xml:1:31: ", "encoding"),
    "an encoding nobody knows": (b'<?xml version="1.0" encoding="x-martian"?><a/>', "a.xml:1: ", "x-martian"),
    "bytes that Shift JIS lacks": (
        b'<?xml version="1.0" encoding="shift_jis"?>\n<a>\x81</a>',
        "a.xml:2: ",
        "shift_jis",
    ),
    "an entity that no DTD could define": (b"<a>&eacute;</a>", "a.xml:1:4: ", "undefined entity"),
    "half a surrogate pair": (b"<a>&#xD800;</a>", "a.xml:1:4: ", "invalid character number"),
    "a billion laughs": (laughs(), "a.xml:1:", "amplification"),
    "a quadratic blowup": (
        b'<!DOCTYPE a [<!ENTITY b "' + b"x" * 100_000 + b'">]><a>' + b"&b;" * 3_000 + b"</a>",
        "a.xml:1:",
        "amplification",
    ),
    "an entity inside itself": (b'<!DOCTYPE a [<!ENTITY x "&x;">]><a>&x;</a>', "a.xml:1:", "recursive"),
    "a hundred thousand levels": (nested(100_000), "a.xml:1:", f"more than {MAX_DEPTH} deep"),
    "a hundred thousand levels left open": (b"<a>" * 100_000, "a.xml:1:", f"more than {MAX_DEPTH} deep"),
    "a level too many": (nested(MAX_DEPTH + 1), "a.xml:1:", f"more than {MAX_DEPTH} deep"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("fast", [True, False])
def test_a_broken_document_is_one_line_with_its_place(case, fast):
    content, place, what = BROKEN[case]
    with pytest.raises(CollectionError) as caught:
        parse_documents([Raw("a", "a.xml", content)], fast=fast)
    line = str(caught.value)
    assert line.startswith(place)
    assert what in line
    assert "\n" not in line


def test_a_chain_of_entities_cannot_exhaust_the_stack():
    chain = "".join(f'<!ENTITY e{i} "&e{i - 1};">' for i in range(1, 60_000))
    content = f'<!DOCTYPE a [<!ENTITY e0 "x">{chain}]><a>&e59999;</a>'.encode()
    with pytest.raises(CollectionError, match=f"more than {MAX_ENTITIES} entity declarations"):
        read(content)


def test_the_deepest_lawful_document_is_read():
    block, _ = parse_documents([Raw("a", "a.xml", nested(MAX_DEPTH))])
    assert block.element("depth").max() == MAX_DEPTH


def test_another_file_is_never_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    content = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><a>A&x;B</a>'.encode()
    text, report = read(content)
    assert text == "AB"
    assert report.left_out == {"x": 1}


def test_a_dtd_is_never_read(tmp_path):
    dtd = tmp_path / "a.dtd"
    dtd.write_text('<!ENTITY x "SECRET">')
    parameter = f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{dtd.as_uri()}"> %p;]><a>A&x;</a>'.encode()
    declared = f'<!DOCTYPE a SYSTEM "{dtd.as_uri()}"><a>A&x;</a>'.encode()
    for content in (parameter, declared):
        text, report = read(content)
        assert text == "A"
        assert report.left_out == {"x": 1}


def test_an_entity_of_an_unread_dtd_becomes_the_character_of_its_name():
    text, report = read(b'<!DOCTYPE a SYSTEM "ieee.dtd"><a>caf&eacute;&nosuch; &alpha;&nosuch;</a>')
    assert text == "café α"
    assert report.named == 2
    assert report.left_out == {"nosuch": 2}


def test_entities_of_the_file_itself_are_replaced_with_their_elements():
    block, _ = parse_documents([Raw("a", "a.xml", b'<!DOCTYPE a [<!ENTITY e "x<b>y</b>">]><a>&e;z</a>')])
    index = in_memory([block], "test")
    assert index.text(0) == "xyz"
    assert index.elements(0).paths() == ["/a[1]", "/a[1]/b[1]"]


def test_a_byte_order_mark_is_no_text_and_line_ends_are_normalised_in_xml():
    assert read(b"\xef\xbb\xbf<a>x\r\ny\rz</a>")[0] == "x\ny\nz"


def test_plain_text_keeps_its_line_ends_but_not_its_mark():
    assert read(b"\xef\xbb\xbfx\r\ny\n", "a.txt")[0] == "x\r\ny\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"fine\nna\xefve", "a.md:2: expected UTF-8, found byte 0xef"),
        (b"fine\n\nx\0", "a.md:3: expected text, found a NUL"),
    ],
)
def test_plain_text_that_is_no_utf8_names_its_line(content, line):
    with pytest.raises(CollectionError) as caught:
        read(content, "a.md")
    assert str(caught.value).startswith(line)


def test_keep_going_lists_each_unreadable_document_and_reads_the_others():
    contents = [b"<a>1</a>", b"<a>", b"<a>2<!-- --></a>", b"<a><!-- </a>", b"<a>3</a>"]
    block, report = parse_documents([Raw(f"d{i}", f"d{i}.xml", c) for i, c in enumerate(contents)], keep_going=True)
    assert block.batch.column("text").to_pylist() == ["1", "2", "3"]
    assert block.batch.column("id").to_pylist() == ["d0", "d2", "d4"]
    assert report.documents == 3
    assert [line.split(":")[0] for line in report.failures] == ["d1.xml", "d3.xml"]


def test_a_name_of_a_hundred_thousand_letters_is_read():
    name = "n" * 100_000
    block, _ = parse_documents([Raw("a", "a.xml", f"<{name}>x</{name}>".encode())])
    assert block.tags == (name,)
