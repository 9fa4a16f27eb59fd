"""Chunks at their places: exact, normalised, approximate, by neighbours, or reported."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.placing import align_chunks, align_run

STORY = (
    "The fox ran.\r\nThe naïve hen – “Clara” – slept\u00a0well.\r\n\r\n"
    "🦊 The fox ran. שלום עולם. The end, at last, of it all."
)


def place(texts, document=STORY, **claims):
    return align_chunks(["d"] * len(texts), texts, {"d": document}, **claims)


def run_of(texts, **columns):
    size = len(texts)
    return Run(
        "r", ("q",), np.zeros(size, np.int32), pa.array(["d"] * size), text=pa.array(texts), file="r.jsonl", **columns
    )


@example("aaaaaaaaaa aaaaaaa a ", 7, 3)  # the last chunk stands closer to the one before than all others do
@given(st.text("ab é🙂\n", min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 3))
def test_all_chunks_of_a_splitter_in_order_are_where_they_were_cut_or_ambiguous(document, size, overlap):
    step = max(1, size - overlap)
    starts = list(range(0, len(document), step))
    found = place([document[at : at + size] for at in starts], document, order=range(len(starts)))
    placed = found.start >= 0
    assert set(found.names) <= {"exact", "ambiguous"}
    assert found.start[placed].tolist() == np.array(starts)[placed].tolist()


def test_a_text_that_occurs_twice_is_placed_between_its_neighbours():
    found = place(["The fox ran.", "slept", "The fox ran.", "The end"], order=[0, 1, 2, 3])
    assert found.start.tolist() == [0, STORY.index("slept"), STORY.rindex("The fox"), STORY.index("The end")]
    assert found.names == ["exact"] * 4


def test_without_order_it_is_ambiguous_and_never_at_the_first_place():
    found = place(["The fox ran."])
    assert (found.names, found.start.tolist(), found.places.tolist()) == (["ambiguous"], [-1], [2])


def test_a_document_repeated_twice_is_told_apart_by_order_alone():
    half = ["Alpha one. ", "Beta two. ", "Gamma three. "]
    document = "".join(half * 2)
    whole = place(half * 2, document, order=range(6))
    assert whole.start.tolist() == [0, 11, 21, 34, 45, 55]
    assert place(half, document, order=range(3)).names == ["ambiguous"] * 3
    assert place(half, document).names == ["ambiguous"] * 3


def test_numbers_shared_by_two_texts_place_nothing():
    assert place(["The fox ran.", "slept", "The end"], order=[0, 0, 1]).names == ["ambiguous", "exact", "exact"]


@pytest.mark.parametrize(
    ("chunk", "original"),
    [
        ('The naive hen - "Clara" - slept well.', None),
        (
            unicodedata.normalize("NFD", 'The naïve hen - "Clara" - slept well.'),
            "The naïve hen – “Clara” – slept\u00a0well.",
        ),
        ("The fox ran. The naïve", "The fox ran.\r\nThe naïve"),
        ("\n slept well. 🦊 ", "slept\u00a0well.\r\n\r\n🦊"),
        ("שלום  עולם", "שלום עולם"),
    ],
)
def test_white_space_and_spelling_do_not_matter(chunk, original):
    found = place([chunk])
    if original is None:
        assert found.names == ["approximate"]
    else:
        assert (found.names, STORY[found.start[0] : found.end[0]]) == (["normalised"], original)


def test_nfd_documents_hold_nfc_chunks():
    document = unicodedata.normalize("NFD", "Ein Café in Nîmes, ein Hôtel in Århus.")
    found = place(["Hôtel in Århus"], document)
    assert document[found.start[0] : found.end[0]] == unicodedata.normalize("NFD", "Hôtel in Århus")
    assert found.names == ["normalised"]


def test_an_approximate_match_states_its_similarity_and_obeys_the_parameter():
    chunk = "The end, at lost, of it all."
    found = place([chunk])
    assert (found.names, found.similarity.tolist()) == (["approximate"], [1 - 1 / len(chunk)])
    assert STORY[found.start[0] : found.end[0]] == "The end, at last, of it all."
    assert place([chunk], similarity=0.99).names == ["lost"]
    with pytest.raises(FormatError, match=r"similarity from 0\.5 to 1, found 2"):
        place([chunk], similarity=2)


def test_a_claimed_start_is_verified_or_moved_to_the_nearest_occurrence():
    first, second = 0, STORY.rindex("The fox")
    found = place(["The fox ran."] * 4, start=[first, second, second + 3, 5])
    assert found.start.tolist() == [first, second, second, first]
    assert found.summary() == "4 chunks: 2 exact, 2 repaired (−5: 1, −3: 1), 0 ambiguous, 0 lost"


def test_between_two_occurrences_equally_near_nothing_is_chosen():
    assert place(["ab"], "ab..ab", start=[2]).names == ["ambiguous"]


def test_what_has_no_place_is_counted_with_its_reason():
    found = align_chunks(["d", "d", "nowhere"], ["", "not in there at all", "x"], {"d": STORY})
    assert found.names == ["lost"] * 3
    reasons = found.repairs()["reason"].to_pylist()
    assert reasons == [
        "the text is empty",
        "the text is nowhere in its document",
        "the document is not in the collection",
    ]
    assert found.summary() == "3 chunks: 0 exact, 0 ambiguous, 3 lost"


def test_no_chunks_are_no_error():
    assert len(place([])) == 0
    assert place([]).repairs().num_rows == 0


def test_a_run_of_texts_becomes_a_run_of_spans():
    run, found = align_run(
        run_of(["slept", "lost", None], start=np.array([-1, -1, 4]), end=np.array([-1, -1, 7])), {"d": STORY}
    )
    at = STORY.index("slept")
    assert (run.start.tolist(), run.end.tolist()) == ([at, -1, 4], [at + 5, -1, 7])
    assert found.summary() == "3 results: 1 exact, 1 unchecked, 0 repaired, 0 ambiguous, 1 lost"
    lost = found.repairs().to_pylist()[0]
    assert (lost["file"], lost["line"], lost["topic"], lost["document"]) == ("r.jsonl", 2, "q", "d")


@pytest.mark.parametrize(("start", "end"), [(7, 4), (0, 10_000)])
def test_a_span_without_text_must_lie_in_its_document(start, end):
    with pytest.raises(
        FormatError, match=rf"r.jsonl:1: expected a span within .* of 'd', found {start} … {end} for topic 'q'"
    ):
        align_run(run_of([None], start=np.array([start]), end=np.array([end])), {"d": STORY})


def test_chunks_of_a_run_are_told_apart_by_their_numbers():
    run = run_of(["The fox ran.", "slept", "The fox ran."], chunk=np.array([7, 5, 2]))
    assert align_run(run, {"d": STORY})[0].start.tolist() == [STORY.rindex("The fox"), STORY.index("slept"), 0]


@given(st.permutations(range(6)))
def test_the_order_of_rows_changes_nothing(order):
    texts = ["The fox ran.", "slept", "The fox ran.", "lost", "The end", "naive hen"]
    numbers = [0, 2, 3, 4, 5, 1]
    plain = place(texts, order=numbers)
    mixed = place([texts[i] for i in order], order=[numbers[i] for i in order])
    assert mixed.start.tolist() == [plain.start[i] for i in order]


def test_a_periodic_document_is_no_trap():
    document = "ab" * 50_000
    chunks = [document[at : at + 500] for at in range(0, len(document), 500)]
    found = place(chunks, document, order=range(len(chunks)))
    assert set(found.names) == {"ambiguous"}
    marked = place(["<", *chunks], "<" + document, order=range(len(chunks) + 1))
    assert marked.names[0] == "exact"
