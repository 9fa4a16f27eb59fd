"""What may be wrong with spans for RAG is named with file, line and query; nothing is dropped without being counted."""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.errors import FormatError
from focuseval.formats import read_gold
from focuseval.formats.content import source_of

TEXT = "Boil water. Stir well. Add the leaves. Stir well. Serve."
GOOD = {"topic": "q1", "query": "what comes first?", "doc": "tea", "spans": [{"start": 0, "end": 11}]}
CHUNK = {"topic": "q1", "doc": "tea", "start": 0, "end": 22}


@pytest.fixture
def score(tmp_path):
    """Score a gold and a run made of records against one document; return the result, paths shortened."""

    def run(gold, chunks, *options, measures=("spanR",)):
        (tmp_path / "docs.jsonl").write_text(json.dumps({"id": "tea", "text": TEXT}) + "\n")
        for name, records in (("gold.jsonl", gold), ("run.jsonl", chunks)):
            (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
        files = [str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl")]
        asked = [word for measure in measures for word in ("-m", measure)]
        arguments = ["score", *files, "--docs", str(tmp_path / "docs.jsonl"), "--format", "json", *asked, *options]
        done = CliRunner().invoke(main, arguments)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr.replace(f"{tmp_path}/", "")

    return run


def marked(*spans, **changes):
    return {**GOOD, "spans": [dict(zip(("start", "end", "quote"), span, strict=False)) for span in spans], **changes}


@pytest.mark.parametrize(
    ("gold", "chunks", "said"),
    [
        (
            [GOOD, marked((9, 3), topic="q2")],
            [CHUNK],
            "gold.jsonl:2: expected start ≤ end, found the reversed span 9 … 3",
        ),
        ([marked((0, 999))], [CHUNK], "gold.jsonl:1: expected a span within the 56 characters of 'tea', found 0 … 999"),
        ([GOOD, marked((0, 4, "Pour"), topic="q2", doc="milk")], [CHUNK], "gold.jsonl:2: expected documents of the"),
        ([GOOD, GOOD], [CHUNK], "gold.jsonl:2: "),
        ([GOOD], [CHUNK, {**CHUNK, "end": 999}], "run.jsonl:2: expected a span within the 56 characters of 'tea'"),
        ([GOOD], [{**CHUNK, "start": 9, "end": 3}], "run.jsonl:1: expected start ≤ end, found a reversed span"),
        ([GOOD], [{**CHUNK, "start": None}], "run.jsonl:1: expected a 'start' beside the 'end', found none"),
    ],
    ids=[
        "reversed",
        "out of range",
        "unknown document",
        "two golds",
        "chunk out of range",
        "reversed chunk",
        "half a span",
    ],
)
def test_what_no_score_can_be_made_of_is_refused_at_its_line(score, gold, chunks, said):
    code, out, err = score(gold, chunks)
    assert (code, out) == (1, "")
    assert err.startswith(said), err
    assert err.count("\n") == 1


@pytest.mark.parametrize("gold", [[marked((0, 999))], [GOOD, GOOD], [marked((0, 4, "Pour"), doc="milk")]])
def test_a_refusal_names_the_query(score, gold):
    assert "'q1'" in score(gold, [CHUNK])[2]


@pytest.mark.parametrize("chunk", [{**CHUNK, "end": 999}, {**CHUNK, "start": 9, "end": 3}, {**CHUNK, "start": None}])
def test_a_refused_chunk_names_the_query(score, chunk):
    assert "for topic 'q1'" in score([GOOD], [CHUNK, chunk])[2]


def test_a_quoted_span_past_the_end_is_put_where_its_quote_stands(score):
    """The file says how long the document is, and drift has moved the span two characters past it."""
    gold = [marked((52, 58, "Serve."), length=56)]
    code, _, err = score(gold, [CHUNK])
    assert (code, "1 span: 0 exact, 1 repaired (−2: 1), 0 ambiguous, 0 lost" in err) == (0, True), err


def test_a_quoted_span_past_the_end_is_refused_without_documents():
    line = json.dumps(marked((52, 58, "Serve."), length=56)).encode()
    expected = r"gold:1: expected a span within the 56 characters of 'tea', found 52 … 58 for topic 'q1'; give docs"
    with pytest.raises(FormatError, match=expected):
        read_gold(source_of(line, "gold"))


def test_overlapping_gold_is_united_and_counted(score):
    code, out, err = score([marked((0, 11), (5, 22))], [CHUNK])
    assert code == 0
    assert json.loads(out)["runs"][0]["measures"]["spanR"] == 1.0
    assert "1 overlapping span is united" in err


def test_a_chunk_that_is_nowhere_in_its_document_gains_nothing_and_is_counted(score):
    lost = {"topic": "q1", "doc": "tea", "text": "Coffee is better than any tea, say those who drink it."}
    code, out, err = score([GOOD], [lost, {"topic": "q1", "doc": "tea", "text": "Boil water."}])
    assert code == 0
    run = json.loads(out)["runs"][0]
    assert run["measures"]["spanR"] == 1.0
    assert run["unplaced"] == 1
    assert "run.jsonl: 2 results: 1 exact, 0 ambiguous, 1 lost" in err


def test_a_chunk_in_two_places_is_ambiguous_and_never_put_at_the_first(score):
    code, out, err = score([marked((12, 22))], [{"topic": "q1", "doc": "tea", "text": "Stir well."}])
    assert code == 0
    assert json.loads(out)["runs"][0]["measures"]["spanR"] == 0.0
    assert "0 exact, 1 ambiguous, 0 lost" in err


def test_an_empty_text_is_lost_and_counted(score):
    code, out, err = score([GOOD], [{"topic": "q1", "doc": "tea", "text": ""}])
    assert code == 0
    assert json.loads(out)["runs"][0]["unplaced"] == 1
    assert "0 exact, 0 ambiguous, 1 lost" in err


def test_an_unknown_document_without_quotes_is_counted_and_named(score):
    code, _, err = score([GOOD, {**GOOD, "topic": "q2", "doc": "milk"}], [CHUNK])
    assert code == 0
    assert "1 of 2 judged documents is not in the index, first 'milk' for topic 'q2' (gold.jsonl:2)" in err


def test_a_chunk_of_an_unknown_document_is_counted(score):
    code, out, err = score([GOOD], [CHUNK, {**CHUNK, "doc": "milk"}])
    assert code == 0
    assert json.loads(out)["runs"][0]["unjudged"] == 1
    assert "1 result names a document that is not in the index, first 'milk' for topic 'q1' (run.jsonl:2)" in err


def test_a_quote_moves_to_the_nearest_occurrence_and_the_move_is_reported(score):
    code, out, err = score([marked((14, 24, "Stir well."))], [CHUNK])
    assert code == 0
    assert json.loads(out)["runs"][0]["measures"]["spanR"] == 1.0
    assert "gold.jsonl: 1 span: 0 exact, 1 repaired (−2: 1), 0 ambiguous, 0 lost" in err


def test_a_tie_between_two_occurrences_is_refused_and_its_topic_left_out(score):
    tied = {**GOOD, "topic": "q2", "spans": [{"quote": "Stir well."}]}
    code, out, err = score([GOOD, tied], [CHUNK, {**CHUNK, "topic": "q2"}])
    assert code == 0
    run = json.loads(out)["runs"][0]
    assert (run["topics"], run["excluded"], run["measures"]["spanR"]) == (1, 1, 1.0)
    assert "gold.jsonl: 2 spans: 0 exact, 1 unchecked, 0 repaired, 1 ambiguous, 0 lost" in err
    said = "left out: 1 ambiguous or lost span; not relevant for want of others: 1 document; in no mean: 1 topic"
    assert f"gold.jsonl: {said}\n" in err


def test_a_document_that_keeps_one_of_its_spans_stays_relevant(score):
    code, out, err = score([marked((0, 11), (0, 9, "No such words are in this text at all."))], [CHUNK])
    assert code == 0
    run = json.loads(out)["runs"][0]
    assert (run["topics"], run["measures"]["spanR"]) == (1, 1.0)
    assert "1 lost" in err
    assert "not relevant for want of others: 0 documents; in no mean: 0 topics" in err


def test_texts_without_documents_are_refused_and_the_remedy_named(tmp_path):
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOOD) + "\n")
    (tmp_path / "run.jsonl").write_text(json.dumps({"topic": "q1", "doc": "tea", "text": "Boil water."}) + "\n")
    done = CliRunner().invoke(main, ["score", str(tmp_path / "gold.jsonl"), str(tmp_path / "run.jsonl")])
    assert done.exit_code == 1
    assert done.stderr.endswith("results are texts, so their places are unknown; give --docs or --index\n")


