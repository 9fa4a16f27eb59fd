"""Documents are cut as slow programs cut them, and every chunk lies where it says."""

from itertools import count

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.collection.boundaries import between_blanks, boundaries, moved_left, sentences, texts_of, windows, words
from focuseval.collection.chunks import Chunks, extent, parse_spec
from focuseval.collection.tokens import TiktokenEncoding
from focuseval.errors import FocusevalError
from strategies.tokenizers import encoding

TINY = TiktokenEncoding(encoding())
CHARACTERS = "ab e\u0301é.!? \n\r漢ก็हि\u200d👩🚀🏽🇩🇪🇫가\u1100\u1161\u11a8"
TEXTS = st.lists(st.text(st.sampled_from(CHARACTERS), max_size=40), min_size=1, max_size=4)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 15))
KINDS = ("characters", "words", "sentences", "tokens")


def collection(texts):
    return {f"d{number}": text for number, text in enumerate(texts)}


def rows(chunks):
    return list(zip(chunks.document.to_pylist(), chunks.start.tolist(), chunks.end.tolist(), strict=True))


def slow_windows(total, size, step):
    """The last window is the first that reaches the end."""
    if not total:
        return
    for number in count():
        first = number * step
        if first >= total:
            return
        yield first, min(first + size, total)
        if first + size >= total:
            return


@given(st.lists(st.integers(0, 30), max_size=5), SIZES)
def test_windows_are_those_that_are_counted_one_by_one(totals, size):
    found = list(zip(*(column.tolist() for column in windows(np.array(totals, np.int64), *size)), strict=True))
    assert found == [(d, *window) for d, total in enumerate(totals) for window in slow_windows(total, *size)]


def pieces(kind, text):
    if kind == "words":
        found = fe.chunk({"d": text}, "words:1") if text else None
        return [] if found is None else list(zip(found.start.tolist(), found.end.tolist(), strict=True))
    cut = sentences if kind == "sentences" else TINY.spans
    found = list(zip(*(column.tolist() for column in cut(text)), strict=True))
    if kind == "tokens":  # a character of several tokens belongs to the first
        found = [(max(start, found[n - 1][1] if n else 0), end) for n, (start, end) in enumerate(found)]
    return found


@given(TEXTS, SIZES, st.sampled_from(["words", "sentences", "tokens"]))
def test_pieces_are_joined_one_by_one(texts, size, kind):
    found = fe.chunk(collection(texts), f"{kind}:{size[0]}/{size[1]}", tokenizer=TINY)
    expected = []
    for name, text in collection(texts).items():
        own = pieces(kind, text)
        edges = [(own[a][0], own[b - 1][1]) for a, b in slow_windows(len(own), *size)]
        expected += [(name, start, end) for start, end in edges if end > start]
    assert rows(found) == expected


@given(TEXTS, SIZES)
def test_characters_are_counted_one_by_one_and_edges_move_to_the_left(texts, size):
    found = fe.chunk(collection(texts), f"characters:{size[0]}/{size[1]}")
    expected = []
    for name, text in collection(texts).items():
        edges = [(moved(text, a), moved(text, b)) for a, b in slow_windows(len(text), *size)]
        expected += [(name, a, b) for a, b in edges if b > a]
    assert rows(found) == expected


def moved(text, position):
    return int(moved_left(text, np.array([position]))[0])


@given(TEXTS, SIZES, st.sampled_from(KINDS))
def test_chunks_lie_in_their_documents_in_order_and_are_not_empty(texts, size, kind):
    found = fe.chunk(collection(texts), f"{kind}:{size[0]}/{size[1]}", tokenizer=TINY)
    places = rows(found)
    assert places == sorted(places, key=lambda row: row[:2])
    lengths = {name: len(text) for name, text in collection(texts).items()}
    assert all(0 <= start < end <= lengths[name] for name, start, end in places)
    cut = list(found.texts(fe.open_documents(collection(texts))))
    assert cut == [collection(texts)[name][start:end] for name, start, end in places]


@given(TEXTS, st.integers(1, 12), st.integers(0, 11), st.sampled_from(["characters", "tokens"]))
def test_without_gaps_every_character_is_in_a_chunk(texts, size, overlap, kind):
    found = fe.chunk(collection(texts), f"{kind}:{size}/{max(1, size - overlap)}", tokenizer=TINY)
    held = {(name, place) for name, start, end in rows(found) for place in range(start, end)}
    assert held == {(name, place) for name, text in collection(texts).items() for place in range(len(text))}


