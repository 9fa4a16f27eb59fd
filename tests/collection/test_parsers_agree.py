"""The fast parser, the plain parser and a slow walk over a DOM read the same documents the same way."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.collection import block, parse
from focuseval.collection.block import joined
from focuseval.collection.documents import in_memory
from focuseval.collection.parse import parse_documents
from focuseval.engine import native
from oracle.xml_tree import slow_tree
from strategies.xml_documents import bodies, columns, documents, raws


def assert_reads_like_the_oracle(index, row, content):
    slow = slow_tree(content)
    elements = index.elements(row)
    assert index.text(row) == slow.text
    assert index.lengths[row] == len(slow.text)
    found = zip(elements.paths(), elements.depth.tolist(), elements.start.tolist(), elements.end.tolist(), strict=True)
    assert list(found) == slow.elements
    for path, spans in slow.nodes.items():
        pointers = [f"{path}/text()[{n + 1}].0" for n in range(len(spans) + 1)]
        starts = index.resolve_points([row] * len(pointers), pointers).tolist()
        assert starts == [start for start, _ in spans] + [-1]
        last = [f"{path}/text()[{n + 1}].{end - start}" for n, (start, end) in enumerate(spans)]
        assert index.resolve_points([row] * len(last), last).tolist() == [end for _, end in spans]


@given(st.lists(documents(), min_size=1, max_size=3))
def test_any_document_reads_like_the_slow_walk(contents):
    block, report = parse_documents(raws(contents))
    index = in_memory([block], "test")
    assert report.documents == len(contents)
    for row, content in enumerate(contents):
        assert_reads_like_the_oracle(index, row, content)


@given(st.lists(documents(ordinary=True), min_size=1, max_size=4))
def test_ordinary_documents_are_read_in_c_and_like_the_slow_walk(contents):
    if native.library() is not None:
        assert parse.read_compiled(contents)[0].tolist() == list(range(len(contents)))
    index = in_memory([parse_documents(raws(contents))[0]], "test")
    for row, content in enumerate(contents):
        assert_reads_like_the_oracle(index, row, content)


@given(st.lists(st.one_of(documents(), documents(ordinary=True)), min_size=1, max_size=5))
def test_both_paths_give_the_same_block(contents):
    fast, _ = parse_documents(raws(contents))
    plain, _ = parse_documents(raws(contents), fast=False)
    assert columns(fast) == columns(plain)


@given(st.lists(bodies(), min_size=2, max_size=6), st.integers(1, 5))
def test_blocks_joined_equal_documents_parsed_together(contents, cut):
    all_raws = raws([content.encode() for content in contents])
    together, _ = parse_documents(all_raws)
    parts = [parse_documents(part)[0] for part in (all_raws[:cut], all_raws[cut:]) if part]
    assert columns(joined(parts)) == columns(together)
    total = sum(block.fingerprint(part) for part in parts) % 2**256
    assert total == block.fingerprint(together)


@given(st.binary(max_size=60).map(lambda data: b"<a>" + data + b"</a>"))
def test_both_paths_refuse_the_same_bytes(content):
    fast, one = parse_documents(raws([content]), keep_going=True)
    plain, two = parse_documents(raws([content]), keep_going=True, fast=False)
    assert one.failures == two.failures
    assert (fast is None) == (plain is None)
    if fast is not None:
        assert columns(fast) == columns(plain)


def test_a_text_hash_is_that_of_its_utf8():
    block, _ = parse_documents(raws(["<a>é&lt;</a>".encode()]))
    assert block.batch.column("sha256").to_pylist() == [hashlib.sha256("é<".encode()).hexdigest()]


@pytest.mark.parametrize("declared", ["shift_jis", "gb18030", "utf8", "euc-jp"])
def test_encodings_of_several_bytes_are_decoded_before_expat(declared):
    content = f'<?xml version="1.0" encoding="{declared}"?><a>漢<b>字</b></a>'.encode(declared)
    index = in_memory([parse_documents(raws([content]))[0]], "test")
    assert index.text(0) == "漢字"
    assert index.resolve([0], ["/a[1]/b[1]"]) == (np.array([1]), np.array([2]))


@settings(max_examples=2 * settings.default.max_examples)
@given(st.one_of(documents(), documents(ordinary=True)), st.data())
def test_both_paths_say_the_same_of_damaged_documents(content, data):
    place = data.draw(st.integers(0, len(content)))
    length = data.draw(st.integers(0, 6))
    patch = data.draw(st.one_of(st.binary(max_size=3), st.sampled_from([b"<", b">", b"&", b";", b"</a>", b"<!", b"/"])))
    damaged = content[:place] + patch + content[place + length :]
    fast, one = parse_documents(raws([damaged, content]), keep_going=True)
    plain, two = parse_documents(raws([damaged, content]), keep_going=True, fast=False)
    assert one == two
    assert columns(fast) == columns(plain)


@pytest.mark.parametrize(
    ("content", "nodes"),
    [
        ("<a>x<!-- -->y</a>", ["x", "y"]),
        ("<a>x<?pi?>y</a>", ["x", "y"]),
        ("<a>x<b/>y</a>", ["x", "y"]),
        ("<a>x<![CDATA[<]]>y</a>", ["x<y"]),
        ("<a>x&amp;y&#65;</a>", ["x&yA"]),
        ("<a>x<![CDATA[]]><!-- --></a>", ["x"]),
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_text_nodes_are_those_of_xpath(content, nodes, fast):
    block, _ = parse_documents(raws([content.encode()]), fast=fast)
    spans = zip(block.node("start").tolist(), block.node("end").tolist(), strict=True)
    text = block.batch.column("text")[0].as_py()
    assert [text[start:end] for start, end in spans] == nodes
