"""Published span gold: it verifies as it is, and injected drift is repaired exactly."""

import random
import unicodedata
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from focuseval.formats import chroma, squad
from focuseval.formats.content import open_sources
from focuseval.placing import align_chunks, align_gold

LANGUAGES = ("en", "ar", "hi", "th", "zh")


@pytest.fixture(scope="module")
def chroma_gold(shared_data):
    folder = shared_data / "chroma_chunking_evaluation"
    documents = {path.stem: path.read_bytes().decode() for path in (folder / "corpora").iterdir()}
    return chroma.read(open_sources(folder / "questions_df.csv")), documents


def xquad(shared_data, language):
    sources = open_sources(shared_data / "xquad" / f"xquad.{language}.json")
    return squad.read_quotes(sources), dict(squad.embedded_texts(sources))


def drifted(gold, shifts):
    p = gold.passages
    shift = np.where(p.start + shifts < 0, 0, shifts)
    return replace(gold, passages=replace(p, start=p.start + shift, end=p.end + shift)), shift


def nearest_is_right(gold, documents, shift):
    """Where no other occurrence is as near to the shifted start as the true one; the others cannot be repaired."""
    p, ids = gold.passages, gold.documents.to_pylist()
    right = []
    for document, start, moved, quote in zip(
        p.document.tolist(), p.start.tolist(), shift.tolist(), p.quote.to_pylist(), strict=True
    ):
        text, size = documents[ids[document]], abs(moved)
        window = text[max(0, start + moved - size) : start + moved + size + len(quote)]
        right.append(window.count(quote) == 1 and window.find(quote, window.find(quote) + 1) < 0)
    return np.array(right)


def test_790_of_790_spans_of_chunking_evaluation_verify_as_they_are(chroma_gold):
    assert align_gold(*chroma_gold)[1].summary() == "790 spans: 790 exact, 0 repaired, 0 ambiguous, 0 lost"


@pytest.mark.parametrize("language", LANGUAGES)
def test_1190_of_1190_answers_of_xquad_verify_as_they_are(shared_data, language):
    found = align_gold(*xquad(shared_data, language))[1]
    assert found.summary() == "1,190 spans: 1,190 exact, 0 repaired, 0 ambiguous, 0 lost"


@pytest.mark.parametrize("language", LANGUAGES)
def test_drift_of_up_to_five_characters_is_repaired_exactly(shared_data, language):
    gold, documents = xquad(shared_data, language)
    rng = np.random.default_rng(7)
    wrong, shift = drifted(gold, rng.integers(-5, 6, len(gold.passages.start)))
    repaired, found = align_gold(wrong, documents)
    sure = nearest_is_right(gold, documents, shift)
    assert sure.mean() > 0.9
    assert (repaired.passages.start[sure] == gold.passages.start[sure]).all()
    assert (repaired.passages.end[sure] == gold.passages.end[sure]).all()
    assert found.moved.sum() >= np.count_nonzero(shift[sure])
    assert (found.start - found.claimed_start)[sure].tolist() == (-shift[sure]).tolist()


def test_all_drift_of_long_quotes_is_repaired(chroma_gold):
    gold, documents = chroma_gold
    for shift in (-5, -2, -1, 1, 3, 5):
        repaired, found = align_gold(drifted(gold, np.full(790, shift))[0], documents)
        assert repaired.passages.start.tolist() == gold.passages.start.tolist()
        assert (found.how == 0).all()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_documents_spelt_otherwise_hold_the_same_answers(shared_data, language, form):
    gold, documents = xquad(shared_data, language)
    respelt = {name: unicodedata.normalize(form, text) for name, text in documents.items()}
    placed, found = align_gold(gold, respelt)
    ids, p = gold.documents.to_pylist(), placed.passages
    known = np.flatnonzero(p.start >= 0)
    assert len(known) > 0.98 * len(p.start)
    for row in known[found.how[known] != 2].tolist():
        text = respelt[ids[p.document[row]]]
        assert unicodedata.normalize(form, p.quote[row].as_py().strip()) in text[p.start[row] : p.end[row] + 2]


def test_quotes_whose_white_space_was_tidied_are_found_where_they_were(chroma_gold):
    gold, documents = chroma_gold
    p, ids = gold.passages, gold.documents.to_pylist()
    tidy = [" ".join(quote.split()) for quote in p.quote.to_pylist()]
    placed, found = align_gold(replace(gold, passages=replace(p, quote=pa.array(tidy))), documents)
    assert found.count("lost") == found.count("ambiguous") == found.count("approximate") == 0
    for row, quote in enumerate(tidy):
        start, end = placed.passages.start[row], placed.passages.end[row]
        assert p.start[row] <= start < end <= p.end[row]
        assert documents[ids[p.document[row]]][start:end].split() == quote.split()


def test_every_chunk_of_a_real_corpus_is_back_where_it_was_cut(chroma_gold):
    _, documents = chroma_gold
    rng = random.Random(3)
    for name, text in documents.items():
        cuts = [0]
        while cuts[-1] < len(text):
            cuts.append(cuts[-1] + rng.randint(150, 600))
        chunks = [text[a:b] for a, b in pairwise(cuts)]
        found = align_chunks([name] * len(chunks), chunks, documents, order=range(len(chunks)))
        assert found.start.tolist() == cuts[:-1]


def test_stripped_chunks_of_a_real_corpus_are_placed_by_their_neighbours(chroma_gold):
    _, documents = chroma_gold
    text = documents["chatlogs"]
    pieces = [piece for piece in text.split("\n") if piece.strip()]
    found = align_chunks(["chatlogs"] * len(pieces), pieces, documents, order=range(len(pieces)))
    at, expected = 0, []
    for piece in pieces:
        expected.append(text.index(piece, at))
        at = expected[-1] + len(piece)
    placed = found.start >= 0
    assert found.start[placed].tolist() == np.array(expected)[placed].tolist()
    assert set(found.names) <= {"exact", "ambiguous"}
