"""TREC RAG: ranked and judged segments become spans of the documents that the segment file tells of."""

import gzip
import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.collection.documents import open_documents
from focuseval.collection.segments import find_segments
from focuseval.errors import CollectionError, FormatError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_gold, read_run
from focuseval.formats.chunks import read_chunks
from focuseval.formats.trec_rag import place_gold
from strategies.remarks import lines_of

DOCUMENTS = {"doc_1_0": "Été, one. Two. Three 😀. Four.", "doc_2_90": "Five. Six."}
CUTS = {
    "doc_1_0#0_0": (0, 14),
    "doc_1_0#1_310": (10, 23),
    "doc_1_0#2_620": (15, 29),
    "doc_2_90#0_930": (0, 10),
}
RUN = (
    "t1 Q0 doc_1_0#1_310 1 2.0 r\nt1 Q0 doc_2_90#0_930 2 1.5 r\nt1 Q0 doc_1_0#0_0 3 1.0 r\nt2 Q0 doc_1_0#2_620 1 3 r\n"
)
QRELS = "t1 0 doc_1_0#0_0 2\nt1 0 doc_1_0#1_310 1\nt1 0 doc_2_90#0_930 0\nt2 0 doc_2_90#0_930 3\n"


def record(name, start, end, text=None):
    """One line of a segment file, with all the fields that the track's have."""
    shown = DOCUMENTS[name.partition("#")[0]][start:end] if text is None else text
    said = {"docid": name, "url": "https://example.org/", "title": "T", "headings": "H\n", "segment": shown}
    return json.dumps(said | {"start_char": start, "end_char": end}, ensure_ascii=False)


@pytest.fixture
def files(tmp_path):
    """A folder with the segments, the run and the judgements."""
    (tmp_path / "segments.jsonl").write_text("\n".join(record(n, *cut) for n, cut in CUTS.items()), encoding="utf-8")
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


def test_the_documents_are_put_together_from_their_segments(files):
    docs = open_documents(files / "segments.jsonl")
    assert dict(zip(docs.ids.to_pylist(), docs.texts(range(len(docs))).to_pylist(), strict=True)) == DOCUMENTS
    assert docs.sha256 == open_documents(DOCUMENTS).sha256


def test_text_that_no_segment_shows_is_blank(tmp_path):
    (tmp_path / "s.jsonl").write_text(record("doc_1_0#2_620", 15, 29) + "\n" + record("doc_1_0#0_0", 0, 5))
    assert open_documents(tmp_path / "s.jsonl").text(0) == "Été, " + " " * 10 + "Three 😀. Four."


@pytest.mark.parametrize("kind", ["gz", "zst", "folder"])
def test_segment_files_may_be_compressed_or_several(files, kind):
    plain, lines = open_documents(files / "segments.jsonl"), (files / "segments.jsonl").read_bytes().split(b"\n")
    place = files / {"gz": "s.json.gz", "zst": "s.jsonl.zst", "folder": "parts"}[kind]
    if kind == "folder":
        place.mkdir()
        (place / "00.json").write_bytes(b"\n".join(lines[:2]))
        (place / "01.json.gz").write_bytes(gzip.compress(b"\n".join(lines[2:])))
    else:
        data = b"\n".join(lines)
        place.write_bytes(gzip.compress(data) if kind == "gz" else pa.compress(data, "zstd", asbytes=True))
    assert open_documents(place).sha256 == plain.sha256
    assert open_documents(place).segments.ids == plain.segments.ids


def test_ranked_segments_are_spans(files):
    run = read_run(files / "run.txt", index=open_documents(files / "segments.jsonl"))
    assert run.document.to_pylist() == ["doc_1_0", "doc_2_90", "doc_1_0", "doc_1_0"]
    assert list(zip(run.start.tolist(), run.end.tolist(), strict=True)) == [(10, 23), (0, 10), (0, 14), (15, 29)]
    assert run.score.tolist() == [2, 1.5, 1, 3]


def test_judged_segments_are_highlights(files):
    gold = read_gold(files / "qrels.txt", index=open_documents(files / "segments.jsonl"))
    judged = zip(gold.articles.topic.tolist(), gold.articles.document.tolist(), strict=True)
    names = [(gold.topics[topic], gold.documents[document].as_py()) for topic, document in judged]
    assert names == [("t1", "doc_1_0"), ("t1", "doc_2_90"), ("t2", "doc_2_90")]
    assert (gold.articles.relevance.tolist(), gold.articles.rsize.tolist()) == ([1, 0, 1], [23, 0, 10])
    assert lines_of(gold) == ("1 overlapping span is united",)
    assert gold.sha256 == read_gold(files / "qrels.txt").sha256


def test_a_higher_grade_may_be_asked_for(files):
    gold = read_gold(files / "qrels.txt")
    segments = find_segments(files / "segments.jsonl", gold.documents.to_pylist())
    assert place_gold(gold, segments, least=2).articles.rsize.tolist() == [14, 0, 10]
    assert len(find_segments(files / "segments.jsonl", ["doc_1_0#0_0"])) == 1


