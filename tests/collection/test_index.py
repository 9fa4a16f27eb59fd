"""An index answers in columns: ids to rows, paths and pointers to positions, elements of many documents."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.documents import in_memory, open_documents
from focuseval.collection.parse import Raw, parse_documents
from focuseval.errors import CollectionError
from oracle.xml_tree import slow_tree
from strategies.xml_documents import documents

ARTICLE = """<article><name>One</name><bdy><sec><p>first <b>bold</b> rest</p><p>second</p></sec>
<sec><p>third</p> </sec></bdy></article>"""


def index_of(contents, cut=None):
    raws = [Raw(name, f"{name}.xml", content.encode()) for name, content in contents.items()]
    parts = [raws] if cut is None else [part for part in (raws[:cut], raws[cut:]) if part]
    return in_memory([parse_documents(part)[0] for part in parts], "test")


@pytest.fixture
def index():
    return index_of({"co/2000/r1": ARTICLE, "co/2001/r2": "<a>x<b>y</b></a>", "cs/r2": "<a/>"}, cut=2)


def text_at(index, row, path):
    start, end = index.resolve([row], [path])
    return index.text(row)[start[0] : end[0]]


def test_paths_resolve_to_the_text_of_their_element(index):
    assert text_at(index, 0, "/article[1]/name[1]") == "One"
    assert text_at(index, 0, "/article[1]/bdy[1]/sec[1]/p[2]") == "second"
    assert text_at(index, 0, "/article[1]/bdy[1]/sec[2]/p[1]") == "third"
    assert text_at(index, 1, "/a[1]/b[1]") == "y"


def test_a_step_without_a_number_means_the_first(index):
    assert text_at(index, 0, "/article/bdy/sec[2]/p") == "third"


@pytest.mark.parametrize(
    "path",
    [
        "/article[1]/bdy[1]/sec[3]",
        "/article[2]",
        "/article[1]/nosuch[1]",
        "/article[1]/bdy[0]",
        "/nosuch[1]",
        "",
        "/",
        "/article[1]//p[1]",
        "/article[x]",
        "/article[1]/bdy[1]/sec[1]/p[1]/b[1]/i[1]",
        "/article[1]/bdy[99999999999999999999]",
        None,
    ],
)
def test_what_is_not_there_is_minus_one(index, path):
    start, end = index.resolve([0], pa.array([path], pa.string()))
    assert (start.tolist(), end.tolist()) == ([-1], [-1])


def test_unknown_documents_resolve_to_nothing(index):
    start, _ = index.resolve([-1, 7, 1], ["/a[1]", "/a[1]", "/a[1]"])
    assert start.tolist() == [-1, -1, 0]


def test_paths_may_come_encoded_or_in_chunks(index):
    paths = pa.array(["/a[1]", "/a[1]/b[1]"])
    for column in (paths, paths.dictionary_encode(), pa.chunked_array([paths[:1], paths[1:]]), paths.to_pylist()):
        assert index.resolve([1, 1], column)[0].tolist() == [0, 1]
    assert index.resolve([], pa.chunked_array([], pa.string()))[0].tolist() == []


def test_pointers_count_text_nodes_as_xpath_does(index):
    pointers = [
        "/article[1]/bdy[1]/sec[1]/p[1]/text()[1].2",
        "/article[1]/bdy[1]/sec[1]/p[1]/text()[2].0",
        "/article[1]/bdy[1]/sec[1]/p[1]/text()[2].5",
        "/article[1]/bdy[1]/sec[1]/p[1]/text()[2].6",
        "/article[1]/bdy[1]/sec[1]/p[1]/text()[3].0",
        "/article[1]/bdy[1]/sec[1]/p[2]",
        "/article[1]/nosuch[1]/text()[1].0",
        "/article[1]/name/text().3",
    ]
    text = index.text(0)
    rest = text.index(" rest")
    expected = [text.index("first") + 2, rest, rest + 5, -1, -1, text.index("second"), -1, 3]
    assert index.resolve_points([0] * len(pointers), pointers).tolist() == expected


def test_stripped_pointers_do_not_count_blank_nodes():
    index = index_of({"d": "<a> <b>x</b> mixed <b>y</b>\n<b/>end</a>"})
    keep = ["/a[1]/text()[2].0", "/a[1]/text()[4].0"]
    strip = ["/a[1]/text()[1].0", "/a[1]/text()[2].0"]
    assert index.resolve_points([0, 0], keep).tolist() == [2, 11]
    assert index.resolve_points([0, 0], strip, whitespace="strip").tolist() == [2, 11]
    assert index.resolve_points([0], ["/a[1]/text()[3].0"], whitespace="strip").tolist() == [-1]


def test_ids_are_found_exactly_then_without_extension_then_by_their_end(index):
    wanted = ["co/2000/r1", "co/2000/r1.xml", "r1", "2001/r2", "r1.XML", "nosuch", None]
    assert index.find(pa.array(wanted)).tolist() == [0, 0, 0, 1, 0, -1, -1]
    assert index.find(pa.array(wanted).dictionary_encode()).tolist() == [0, 0, 0, 1, 0, -1, -1]
    assert index.find([]).tolist() == []


@pytest.mark.parametrize("folder", ["docs/", "./docs/", "/home/me/docs/", "docs\\"])
def test_a_folder_in_front_of_all_ids_is_taken_away(folder):
    index = open_documents({"tea": "x", "en/coffee": "y"})
    assert index.find([f"{folder}tea.md", f"{folder}en/coffee.md", f"{folder}milk.md"]).tolist() == [0, 1, -1]
    assert index.find([f"{folder}tea.md"]).tolist() == [0]


def test_two_ids_never_become_one_for_want_of_their_folders():
    index = open_documents({"tea": "x"})
    assert index.find(["en/tea", "fr/tea"]).tolist() == [-1, -1]
    assert index.find(["tea", "fr/tea"]).tolist() == [0, -1]
    assert index.find([""]).tolist() == [-1]


def test_an_ambiguous_id_is_refused_with_both_candidates(index):
    with pytest.raises(CollectionError, match="'r2' is ambiguous: it could be 'co/2001/r2' or 'cs/r2'"):
        index.find(["r2"])


def test_texts_come_in_the_order_asked_for(index):
    assert index.texts([1, 0, 1]).to_pylist() == ["xy", index.text(0), "xy"]
    assert index.texts([]).to_pylist() == []
    with pytest.raises(IndexError):
        index.texts([3])
    with pytest.raises(IndexError):
        index.elements_of([-1])


def test_elements_of_several_documents_keep_their_order_and_parents(index):
    table = index.elements_of([2, 0, 1])
    assert table.document.tolist() == [2] + [0] * 9 + [1] * 2
    assert table.tag.to_pylist()[-2:] == ["a", "b"]
    assert table.parent.tolist()[-2:] == [-1, 10]
    assert table.paths()[-1] == "/a[1]/b[1]"
    assert index.path_strings(table.row).to_pylist() == table.paths()
    assert index.resolve_rows(table.document, table.paths()).tolist() == table.row.tolist()


def test_the_last_element_and_row_agree_across_blocks(index):
    every = index.elements_of(np.arange(len(index)))
    assert every.row.tolist() == list(range(len(every)))
    assert len(every) == index.element_bounds[-1]


@given(st.lists(documents(), min_size=1, max_size=4), st.integers(0, 3), st.randoms(use_true_random=False))
def test_every_path_of_every_document_resolves_to_its_span(contents, cut, rng):
    raws = [Raw(f"d{i}", f"d{i}.xml", content) for i, content in enumerate(contents)]
    index = in_memory([parse_documents(part)[0] for part in (raws[:cut], raws[cut:]) if part], "test")
    queries = [
        (row, path, *span) for row, content in enumerate(contents) for path, span in slow_tree(content).spans.items()
    ]
    rng.shuffle(queries)
    rows, paths, starts, ends = zip(*queries, strict=True)
    start, end = index.resolve(rows, list(paths))
    assert (start.tolist(), end.tolist()) == (list(starts), list(ends))
    last = [path.rpartition("[")[0] + "[99]" for path in paths]
    assert (index.resolve(rows, last)[0] == -1).all()


def test_documents_and_elements_are_found_without_rows():
    index = open_documents({"a.md": "To be.", "b": ""})
    assert [document.id for document in index] == ["a.md", "b"]
    assert [repr(document) for document in index] == [
        "IndexedDocument('a.md', 6 characters)",
        "IndexedDocument('b', 0 characters)",
    ]
    assert index.document("a").text == "To be."
    with pytest.raises(CollectionError, match=r"no document 'c'; index.ids"):
        index.document("c")


def test_elements_come_one_by_one_with_path_tag_and_span():
    block, _ = parse_documents([Raw("d", "d.xml", b"<a>x<b>y</b><b/></a>")])
    page = in_memory([block], "test").document("d")
    assert [tuple(element) for element in page] == [
        ("/a[1]", "a", 1, 0, 2),
        ("/a[1]/b[1]", "b", 2, 1, 2),
        ("/a[1]/b[2]", "b", 2, 2, 2),
    ]
    assert page.elements.tags == ["a", "b", "b"]
    assert (page.span("/a[1]/b[1]"), page.span("/a[1]/c[1]")) == ((1, 2), None)