@given(TEXTS, SIZES, st.sampled_from(KINDS))
def test_the_extent_of_a_chunking_is_counted_character_by_character(texts, size, kind):
    index = fe.open_documents(collection(texts))
    found = fe.chunk(index, f"{kind}:{size[0]}/{size[1]}", tokenizer=TINY)
    text = extent(found, index, boundaries(map(TINY.spans, texts_of(index))))
    held = {(name, place) for name, start, end in rows(found) for place in range(start, end)}
    sizes = [end - start for _, start, end in rows(found)]
    assert (text.chunks, text.characters) == (len(sizes), sum(sizes))
    assert (text.least, text.most) == (min(sizes, default=0), max(sizes, default=0))
    assert text.left_out == sum(
        not sign.isspace() and (name, place) not in held
        for name, own in collection(texts).items()
        for place, sign in enumerate(own)
    )
    tokens = 0
    for name, start, end in rows(found):
        spans = zip(*(column.tolist() for column in TINY.spans(collection(texts)[name])), strict=True)
        tokens += sum(first < end and last > start for first, last in spans)
    assert text.tokens == tokens


@given(st.text(st.sampled_from(CHARACTERS), max_size=30), st.integers(0, 30))
@example("\u1100\u1100", 1)
@example("\u1100가", 1)
def test_no_edge_lies_inside_what_is_seen_as_one_character(text, position):
    regex = pytest.importorskip("regex", reason="regex is not installed: it comes with tiktoken")
    position = min(position, len(text))
    allowed = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    assert moved(text, position) in allowed
    assert moved(text, position) <= position


def test_marks_flags_and_joined_signs_stay_whole():
    for whole in (
        "e\u0301",
        "👩\u200d🚀",
        "👍🏽",
        "🇩🇪",
        "हि",
        "\r\n",
        "\u1100\u1161\u11a8",
        "\u1100\u1100",
        "\u1100\ua960가",
    ):
        text = f"a{whole}b"
        assert [moved(text, place) for place in range(len(text) + 1)] == [
            place if place in {0, 1, len(text) - 1, len(text)} else 1 for place in range(len(text) + 1)
        ]


def test_a_surrogate_pair_is_one_character():
    assert rows(fe.chunk({"d": "😀😁😂"}, "characters:1")) == [("d", 0, 1), ("d", 1, 2), ("d", 2, 3)]


