"""Simulated runs: parts against the slow twin, rankings by hand, dials by what they promise."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.documents import open_documents
from focuseval.data.gold import Articles, Gold, GradedElements, Passages
from focuseval.errors import MeasureError, MissingDataError
from focuseval.studies.simulation import KINDS, Dial, simulate
from oracle import simulate as oracle

EMPTY = np.zeros(0, np.int32)
NO_ELEMENTS = GradedElements(
    EMPTY, EMPTY, pa.array([], pa.string()).dictionary_encode(), EMPTY.astype(np.int8), EMPTY.astype(np.int8),
    EMPTY.astype(np.int64), EMPTY.astype(np.int64),
)  # fmt: skip


def make_gold(judged, documents):
    """A gold from (topic, document, highlighted characters); topics and documents by number."""
    spans = [
        (t, d, min(run), max(run) + 1) for t, d, highlighted in judged for run in oracle.passages(set(highlighted))
    ]
    topic, document, start, end = (np.array(column) for column in zip(*spans, strict=True))
    t, d, h = zip(*judged, strict=True)
    unknown = np.full(len(judged), -1, np.int64)
    return Gold(
        topics=tuple(str(i) for i in range(max(t) + 1)),
        documents=pa.array(documents),
        articles=Articles(
            np.array(t, np.int32), np.array(d, np.int32), np.array([bool(x) for x in h], np.int32), unknown,
            np.array([len(x) for x in h], np.int64), unknown,
        ),
        passages=Passages(
            topic.astype(np.int32), document.astype(np.int32), start, end, np.full(len(spans), -1, np.int64)
        ),
        elements=NO_ELEMENTS,
    )  # fmt: skip


def write_collection(folder, sources):
    folder.mkdir(exist_ok=True)
    for name, source in sources.items():
        (folder / f"{name}.xml").write_text(source, encoding="utf-8")
    return open_documents(folder)


@st.composite
def tree(draw, depth=0):
    """A little XML element with text between its children."""
    tag = draw(st.sampled_from("ab"))
    inner = draw(st.text("xyz", max_size=3))
    if depth < 3:
        for child in draw(st.lists(tree(depth=depth + 1), max_size=3)):
            inner += child + draw(st.text("xyz", max_size=2))
    return f"<{tag}>{inner}</{tag}>"


@given(data=st.data())
def test_parts_are_those_of_the_slow_twin(tmp_path_factory, data):
    source = f"<r>{data.draw(tree())}w</r>"
    length = len(oracle.walk(source)[1])
    highlighted = data.draw(st.sets(st.integers(0, length - 1), min_size=1))
    index = write_collection(tmp_path_factory.mktemp("docs"), {"d0": source})
    gold = make_gold([(0, 0, highlighted)], ["d0"])
    for selection in ("S_L", "S_LD", "S_S", "S_ST"):
        run = simulate(gold, f"{selection}-R", index)
        assert sorted(run.path.to_pylist()) == sorted(oracle.select(selection, source, highlighted)), selection
        start, end = index.resolve(index.find(run.document), run.path)
        assert (run.start.tolist(), run.end.tolist()) == (start.tolist(), end.tolist())
    run = simulate(gold, "S-R", index)
    covered = {i for s, e in zip(run.start, run.end, strict=True) for i in range(s, e)}
    assert covered == highlighted


SOURCES = {f"d{i}": f"<a><p>{'x' * 20}</p><p>{'y' * (10 + i)}</p></a>" for i in range(5)}
JUDGED = [
    (0, 0, range(5)), (0, 1, range(12)), (0, 2, range(8)), (0, 3, ()),
    (1, 2, range(20)), (1, 4, range(3)),
]  # fmt: skip


@pytest.fixture
def collection(tmp_path):
    return make_gold(JUDGED, list(SOURCES)), write_collection(tmp_path / "c", SOURCES)


def ranking(run, topic):
    rows = np.flatnonzero(run.topic == topic)
    return list(dict.fromkeys(run.document.take(pa.array(rows)).to_pylist()))


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("S-R", ["d1", "d2", "d0"], ["d2", "d4"]),
        ("S-R_S", ["d2", "d1", "d0"], ["d4", "d2"]),
        ("S-R_I", ["d3", "d1", "d2", "d0"], ["d0", "d2", "d4"]),
        ("S_LD-R_SI", ["d3", "d2", "d1", "d0"], ["d0", "d4", "d2"]),
    ],
)
def test_articles_stand_by_highlighted_text_swapped_and_with_an_intruder_on_top(collection, kind, first, second):
    run = simulate(collection[0], kind, collection[1])
    assert (ranking(run, 0), ranking(run, 1)) == (first, second)


def test_every_kind_is_a_run_over_the_relevant_topics(collection):
    for kind in KINDS:
        run = simulate(collection[0], kind, collection[1])
        assert run.topics == ("0", "1")
        assert run.run_id.partition("(")[0] == kind
        assert (np.diff(run.topic) >= 0).all()
        assert set(run.topic.tolist()) == {0, 1}


def test_recall_base_runs_are_all_best_first_worst_first_and_leaves(collection):
    runs = {kind: simulate(collection[0], kind, collection[1]) for kind in ("full", "ideal", "reversed", "leaves")}
    results = {
        kind: list(zip(r.topic, r.document.to_pylist(), r.path.to_pylist(), strict=True)) for kind, r in runs.items()
    }
    # Topic 1: d2 has its first paragraph highlighted from end to end (20 of 20), d4 three characters of it.
    assert [x[1:] for x in results["ideal"] if x[0] == 1] == [("d2", "/a[1]/p[1]"), ("d4", "/a[1]/p[1]")]
    assert [x[1:] for x in results["reversed"] if x[0] == 1] == [("d4", "/a[1]/p[1]"), ("d2", "/a[1]/p[1]")]
    assert set(results["leaves"]) == {x for x in results["full"] if x[2] != "/a[1]"}
    assert {x[1:] for x in results["full"] if x[0] == 1} == {
        (d, p) for d in ("d2", "d4") for p in ("/a[1]", "/a[1]/p[1]")
    }


def test_no_noise_orders_by_specificity_and_the_dial_leans_as_it_says(collection):
    gold, index = collection
    clean = simulate(gold, "degraded", index, dial=Dial(noise=0))
    best = clean.path.to_pylist()[0]
    assert best == "/a[1]/p[1]"
    large = simulate(gold, "degraded", index, dial=Dial(noise=0, size=100))
    assert large.path.to_pylist()[0] == "/a[1]"
    deep = simulate(gold, "degraded", index, dial=Dial(noise=0, depth=100))
    assert deep.path.to_pylist()[0] != "/a[1]"
    short = simulate(gold, "random", index, dial=Dial(results=2))
    assert np.bincount(short.topic).tolist() == [2, 2]


def test_the_same_seed_gives_the_same_run(collection):
    one, same, other = (simulate(*[collection[0], "random", collection[1]], dial=Dial(seed=s)) for s in (1, 1, 2))
    assert one.path.to_pylist() == same.path.to_pylist()
    assert one.path.to_pylist() != other.path.to_pylist()


def test_what_cannot_be_made_is_refused_with_a_remedy(collection):
    gold, index = collection
    with pytest.raises(MeasureError, match="expected a kind among full"):
        simulate(gold, "perfect", index)
    with pytest.raises(MissingDataError, match="index="):
        simulate(gold, "S_L-R")
    with pytest.raises(MeasureError, match="noise between 0 and 1"):
        Dial(noise=2)
    with pytest.raises(MeasureError, match="at least 1 result"):
        Dial(results=0)


def test_perfect_passages_need_no_index(collection):
    assert simulate(collection[0], "S-R").path is None
