"""Real articles read the same by every path: JATS with MathML and comments, plays in an archive."""

import zipfile

import numpy as np
import pytest

from focuseval.collection.block import ELEMENT, NODE
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.parse import Raw, parse_documents
from focuseval.collection.store import open_index
from oracle.xml_tree import slow_tree


def read(folder):
    return [Raw(path.stem, path.name, path.read_bytes()) for path in sorted((folder / "plos").glob("*.xml"))]


@pytest.mark.parametrize("data", ["real_data", "shared_data"])
def test_articles_read_the_same_fast_and_plain(data, request):
    articles = read(request.getfixturevalue(data))[:: 1 if data == "real_data" else 3]
    fast, _ = parse_documents(articles)
    plain, _ = parse_documents(articles, fast=False)
    assert fast.tags == plain.tags
    assert all(np.array_equal(fast.element(name), plain.element(name)) for name in ELEMENT)
    assert all(np.array_equal(fast.node(name), plain.node(name)) for name in NODE)
    assert fast.batch.column("text").equals(plain.batch.column("text"))


@pytest.mark.parametrize("data", ["real_data", "shared_data"])
def test_articles_read_like_the_slow_walk(data, request):
    plos = read(request.getfixturevalue(data))
    index = open_documents(request.getfixturevalue(data) / "plos")
    for row in range(0, len(plos), 2 if data == "real_data" else 12):
        slow = slow_tree(plos[row].data)
        table = index.elements(row)
        spans = zip(table.paths(), table.depth.tolist(), table.start.tolist(), table.end.tolist(), strict=True)
        assert list(spans) == slow.elements
        assert index.text(row) == slow.text
        pointers = [f"{path}/text()[{n + 1}].0" for path, nodes in slow.nodes.items() for n in range(len(nodes))]
        starts = [start for nodes in slow.nodes.values() for start, _ in nodes]
        assert index.resolve_points([row] * len(pointers), pointers).tolist() == starts


def test_plays_in_an_archive_are_indexed_with_their_speakers(real_data, tmp_path):
    archive = real_data / "shakespeare" / "shakespeare.zip"
    build_index(archive, tmp_path / "index")
    index = open_index(tmp_path / "index")
    (row,) = index.find(["hamlet"])
    table = index.elements(int(row))
    with zipfile.ZipFile(archive) as plays:
        (name,) = [name for name in plays.namelist() if name.endswith("hamlet.xml")]
        slow = slow_tree(plays.read(name))
    assert table.paths() == [path for path, *_ in slow.elements]
    start, end = index.resolve([row], ["/PLAY[1]/TITLE[1]"])
    assert index.text(int(row))[start[0] : end[0]] == "The Tragedy of Hamlet, Prince of Denmark"
