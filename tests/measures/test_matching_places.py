"""Where results and highlighted passages lie, and what is said when nobody knows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from building import gold_of, run_of
from focuseval.errors import MissingDataError
from focuseval.evaluation.sources import as_index
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from focuseval.measures.profiles import Policies, inex_eval

MARKED = {"t": {"a": {"spans": [(0, 4)], "length": 9}, "empty": {"length": 0}, "b": {}}}


def places(run, index=None):
    return match(run, prepare(gold_of(MARKED), index)).places


def test_whole_documents_are_as_long_as_the_gold_says():
    found = places(run_of({"t": ["a", "empty"]}))
    assert found.start.tolist() == found.entry.tolist() == [0, 0]
    assert found.end.tolist() == [9, 0]
    assert found.unplaced.tolist() == [False, False]


def test_whole_documents_are_as_long_as_the_collection_says_where_it_has_them():
    index = as_index({"a": "in all", "b": "bb", "c": "", "empty": ""})
    assert places(run_of({"t": ["b", "c", "a", "empty"]}), index).end.tolist() == [2, 0, 6, 0]
    partly = as_index({"b": "bb", "c": ""})
    assert places(run_of({"t": ["c", "a", "b", "empty"]}), partly).end.tolist() == [0, 9, 2, 0]


@pytest.mark.parametrize("index", [None, {"b": "bb"}], ids=["no collection", "not in the collection"])
@pytest.mark.parametrize(("file", "where"), [("run.txt", "run.txt"), ("", "mine")])
def test_a_whole_document_of_unknown_length_is_refused(index, file, where):
    run = replace(run_of({"t": ["a", "c"]}, run_id="mine"), file=file)
    with pytest.raises(MissingDataError) as caught:
        places(run, as_index(index))
    assert str(caught.value) == (
        f"{where}: results are whole documents whose length the gold does not give; "
        "build the collection's index with 'focuseval index' and give index="
    )


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("text", "results are texts, so their places are unknown; give docs= or index="),
        (
            "path",
            (
                "results are element paths, so their characters are unknown; "
                "build the collection's index with 'focuseval index' and give index="
            ),
        ),
    ],
)
@pytest.mark.parametrize(("file", "where"), [("run.txt", "run.txt"), ("", "mine")])
def test_a_place_that_only_a_collection_knows_is_refused_without_one(column, told, file, where):
    run = replace(run_of({"t": ["a"]}, run_id="mine"), file=file, **{column: pa.array(["/a[1]"])})
    with pytest.raises(MissingDataError) as caught:
        places(run)
    assert str(caught.value) == f"{where}: {told}"


QUOTES = ("quotes without offsets", "give docs=")
PATHS = ("paths", "build the collection's index with 'focuseval index' and give index=")


@pytest.mark.parametrize(("start", "end"), [(-1, -1), (0, -1), (-1, 4)])
@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"quote": ["some"]}, QUOTES),
        ({"start_path": ["/a[1]"]}, PATHS),
        ({"start_path": ["/a[1]"], "quote": ["some"]}, PATHS),
        ({}, PATHS),
    ],
)
@pytest.mark.parametrize(("file", "where"), [("gold.xml", "gold.xml"), ("", "the gold")])
def test_highlighted_text_of_unknown_place_is_refused(start, end, columns, told, file, where):  # noqa: PLR0917  a table
    gold = gold_of(MARKED, file=file)
    strings = {name: pa.array(values) for name, values in columns.items()}
    passages = replace(gold.passages, start=np.array([start]), end=np.array([end]), **strings)
    with pytest.raises(MissingDataError) as caught:
        prepare(replace(gold, passages=passages)).highlights  # noqa: B018  the property refuses
    said, remedy = told
    assert str(caught.value) == (f"{where}: passages are given as {said}, so their characters are unknown; {remedy}")


def test_a_passage_that_ends_where_its_document_begins_has_a_place():
    gold = gold_of({"t": {"a": {"spans": [(0, 0), (0, 4)]}}})
    assert prepare(gold).trel.tolist() == [4]


def test_the_official_tool_has_policies_of_its_own():
    mine = Policies(cutoff=5, beta=0.25, base="filtered")
    assert inex_eval(mine) == Policies(
        overlap="inex_eval", missing="skip", short="last", cutoff=None, compat="inex_eval", beta=0.25, base="filtered"
    )