def test_words_are_the_passages_of_retrieve():
    texts = {"a": "To be, or not to be: that is the question. 漢字体 ก", "b": "", "c": "Moon"}
    index = fe.open_documents(texts)
    for size in ("3", "3/2", "2/3"):
        units = fe.units(index, f"passage:{size}", language="none")
        found = fe.chunk(index, f"words:{size}")
        assert rows(found) == list(
            zip(units.document.to_pylist(), units.start.tolist(), units.end.tolist(), strict=True)
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
        ("Dr. J. Smith came, e.g. today. Bye.", ["Dr. J. Smith came, e.g. today.", "Bye."]),
        ("It costs 3.50 in all. No more", ["It costs 3.50 in all.", "No more"]),
        ("visit example.com. then go", ["visit example.com. then go"]),
        ("A title\n\nA text\nthat goes on", ["A title", "A text\nthat goes on"]),
        ("天気。いいね！はい", ["天気。", "いいね！", "はい"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("كيف الحال؟ بخير.", ["كيف الحال؟", "بخير."]),
        ("  \n\n ", []),
        ("", []),
    ],
)
def test_sentences_end_where_readers_end_them(text, expected):
    assert [text[start:end] for start, end in zip(*sentences(text), strict=True)] == expected


def test_sentences_leave_out_nothing_but_white_space():
    text = "One.  Two!\n\nThree? “Four.” five"
    held = {place for start, end in zip(*sentences(text), strict=True) for place in range(start, end)}
    assert all(sign.isspace() for place, sign in enumerate(text) if place not in held)


def test_words_of_a_budget_are_those_of_split():
    text = " two\u00a0words,\n\nthree "
    assert [text[start:end] for start, end in zip(*between_blanks(text), strict=True)] == text.split()
    assert words("two-fold") == ["two", "fold"]  # passages count letters, a budget counts what stands between blanks


ARTICLE = "<article><title>Sea</title><sec>One<sec>Two</sec><p/></sec><sec>Three</sec></article>"


def test_elements_are_cut_by_their_tags_nested_ones_included(tmp_path):
    (tmp_path / "a.xml").write_text(ARTICLE)
    (tmp_path / "b.xml").write_text("<article><title/></article>")
    index = fe.open_documents(tmp_path)
    assert list(fe.chunk(index, "elements:sec").texts(index)) == ["OneTwo", "Two", "Three"]
    assert list(fe.chunk(index, "elements:title,sec").texts(index)) == ["Sea", "OneTwo", "Two", "Three"]
    with pytest.raises(FocusevalError, match="expected a tag of the collection, found 'sect'; did you mean sec"):
        fe.chunk(index, "elements:sect")


def test_chunks_are_taken_as_they_are():
    found = fe.chunk({"a": "Some text"}, "characters:4")
    assert fe.chunk({"a": "Some text"}, found) is found


def test_empty_documents_have_no_chunks():
    for kind in KINDS:
        assert len(fe.chunk({"a": "", "b": ""}, f"{kind}:3", tokenizer=TINY)) == 0
    assert extent(fe.chunk({"a": ""}, "characters:3"), fe.open_documents({"a": ""})).sentence() == (
        "0 chunks of 0 to 0 characters (mean 0) in 0 documents: 0.00 × the text, 0 characters in no chunk"
    )


@pytest.mark.parametrize(
    "written", ["characters:400", "words:100/50", "sentences:5/9", "tokens:2/1", "elements:sec,p", "langchain:A_b:4/3"]
)
def test_a_spec_prints_as_it_is_typed(written):
    assert str(parse_spec(written)) == written


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("charakters:400", "found 'charakters:400'; did you mean characters?"),
        ("characters", "found 'characters'; write characters:SIZE or characters:SIZE/STEP with whole numbers"),
        ("characters:0", "found 'characters:0'; write characters:SIZE or characters:SIZE/STEP with whole numbers"),
        ("langchain:foo", "found 'langchain:foo'; write langchain:CLASS:SIZE or langchain:CLASS:SIZE/STEP"),
        ("characters:-4", "found 'characters:-4'"),
        ("words:10/0", "found 'words:10/0'"),
        ("elements:", "found 'elements:'"),
        ("langchain:Splitter", "found 'langchain:Splitter'"),
        ("langchain:Splitter:3/4", "expected a distance up to the size, found 'langchain:Splitter:3/4'"),
        ("missing.jsonl", "found 'missing.jsonl'; no file has this name"),
    ],
)
def test_what_is_no_spec_is_refused_in_one_line(written, said):
    with pytest.raises(FocusevalError) as caught:
        fe.chunk({"a": "text"}, written)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tokens_need_a_tokenizer():
    with pytest.raises(FocusevalError, match="expected a tokenizer for chunks of tokens, found none"):
        fe.chunk({"a": "text"}, "tokens:3")


def test_a_chunk_beyond_its_document_is_refused():
    index = fe.open_documents({"a": "text"})
    ids = fe.chunk(index, "characters:2").document
    for start, end, said in ((0, 9, "within the 4 characters of 'a', found 'a' 0 … 9"), (3, 2, "'a' 3 … 2")):
        beyond = Chunks(ids.take([0]), np.array([start]), np.array([end]), "mine")
        with pytest.raises(FocusevalError) as caught:
            fe.retrieve(index, {"1": "text"}, chunks=beyond)
        assert said in str(caught.value)
    unknown = Chunks(fe.open_documents({"b": "x"}).ids, np.array([0]), np.array([1]), "mine")
    with pytest.raises(FocusevalError, match="within a document of the collection, found 'b' 0 … 1"):
        extent(unknown, index)


def test_units_can_be_cut_by_any_spec():
    index = fe.open_documents({"a": "The tide follows the moon. Ships sail."})
    run = fe.retrieve(index, {"1": "ships"}, unit="sentences:1")
    assert (run.start.tolist(), run.end.tolist(), run.run_id) == ([27], [38], "bm25-sentences-1-spans")
    assert fe.units(index, "characters:9").texts() == [
        "The tide ",
        "follows t",
        "he moon. ",
        "Ships sai",
    ]  # "l." has no word
    assert fe.units(fe.open_documents({"a": ""}), "sentences:1").texts() == []
    with pytest.raises(FocusevalError, match="expected a unit"):
        fe.retrieve(index, {"1": "ships"}, unit="tokens:3")
    with pytest.raises(FocusevalError, match="found unit 'document' and chunks 'words:3'; give one of them"):
        fe.retrieve(index, {"1": "ships"}, unit="document", chunks=fe.chunk(index, "words:3"))
