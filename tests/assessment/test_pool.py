import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from focuseval.assessment.pool import build_pool, describe_pool, read_pool, write_pool
from focuseval.cli import main
from focuseval.collection.documents import open_documents
from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError
from focuseval.placing import place_run


def run(name, **topics):
    """A run from document names: run("A", t1="a b c")."""
    rows = [(code, document) for code, ids in enumerate(topics.values()) for document in ids.split()]
    codes = np.array([code for code, _ in rows], np.int32)
    documents = pa.array([document for _, document in rows], pa.string())
    return Run(name, tuple(topics), codes, documents, file=f"/somewhere/{name}.txt", sha256=f"hash of {name}")


A = run("A", t1="a b c d", t2="x y")
B = run("B", t1="b e a f")


def names(pool, topic="t1"):
    return [entry.document for entry in pool.entries if entry.topic == topic]


def test_a_document_is_pooled_once_however_runs_spell_its_id_in_a_collection():
    texts = open_documents({"a.md": "one", "b.md": "two"})
    placed = [place_run(one, texts) for one in (run("A", t1="a b zzz"), run("B", t1="b.md"))]
    assert {e.document: e.runs for e in build_pool(placed, depth=3).entries} == {"a.md": 1, "b.md": 2, "zzz": 1}


def test_a_depth_takes_the_first_documents_of_every_run_and_shared_ones_come_first():
    pool = build_pool([A, B], depth=2)
    # b: both runs, rank 1; a: both, rank 1; e: one run, rank 2.
    assert names(pool) == ["a", "b", "e"]
    assert names(pool, "t2") == ["x", "y"]
    assert {entry.document: (entry.runs, entry.best, entry.by) for entry in pool.entries if entry.topic == "t1"} == {
        "a": (2, 1, (0,)),
        "b": (2, 1, (0, 1)),
        "e": (1, 2, (1,)),
    }


def test_a_size_goes_round_the_runs_until_there_are_enough():
    assert sorted(names(build_pool([A, B], size=3))) == ["a", "b", "e"]
    assert sorted(names(build_pool([A, B], size=2))) == ["a", "b"]
    assert len(names(build_pool([A, B], size=100))) == 6


def test_elements_count_for_their_document_at_the_rank_of_the_first():
    elements = run("E", t1="a a a b b c")
    assert sorted(names(build_pool([elements], depth=2))) == ["a", "b"]


def test_a_shuffle_is_the_same_for_the_same_seed():
    long = run("L", t1=" ".join(f"d{k}" for k in range(50)))
    first, again = (build_pool([long], depth=50, order="shuffled", seed=3) for _ in range(2))
    assert first == again
    assert names(first) != names(build_pool([long], depth=50))
    assert names(first) != names(build_pool([long], depth=50, order="shuffled", seed=4))


def test_a_top_up_keeps_every_place_and_counts_the_new_runs():
    base = build_pool([A], depth=2)
    more = build_pool([B], depth=2, base=base)
    assert names(more) == [*names(base), "e"]
    assert [entry.batch for entry in more.entries if entry.topic == "t1"] == [0, 0, 1]
    (b,) = [entry for entry in more.entries if entry.document == "b"]
    assert (b.runs, b.best, b.by) == (2, 1, (0, 1))
    assert [one.batch for one in more.contributors] == [0, 1]


def test_a_run_that_is_pooled_again_deeper_is_counted_once():
    base = build_pool([A, B], depth=2)
    deeper = build_pool([A], depth=4, base=base)
    counts = {entry.document: entry.runs for entry in deeper.entries if entry.topic == "t1"}
    assert counts == {"a": 2, "b": 2, "e": 1, "c": 1, "d": 1}


def test_a_top_up_remembers_how_deep_each_batch_was_pooled(tmp_path):
    more = build_pool([B], size=3, base=build_pool([A], depth=2))
    write_pool(more, tmp_path / "pool.jsonl")
    told = read_pool(tmp_path / "pool.jsonl").contributors
    assert [(one.depth, one.size) for one in told] == [(2, None), (None, 3)]


def test_a_pool_says_where_it_came_from_and_comes_back_from_its_file(tmp_path):
    pool = build_pool([A, B], depth=2)
    assert pool.contributors[0].sha256 == "hash of A"
    assert pool.contributors[0].file == "A.txt"
    write_pool(pool, tmp_path / "pool.jsonl")
    assert read_pool(tmp_path / "pool.jsonl") == pool


def test_statistics_count_what_each_run_brought_and_brought_alone():
    told = describe_pool(build_pool([A, B], depth=2))
    assert (told.topics, told.documents, told.per_topic) == (2, 5, (2, 2.5, 3))
    assert (told.brought, told.alone) == ((4, 2), (3, 1))
    assert told.overlap[0, 1] == pytest.approx(1 / 5)


@pytest.mark.parametrize("options", [{}, {"depth": 1, "size": 1}, {"depth": 1, "order": "sideways"}])
def test_a_pool_needs_one_limit_and_a_known_order(options):
    with pytest.raises(MissingDataError):
        build_pool([A], **options)


@pytest.mark.parametrize("text", ["", "[]\n", '{"pool": 2}\n', '{"pool": 1, "runs": []}\nx\n', "{",
                                  '{"pool": 1}\n', '{"pool": 1, "runs": [{"name": "A"}]}\n'])  # fmt: skip
def test_a_file_that_is_no_pool_is_refused_with_its_line(tmp_path, text):
    (tmp_path / "pool.jsonl").write_text(text)
    with pytest.raises(FormatError, match=r"pool.jsonl:\d: expected"):
        read_pool(tmp_path / "pool.jsonl")


RANKING = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12).map(" ".join)


@given(st.lists(RANKING, min_size=1, max_size=4), st.integers(1, 8))
def test_depth_and_size_agree_with_sets_and_loops(rankings, limit):
    runs = [run(f"R{k}", t1=ranking) for k, ranking in enumerate(rankings)]
    orders = [list(dict.fromkeys(ranking.split())) for ranking in rankings]
    assert set(names(build_pool(runs, depth=limit))) == {d for order in orders for d in order[:limit]}
    expected = []
    for rank in range(12):
        for order in orders:
            if rank < len(order) and order[rank] not in expected and len(expected) < limit:
                expected.append(order[rank])
    pool = build_pool(runs, size=limit)
    assert set(names(pool)) == set(expected)
    counts = [(-sum(e.document in order for order in orders), e.best, e.document) for e in pool.entries]
    assert counts == sorted(counts)


def test_the_command_writes_a_pool_and_tells_what_is_in_it(tmp_path):
    for name, lines in (("a", ["d1", "d2"]), ("b", ["d2", "d3"])):
        rows = [f"1 Q0 {document} {rank} {10 - rank} {name}" for rank, document in enumerate(lines, 1)]
        (tmp_path / f"{name}.txt").write_text("\n".join(rows) + "\n")
    out = tmp_path / "pool.jsonl"
    runs = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    told = CliRunner().invoke(main, ["pool", *runs, "-o", str(out)])
    assert told.exit_code == 0, told.output
    assert "3 documents for 1 topic" in told.output
    assert [entry.document for entry in read_pool(out).entries] == ["d2", "d1", "d3"]
    assert len(read_pool(out).contributors[0].sha256) == 64
