"""Quotations are verbatim, altered, spliced, elsewhere or nowhere; with offsets, and by every spelling of a file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.errors import FormatError
from focuseval.evaluation import quotes
from focuseval.evaluation.quotes import LEAST, WORDS, two_pieces
from focuseval.formats.answers import marked
from focuseval.placing.page import Page
from oracle.quotes import is_two_pieces

TIDE = "The tide is the slow rise and fall of the sea along a shore. On most coasts the water comes up twice a day."
MOON = "The Moon pulls on every part of the Earth, but not equally. The far side is pulled a little less."
LAMP = "A lamp of 1,500 candles was lit in 1811 on the Bell Rock, “eleven miles” from the coast."
DOCS = {"water/tide": TIDE, "moon.txt": MOON, "lamp": LAMP}


def check(quote, *cited, docs=DOCS, **options):
    (found,) = fe.verify_quotes([{"quotes": [quote], "sources": list(cited)}], docs, **options).checks
    return found


def shown(found, docs=DOCS):
    """Verdict, and the text at each place."""
    return found.verdict, [docs[place.document][place.start : place.end] for place in found.places]


def test_verbatim_is_what_the_cited_document_says():
    assert shown(check("slow rise and fall", "water/tide")) == ("verbatim", ["slow rise and fall"])
    assert check("slow rise and fall", "water/tide").places == (("water/tide", 16, 34),)


@pytest.mark.parametrize(
    "quote", ["slow  rise\nand fall", "slow rise and fall,", "… slow rise and fall …", "slow rise and\u00a0fall."]
)
def test_white_space_and_punctuation_at_the_ends_change_nothing(quote):
    assert shown(check(quote, "water/tide")) == ("verbatim", [TIDE[16:34].replace("  ", " ")])


def test_quotation_marks_and_dashes_change_nothing():
    assert check('lit in 1811 on the Bell Rock, "eleven miles" from', "lamp").verdict == "verbatim"


def test_altered_is_the_same_with_a_few_other_characters():
    found = check("A lamp of 1,800 candles was lit in 1811 on the Bell Rock", "lamp")
    assert shown(found) == ("altered", ["A lamp of 1,500 candles was lit in 1811 on the Bell Rock"])
    assert found.similarity == pytest.approx(1 - 1 / 56)
    assert found.found == "A lamp of 1,500 candles was lit in 1811 on the Bell Rock"
    assert check("A lamp of 1,800 candles was lit in 1811 on the Bell Rock", "lamp", similarity=1).verdict != "altered"


def test_elsewhere_is_in_another_document_than_the_cited_one():
    assert shown(check("the slow rise and fall of the sea", "moon.txt")) == (
        "elsewhere",
        ["the slow rise and fall of the sea"],
    )
    near = check("A lamp of 1,800 candles was lit in 1811 on the Bell Rock", "moon.txt")
    assert (near.verdict, near.places[0].document) == ("elsewhere", "lamp")
    assert near.similarity < 1


def test_spliced_is_put_together_from_two_places():
    quote = "the slow rise and fall of the sea comes up twice a day"
    assert shown(check(quote, "water/tide")) == (
        "spliced",
        ["the slow rise and fall of the sea", "comes up twice a day"],
    )
    assert (
        shown(check("The Moon pulls on every part of the Earth on most coasts the water", "moon.txt"))[0] == "nowhere"
    )
    stopped = "the slow rise and fall of the sea. On most coasts the water"
    assert shown(check(stopped, "water/tide"))[1] == ["the slow rise and fall of the sea", "On most coasts the water"]
    both = "The Moon pulls on every part of the sea along a shore. On most coasts the water"
    assert shown(check(both, "moon.txt"))[0] == "spliced"
    assert [place.document for place in check(both, "moon.txt").places] == ["moon.txt", "water/tide"]


def test_omission_marks_say_that_parts_are_left_out():
    quote = "The tide is … along a shore [...] twice a day"
    assert shown(check(quote, "water/tide")) == ("spliced", ["The tide is", "along a shore", "twice a day"])
    assert check("The tide is … made by whales", "water/tide").verdict == "nowhere"


def test_nowhere_is_in_no_document():
    assert shown(check("Tides are made by whales that dance in rings", "water/tide")) == ("nowhere", [])
    assert check("", "water/tide").verdict == "nowhere"


def test_without_a_citation_any_document_will_do():
    assert shown(check("pulls on every part")) == ("verbatim", ["pulls on every part"])
    assert check("A lamp of 1,800 candles was lit in 1811 on the Bell Rock").verdict == "altered"


def test_a_text_that_stands_in_several_places_names_them_all():
    docs = {"a": "one two three, one two three", "b": "one two three"}
    assert check("one two three", "a", docs=docs).places == (("a", 0, 13), ("a", 15, 28))
    assert len(check("one two three", docs=docs).places) == 3


def test_a_cited_document_that_is_not_there_is_named():
    found = check("the slow rise and fall of the sea", "no-such")
    assert (found.verdict, found.unknown) == ("elsewhere", ("no-such",))


def test_a_large_collection_is_searched_in_other_words_where_it_is_cited(monkeypatch):
    monkeypatch.setattr(quotes, "LARGE", 10)
    records = [{"quotes": ["A lamp of 1,800 candles was lit in 1811 on the Bell Rock"]}]
    found = fe.verify_quotes(records, DOCS)
    assert found.checks[0].verdict == "nowhere"
    assert "1 quotations were looked for in other words in cited documents alone" in found.notes[0]


def test_answers_without_quotations_are_said_to_have_none():
    assert fe.verify_quotes([{"answer": "The tide is a “rise”."}], DOCS).notes == (
        "no quotations were found in the answers",
    )


@given(st.data())
def test_two_pieces_are_found_wherever_a_cut_leaves_two(data):
    word = st.sampled_from(["alpha", "beta.", "gamma", "delta,", "epsilon"])
    documents = [" ".join(data.draw(st.lists(word, min_size=4, max_size=14))) for _ in range(2)]
    pieces = [document[data.draw(st.integers(0, 20)) :] for document in documents]
    text = data.draw(st.sampled_from([" ".join(pieces), " ".join(data.draw(st.lists(word, min_size=6, max_size=9)))]))
    pages = [(str(number), Page(document)) for number, document in enumerate(documents)]
    assert bool(two_pieces([text], lambda: pages)) == is_two_pieces(text, documents, LEAST, WORDS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("“one” [1] and „zwei“ [2], «trois» [a/b][c].", [("one", ("1",)), ("zwei", ("2",)), ("trois", ("a/b", "c"))]),
        ('5" nails and "six" [1, 2]', [("six", ("1", "2"))]),
        ('He said "one two." [3]', [("one two.", ("3",))]),
        ("“open", []),
        ("“a” is far from [1]", [("a", ())]),
        ("According to [1], “one” is so.", [("one", ("1",))]),
        ("It is so [1]. “One” is not, Dr. No says in [2]: “two”.", [("One", ()), ("two", ("2",))]),
        ("“One” [1] and “two”", [("One", ("1",)), ("two", ())]),
        ("He says:\n\n> one\n> “two” three [^2]\n\nso", [("one\n“two” three", ("2",))]),
        ("> “one two”\n\n[3] is the source", [("one two", ("3",))]),
        ("a > b “one” [1]", [("one", ("1",))]),
    ],
)
def test_quotations_in_running_text_and_the_marks_that_belong_to_them(text, found):
    assert list(marked(text)) == found


def quotes_of(**record):
    return [(c.quotation.text, c.quotation.cited) for c in fe.verify_quotes([record], DOCS, shortest=3).checks]


def test_marks_cite_sources_by_number_and_documents_by_id():
    answer = "“the sea” [2] and “a shore” [water/tide] and “the coast” [sic] and “the Earth” [9]"
    cited = [cited for _, cited in quotes_of(answer=answer, sources=["lamp", "moon.txt"])]
    assert cited == [("moon.txt",), ("water/tide",), ("lamp", "moon.txt"), ("9",)]


def test_a_mark_that_leads_to_no_source_is_not_verbatim_and_the_source_that_holds_the_text_is_named():
    text = DOCS["lamp"][:30]
    (check,) = fe.verify_quotes([{"answer": f"It is “{text}” [7].", "sources": ["lamp"]}], DOCS, shortest=3).checks
    assert (check.verdict, check.unknown, check.places[0].document) == ("elsewhere", ("7",), "lamp")


@pytest.mark.parametrize(
    "record",
    [
        {"quotes": [{"quote": "the sea", "doc": "lamp"}]},
        {"citations": [{"cited_text": "the sea", "document_id": "lamp"}]},
        {"quotations": [{"text": "the sea", "source": {"metadata": {"source": "lamp"}}}]},
        {"response": "It is “the sea”.", "docs": ["lamp"]},
        {"actual_output": "It is “the sea” [1].", "documents": [{"doc_id": "lamp", "text": "…"}]},
        {"quotes": ["the sea"], "sources": [{"id": "lamp"}]},
    ],
)
def test_the_names_that_people_use(record):
    assert quotes_of(**record) == [("the sea", ("lamp",))]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"id": "a"}, "expected 'answer' or 'quotes', found neither; name the answer one of answer, response"),
        ({"answer": "a", "response": "b"}, "found 'answer' and 'response', which disagree"),
        ({"quotes": [3]}, "expected a quote as a text or an object, found '3'"),
        ({"quotes": [{"doc": "lamp"}]}, "expected the text of a quote as 'quote', found none"),
        ({"quotes": "the sea"}, "expected another kind of value as 'quotes'"),
        ({"answer": "a", "sources": [["b"]]}, "expected a document's id, found"),
        ({"answer": "a", "sources": [{"title": "b"}]}, "expected a document's id as 'doc', found only title"),
        ("text", "expected an object with an answer, found 'text'"),
    ],
)
def test_a_record_of_another_form_is_refused_with_its_place(record, said):
    with pytest.raises(FormatError) as refusal:
        fe.verify_quotes([{"answer": ""}, record], DOCS)
    assert str(refusal.value).startswith("answers:2: ")
    assert said in str(refusal.value)


def test_a_file_is_lines_or_an_array(tmp_path):
    records = [{"id": "a", "quotes": ["the sea along"]}, {"quotes": ["made by whales"]}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(record) + "\n\n" for record in records))
    (tmp_path / "array.json").write_text(json.dumps(records))
    lines = fe.verify_quotes(tmp_path / "lines.jsonl", DOCS)
    array = fe.verify_quotes(tmp_path / "array.json", DOCS)
    assert [check.verdict for check in lines.checks] == ["verbatim", "nowhere"]
    assert [(c.quotation.answer, c.quotation.at.line) for c in lines.checks] == [("a", 1), ("3", 3)]
    assert [check.verdict for check in array.checks] == ["verbatim", "nowhere"]
    assert lines.counts == {"verbatim": 1, "altered": 0, "spliced": 0, "elsewhere": 0, "nowhere": 1}
