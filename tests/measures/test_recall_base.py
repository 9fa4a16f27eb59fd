"""Full, filtered and ideal recall bases, with and without an index."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.documents import open_documents
from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.errors import InputError, MissingDataError
from focuseval.measures.assessed import assessed_elements
from focuseval.measures.recall_base import path_tree
from focuseval.placing.pointers import highlighted_elements
from oracle import recall_base as slow
from strategies.element_runs import DOCUMENTS, PATHS, TOPICS, cases, gold_of

steps = st.tuples(st.sampled_from(["a", "b", "aa", "a-b", "a.b"]), st.integers(1, 12)).map(lambda s: f"/{s[0]}[{s[1]}]")
paths = st.lists(steps, min_size=1, max_size=4).map("".join)


def rows(base, gold, chosen=None):
    """A base as the oracle writes it."""
    chosen = np.arange(len(base)) if chosen is None else chosen
    where = [
        (
            gold.topics[gold.articles.topic[base.article[i]]],
            gold.documents[int(gold.articles.document[base.article[i]])].as_py(),
            base.tree.path[int(base.code[i])].as_py(),
        )
        for i in chosen
    ]
    return dict(zip(where, base.gain[chosen].tolist(), strict=True))


@given(st.lists(paths, max_size=12))
def test_the_order_of_strings_is_a_preorder_with_unbroken_subtrees(given_paths):
    tree = path_tree(pa.array(given_paths, pa.string()))
    known = tree.path.to_pylist()
    assert set(given_paths) <= set(known)
    for i, path in enumerate(known):
        inside = [j for j, other in enumerate(known) if (other + "/").startswith(path + "/")]
        assert inside == list(range(i, tree.last[i]))
        assert tree.depth[i] == path.count("/")


def test_paths_are_found_in_every_kind_of_column():
    tree = path_tree(pa.array(["/a[1]/b[2]"]))
    column = pa.array(["/a[1]/b[2]", None, "/x[1]", "/a/b[2]"])
    for kind in (column, column.dictionary_encode(), pa.chunked_array([column[:1], column[1:]])):
        assert tree.find(kind).tolist() == [1, -1, -1, 1]
    chunks = pa.chunked_array([column[:1].dictionary_encode(), column[1:].dictionary_encode()])
    assert tree.find(chunks).tolist() == [1, -1, -1, 1]


@given(cases(), st.sampled_from([(), ("link",), ("link", "b")]))
def test_bases_equal_their_slow_twins(case, tags):
    gold = gold_of(case.assessments, case.scale)
    base = assessed_elements(gold).base(case.quant, tags)
    wanted = slow.filtered(slow.full(case.assessments, case.quant, case.scale), tags)
    assert rows(base, gold) == {where: float(gain) for where, gain in wanted.items()}
    ideal = slow.ideal(wanted)
    assert rows(base, gold, base.ideal) == {where: float(gain) for where, gain in ideal.items()}


@given(cases())
def test_subtrees_and_relatives_equal_their_slow_twins(case):
    gold = gold_of(case.assessments, case.scale)
    base = assessed_elements(gold).base(case.quant)
    where = list(rows(base, gold))
    for i, x in enumerate(where):
        assert [j for j, y in enumerate(where) if slow.contains(x, y)] == list(range(i, base.last[i]))
        related = [n for n, j in enumerate(base.ideal) if slow.contains(x, where[j]) or slow.contains(where[j], x)]
        assert related == list(range(base.related[0][i], base.related[1][i]))
        assert related


def test_of_equal_gains_the_one_nearer_the_root_is_ideal():
    said = {("t1", "d1", p): (2, -1, 30, 10) for p in ("/a[1]", "/a[1]/b[1]", "/a[1]/b[1]/c[1]")}
    gold = gold_of(said, "highlights")
    base = assessed_elements(gold).base()
    assert list(rows(base, gold, base.ideal)) == [("t1", "d1", "/a[1]")]


def test_equal_fractions_tie_whatever_their_terms():
    said = {("t1", "d1", "/a[1]"): (2, -1, 49, 7), ("t1", "d1", "/a[1]/b[1]"): (2, -1, 21, 3)}
    gold = gold_of(said, "highlights")
    base = assessed_elements(gold).base()
    assert list(rows(base, gold, base.ideal)) == [("t1", "d1", "/a[1]")]


def test_filtering_can_leave_a_gap_in_a_path():
    said = {("t1", "d1", p): (2, -1, 4, g) for p, g in (("/a[1]", 1), ("/a[1]/link[1]", 4), ("/a[1]/link[1]/c[1]", 3))}
    gold = gold_of(said, "highlights")
    base = assessed_elements(gold).base("spec", ("link",))
    assert rows(base, gold, base.ideal) == {("t1", "d1", "/a[1]/link[1]/c[1]"): 0.75}


def test_an_element_that_was_assessed_twice_alike_counts_once_and_a_contradiction_is_refused():
    gold = gold_of({("t1", "d1", "/a[1]"): (3, 3, 0, 0)})
    once = gold.elements
    twice = GradedElements(
        **{name: np.repeat(getattr(once, name), 2) for name in ("topic", "document", "exhaustivity", "size", "rsize")},
        path=pa.array(["/a[1]"] * 2).dictionary_encode(),
        specificity=np.array([3, 3], np.int8),
    )
    assert len(assessed_elements(replace(gold, elements=twice)).base()) == 1
    differing = replace(twice, specificity=np.array([3, 2], np.int8))
    with pytest.raises(InputError, match=r"topic t1, document d1, /a.*found two that differ"):
        assessed_elements(replace(gold, elements=differing))


# -- from highlights and an index ----------------------------------------------------------------------------------

ARTICLE = "<a><b>abcdef<c>gh</c></b><b/><b>ij<link>kl</link></b>mn</a>"
SPANS = {"/a[1]": (0, 14), "/a[1]/b[1]": (0, 8), "/a[1]/b[1]/c[1]": (6, 8), "/a[1]/b[2]": (8, 8),
         "/a[1]/b[3]": (8, 12), "/a[1]/b[3]/link[1]": (10, 12)}  # fmt: skip


def highlighted(passages):
    """A gold of highlights alone: passages are (topic, document, start, end)."""
    topic, document, start, end = (np.array(c, np.int64) for c in zip(*passages, strict=True))
    pairs = sorted({(int(t), int(d)) for t, d in zip(topic, document, strict=True)})
    none = np.full(len(pairs), UNKNOWN, np.int64)
    empty = np.zeros(0, np.int64)
    return Gold(
        TOPICS,
        pa.array(DOCUMENTS),
        Articles(
            np.array([t for t, _ in pairs], np.int32),
            np.array([d for _, d in pairs], np.int32),
            np.ones(len(pairs), np.int32),
            none,
            none,
            none,
        ),
        Passages(topic.astype(np.int32), document.astype(np.int32), start, end, end - start),
        GradedElements(
            empty.astype(np.int32),
            empty.astype(np.int32),
            pa.array([], pa.string()).dictionary_encode(),
            empty.astype(np.int8),
            empty.astype(np.int8),
            empty,
            empty,
        ),
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    for name in DOCUMENTS:
        (folder / f"{name}.xml").write_text(ARTICLE)
    return open_documents(folder)


passages = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 13), st.integers(1, 6))


@given(st.lists(passages.map(lambda p: (*p[:3], min(p[2] + p[3], 14))), min_size=1, max_size=6))
def test_highlights_and_an_index_give_every_element_with_highlighted_text(index, given_passages):
    gold = highlighted(given_passages)
    said = {}
    for t in range(3):
        for d in range(2):
            text = {c for tt, dd, s, e in given_passages if (tt, dd) == (t, d) for c in range(s, e)}
            for path, (start, end) in SPANS.items():
                said[TOPICS[t], DOCUMENTS[d], path] = (2, -1, end - start, len(text & set(range(start, end))))
    base = assessed_elements(gold, index).base()
    wanted = slow.full(said, "spec", "highlights")
    assert rows(base, gold) == {where: float(gain) for where, gain in wanted.items()}
    assert rows(base, gold, base.ideal) == {where: float(gain) for where, gain in slow.ideal(wanted).items()}


OTHER = "<a>ab<c>cd</c><b><c>ef<b>gh</b></c><c>ij</c></b>klmn</a>"
OTHER_SPANS = {"/a[1]": (0, 14), "/a[1]/c[1]": (2, 4), "/a[1]/b[1]": (4, 10), "/a[1]/b[1]/c[1]": (4, 8),
               "/a[1]/b[1]/c[1]/b[1]": (6, 8), "/a[1]/b[1]/c[2]": (8, 10)}  # fmt: skip


@pytest.fixture(scope="module")
def two_articles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    for name, article in zip(DOCUMENTS, (ARTICLE, OTHER), strict=True):
        (folder / f"{name}.xml").write_text(article)
    return open_documents(folder)


@given(
    st.lists(passages.map(lambda p: (*p[:3], min(p[2] + p[3], 14))), min_size=1, max_size=9),
    st.integers(1, 40),
)
def test_highlighted_elements_are_the_same_in_batches_of_any_size(two_articles, given_passages, batch):
    found = highlighted_elements(highlighted(given_passages), two_articles, batch)
    columns = (found.document, found.topic, found.path.to_pylist(), found.size, found.rsize)
    wanted = []
    for d, spans in enumerate((SPANS, OTHER_SPANS)):
        for t in range(3):
            text = {c for tt, dd, s, e in given_passages if (tt, dd) == (t, d) for c in range(s, e)}
            within = {path: len(text & set(range(*span))) for path, span in spans.items()}
            wanted += [(d, t, path, end - start, within[path]) for path, (start, end) in spans.items() if within[path]]
    assert list(zip(*columns, strict=True)) == wanted


def test_highlights_in_documents_that_the_index_lacks_hold_no_elements(index):
    gold = replace(highlighted([(0, 0, 0, 3), (1, 1, 0, 3)]), documents=pa.array([DOCUMENTS[0], "unknown"]))
    assert highlighted_elements(gold, index).topic.tolist() == [0, 0]
    unknown = highlighted_elements(replace(gold, documents=pa.array(["unknown", "strange"])), index)
    assert (len(unknown.topic), len(unknown.path)) == (0, 0)


def test_highlights_without_an_index_say_what_to_build():
    with pytest.raises(MissingDataError, match="focuseval index"):
        assessed_elements(highlighted([(0, 0, 0, 3)]))


def test_the_paths_of_the_strategy_are_a_tree_with_gaps():
    assert len(path_tree(pa.array(PATHS))) == len(PATHS)
