"""What an alignment says of itself: a line, the first text without a place, and a table of all that changed."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from focuseval.data.placement import (
    AMBIGUOUS,
    APPROXIMATE,
    EXACT,
    LOST,
    NORMALISED,
    UNCHECKED,
    Alignment,
    nothing,
    repairs_of,
)

HOW = [EXACT, EXACT, NORMALISED, APPROXIMATE, AMBIGUOUS, LOST, LOST, LOST, UNCHECKED]
FOUND = Alignment(
    start=np.array([0, 9, 20, 30, -1, -1, -1, -1, 60]),
    end=np.array([4, 14, 25, 36, -1, -1, -1, -1, 70]),
    how=np.array(HOW, np.int8),
    similarity=np.array([1, 1, 1, 0.9, 1, 0, 0, 0, 1]),
    places=np.array([1, 2, 1, 1, 2, 0, -1, 0, 1]),
    claimed_start=np.array([0, 10, -1, -1, -1, 5, -1, -1, 60]),
    claimed_end=np.array([4, 15, -1, -1, -1, 9, -1, -1, 70]),
    document=[f"d{row}" for row in range(9)],
    text=["zero", "first", "second", "third", "fourth", "fifth", "sixth", "", None],
)
REASONS = {
    1: "moved to the nearest occurrence",
    2: "found as normalised text",
    3: "found as approximate text",
    4: "the text occurs 2 times and was left out; give its offset",
    5: "the text is nowhere in its document",
    6: "the document is not in the collection",
    7: "the text is empty",
}


def test_the_table_lists_all_that_is_not_where_it_was_said_to_be():
    table = FOUND.repairs()
    rows = list(REASONS)
    assert table.to_pydict() == {
        "file": [""] * 7,
        "line": [None] * 7,
        "topic": [None] * 7,
        "document": [f"d{row}" for row in rows],
        "how": ["exact", "normalised", "approximate", "ambiguous", "lost", "lost", "lost"],
        "claimed_start": [10, -1, -1, -1, 5, -1, -1],
        "claimed_end": [15, -1, -1, -1, 9, -1, -1],
        "start": [9, 20, 30, -1, -1, -1, -1],
        "end": [14, 25, 36, -1, -1, -1, -1],
        "shift": [-1, 0, 0, 0, 0, 0, 0],
        "similarity": [1, 1, 0.9, 1, 0, 0, 0],
        "reason": list(REASONS.values()),
        "text": ["first", "second", "third", "fourth", "fifth", "sixth", ""],
    }
    words = dict.fromkeys(("file", "topic", "document", "how", "reason", "text"), pa.string())
    assert {one.name: one.type for one in table.schema} == {
        **dict.fromkeys(table.column_names, pa.int64()),
        **words,
        "similarity": pa.float64(),
    }


def test_the_table_names_file_line_and_topic_where_they_are_known():
    known = replace(FOUND, file="run.jsonl", line=np.arange(1, 10), topic=[f"q{row}" for row in range(9)])
    table = known.repairs().to_pydict()
    assert (table["file"][0], table["line"][0], table["topic"][0]) == ("run.jsonl", 2, "q1")


def test_tables_of_several_files_are_one_and_none_is_an_empty_one():
    assert repairs_of([None, FOUND, FOUND]).num_rows == 14
    empty = repairs_of([None])
    assert empty.num_rows == 0
    assert empty.schema == FOUND.repairs().schema
    assert nothing().summary() == "0 chunks: 0 exact, 0 ambiguous, 0 lost"


def test_the_alignment_of_no_texts_has_columns_of_the_same_types():
    types = [
        {name: column.dtype for name, column in vars(one).items() if isinstance(column, np.ndarray)}
        for one in (nothing(), FOUND)
    ]
    assert types[0] == types[1]
    assert (nothing().document, nothing().text) == ([], [])


def test_the_first_text_without_a_place_is_named_with_the_reason():
    told = f"first without a place: 'd4': {REASONS[4]}; --repairs lists all"
    assert FOUND.first_unplaced() == (told,)
    assert replace(FOUND, file="run.jsonl").first_unplaced() == (told,), "the line is unknown"
    assert replace(FOUND, line=np.arange(1, 10)).first_unplaced() == (told,), "the file is unknown"
    known = replace(FOUND, file="run.jsonl", line=np.arange(1, 10), topic=[f"q{row}" for row in range(9)])
    assert known.first_unplaced() == (
        f"first without a place: topic 'q4' in 'd4' (run.jsonl:5): {REASONS[4]}; --repairs lists all",
    )


def test_a_lost_text_is_named_unless_its_document_is_unknown():
    assert FOUND.but_lost(FOUND.is_ambiguous).first_unplaced() == (
        f"first without a place: 'd4': {REASONS[5]}; --repairs lists all",
    )
    placed = replace(FOUND, how=np.where(np.arange(9) == 6, LOST, EXACT))
    assert placed.first_unplaced() == ()
    nowhere = replace(placed, places=np.zeros(9, np.int64))
    assert nowhere.first_unplaced() == (f"first without a place: 'd6': {REASONS[5]}; --repairs lists all",)


def test_texts_are_counted_by_how_they_were_found():
    assert [FOUND.count(how) for how in ("exact", "lost", "unchecked")] == [2, 3, 1]


def test_lost_rows_keep_the_type_of_the_others():
    lost = FOUND.but_lost(np.arange(9) == 0)
    assert lost.how.tolist() == [LOST, *HOW[1:]]
    assert lost.how.dtype == np.int8


def test_the_most_frequent_shifts_are_named_and_the_others_counted():
    shifts = np.repeat(np.arange(1, 9), [1, 2, 3, 4, 5, 6, 7, 8])
    start = np.full(len(shifts), 100)
    found = replace(
        FOUND,
        **dict.fromkeys(("start", "end"), start),
        **dict.fromkeys(("claimed_start", "claimed_end"), start - shifts),
        **dict.fromkeys(("how", "similarity", "places"), np.zeros(len(shifts), np.int8)),
    )
    assert found.summary() == (
        "36 chunks: 0 exact, 36 repaired (+8: 8, +7: 7, +6: 6, +5: 5, +4: 4, +3: 3, other: 3), 0 ambiguous, 0 lost"
    )