def test_quotes_without_documents_are_refused_and_the_remedy_named(tmp_path):
    (tmp_path / "gold.jsonl").write_text(json.dumps({**GOOD, "spans": [{"quote": "Boil water."}]}) + "\n")
    (tmp_path / "run.jsonl").write_text(json.dumps(CHUNK) + "\n")
    done = CliRunner().invoke(main, ["score", str(tmp_path / "gold.jsonl"), str(tmp_path / "run.jsonl")])
    assert done.exit_code == 1
    assert "quotes without offsets" in done.stderr
    assert done.stderr.endswith("unknown; give --docs\n")


def test_the_first_chunk_without_a_place_is_named_with_its_line_and_query(score):
    lost = {"topic": "q1", "doc": "tea", "text": "Add sugar, and a slice of lemon."}
    twice, nowhere = {**lost, "text": "Stir well."}, {**lost, "doc": "milk"}
    code, _, err = score([GOOD], [{**lost, "text": "Boil water."}, twice, lost, nowhere])
    assert (code, "4 results: 1 exact, 1 ambiguous, 2 lost" in err) == (0, True), err
    assert "first without a place: topic 'q1' in 'tea' (run.jsonl:2): the text occurs 2 times and was left out" in err
    assert "1 result names a document that is not in the index, first 'milk' for topic 'q1' (run.jsonl:4)" in err


def test_the_first_quote_without_a_place_is_named_with_its_line_and_query(score):
    code, _, err = score([GOOD, marked((0, 9, "Add sugar, and a slice of lemon."), topic="q2")], [CHUNK])
    assert code == 0, err
    assert "first without a place: topic 'q2' in 'tea' (gold.jsonl:2): the text is nowhere in its document" in err