def test_text_that_two_segments_show_counts_once(files):
    """Of t1, 23 characters are highlighted; the first result shows 13 of them, the third the other 10."""
    docs = open_documents(files / "segments.jsonl")
    scores = evaluate(str(files / "qrels.txt"), str(files / "run.txt"), ["spanR@1", "spanP@3", "spanR@3"], docs=docs)
    assert scores.per_topic()["r"]["t1"] == pytest.approx({"spanR@1": 13 / 23, "spanP@3": 23 / 33, "spanR@3": 1})


def test_without_segments_they_are_documents(files):
    run = read_run(files / "run.txt")
    assert (run.document[0].as_py(), run.start) == ("doc_1_0#1_310", None)
    assert evaluate(str(files / "qrels.txt"), run, ["P@3"]).per_topic()["r"]["t1"]["P@3"] == pytest.approx(2 / 3)


def test_documents_that_have_such_ids_are_no_segments(files):
    docs = open_documents(dict.fromkeys(CUTS, "text"))
    assert read_run(files / "run.txt", index=docs).document[0].as_py() == "doc_1_0#1_310"


def test_documents_in_place_of_segments_are_refused(files):
    with pytest.raises(
        FormatError, match=r"run\.txt: expected documents with ids such as 'doc_1_0#1_310', found none; "
    ):
        read_run(files / "run.txt", index=open_documents(DOCUMENTS))


def test_an_unknown_segment_is_named_with_its_line_and_topic(files):
    docs = open_documents(files / "segments.jsonl")
    (files / "run.txt").write_text(RUN + "t2 Q0 doc_9#0_1 2 2 r\nt2 Q0 doc_9#1_1 2 1 r\n")
    expected = r"run\.txt:5: expected segments of the segment file, found 'doc_9#0_1' for topic 't2' \(and 1 more\)"
    with pytest.raises(FormatError, match=expected):
        read_run(files / "run.txt", index=docs)
    (files / "qrels.txt").write_text("t1 0 doc_1_0#0_0 2\nt1 0 doc_9#0_1 0\n")
    with pytest.raises(FormatError, match=r"qrels\.txt:2: .*found 'doc_9#0_1' for topic 't1'; give"):
        read_gold(files / "qrels.txt", index=docs)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (record("doc_1_0#0_0", 0, 14), r"segment 'doc_1_0#0_0' is at .*:1 already"),
        (record("x#0", 5, 5, ""), "expected 0 ≤ start_char < end_char of 'x#0', found 5 and 5"),
        (record("x#0", 5, "9", ""), "two whole numbers"),
        ('{"docid": "x#0", "start_char": 0, "end_char": 1}', "found keys"),
        ("{", "found no JSON"),
    ],
)
def test_a_wrong_line_of_a_segment_file_is_named(files, line, what):
    (files / "segments.jsonl").write_text(record("doc_1_0#0_0", 0, 14) + "\n" + line)
    with pytest.raises(CollectionError, match=rf"segments\.jsonl:2: .*{what}"):
        open_documents(files / "segments.jsonl")


def test_segments_longer_than_their_span_are_counted_and_cut(files):
    longer = (files / "segments.jsonl").read_text("utf-8").replace("Five. Six.", "Five.  Six.")
    (files / "segments.jsonl").write_text(longer, "utf-8")
    docs = open_documents(files / "segments.jsonl")
    assert docs.text(1) == "Five.  Six"
    said = "1 of 4 segments has a text of another length than the span"
    assert lines_of(read_gold(files / "qrels.txt", index=docs))[-1] == said


def test_a_compressed_file_that_ends_too_early_is_refused(files):
    whole = gzip.compress((files / "segments.jsonl").read_bytes())
    (files / "s.jsonl.gz").write_bytes(whole[:-20])
    with pytest.raises(CollectionError, match=r"s\.jsonl\.gz: cannot read: "):
        open_documents(files / "s.jsonl.gz")


def test_segments_are_the_chunks_of_a_chunker(files):
    chunks = read_chunks(str(files / "segments.jsonl"))
    assert (chunks.start.tolist(), chunks.end.tolist()) == ([0, 10, 15, 0], [14, 23, 29, 10])


@pytest.mark.parametrize(
    "command",
    [
        "score qrels.txt run.txt --profile rag",
        "compare qrels.txt run.txt run.txt -m spanR@1",
        "report qrels.txt run.txt -m spanR@1 -o report.html",
        "validate run.txt --task spans",
        "convert run.txt run.jsonl",
        "convert qrels.txt gold.jsonl",
    ],
)
def test_every_command_that_takes_documents_takes_segments(files, monkeypatch, command):
    monkeypatch.chdir(files)
    done = CliRunner().invoke(main, [*command.split(), "--docs", "segments.jsonl"])
    assert done.exit_code == 0, done.output


def test_the_gate_compares_segments(files, monkeypatch):
    monkeypatch.chdir(files)
    given = ["qrels.txt", "run.txt", "--docs", "segments.jsonl", "-m", "spanR@1"]
    run = CliRunner().invoke
    assert run(main, ["score", *given, "--per-topic", "--format", "json", "-o", "base.json"]).exit_code == 0
    assert run(main, ["gate", "--baseline", "base.json", *given, "--min-effect", "0.02"]).exit_code == 0
