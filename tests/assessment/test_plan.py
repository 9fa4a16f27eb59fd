import pytest

from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, assessors, pool, register, split
from focuseval.errors import AssessError
from strategies.assessing import ANN, mark, save

ROWS = [
    Pooled("1", "a/one", runs=3, best=1),
    Pooled("1", "a/two", runs=2, best=4),
    Pooled("2", "a/one", runs=1, best=9),
]


def names(rows):
    return [(row.topic, row.document) for row in rows]


def test_a_top_up_adds_behind_what_is_there_and_leaves_finished_work_alone(store):
    add_to_pool(store, ROWS, actor="lead")
    before = save(store, mark(0, 5))
    added = add_to_pool(store, [Pooled("1", "a/new"), ROWS[0], Pooled("3", "a/one")], actor="lead")
    assert added == 2
    assert names(pool(store)) == [("1", "a/one"), ("1", "a/two"), ("1", "a/new"), ("2", "a/one"), ("3", "a/one")]
    assert [row.position for row in pool(store)] == [0, 1, 2, 0, 0]
    assert store.judgement(ANN) == before


def test_without_a_split_everything_is_everybodys(store):
    add_to_pool(store, ROWS, actor="lead")
    assert pool(store, "ann") == pool(store, "bob") == pool(store)


def test_topics_are_dealt_out_in_turn(store):
    add_to_pool(store, ROWS, actor="lead")
    split(store, ["ann", "bob"], by="topics", actor="lead")
    assert names(pool(store, "ann")) == [("1", "a/one"), ("1", "a/two")]
    assert names(pool(store, "bob")) == [("2", "a/one")]


def test_a_pool_is_dealt_out_with_an_overlap_for_agreement(store):
    add_to_pool(store, ROWS, actor="lead")
    split(store, ["ann", "bob", "cy"], by="pool", overlap=2, actor="lead")
    readers = [name for name in ("ann", "bob", "cy") for _ in pool(store, name)]
    assert sorted(readers) == ["ann", "ann", "bob", "bob", "cy", "cy"]
    with pytest.raises(AssessError, match="overlap from 1 to 2"):
        split(store, ["ann", "bob"], by="pool", overlap=3, actor="lead")


def test_a_new_split_leaves_what_was_begun_with_who_began_it(store):
    add_to_pool(store, ROWS, actor="lead")
    save(store, mark(0, 5))
    split(store, ["bob", "ann"], by="topics", actor="lead")
    assert ("1", "a/one") in names(pool(store, "ann"))
    assert names(pool(store, "bob")) == [("1", "a/one"), ("1", "a/two")]


def test_a_document_that_came_later_is_everybodys(store):
    add_to_pool(store, ROWS, actor="lead")
    split(store, ["ann", "bob"], by="pool", actor="lead")
    add_to_pool(store, [Pooled("1", "a/new")], actor="lead")
    assert ("1", "a/new") in names(pool(store, "ann"))
    assert ("1", "a/new") in names(pool(store, "bob"))


def test_a_name_is_a_persons_or_an_imports_for_good(store):
    register(store, Assessor("ann"))
    register(store, Assessor("ann"))
    register(store, Assessor("model", "imported", "answers.jsonl"), actor="lead")
    assert [one.label for one in assessors(store)] == ["ann", "model (imported)"]
    with pytest.raises(AssessError, match="a human assessor"):
        register(store, Assessor("ann", "imported"))
    with pytest.raises(AssessError, match="an imported assessor"):
        register(store, Assessor("model"))
    with pytest.raises(AssessError, match="reserved"):
        register(store, Assessor("adjudicated"))
