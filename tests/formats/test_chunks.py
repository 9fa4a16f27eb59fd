"""Chunks are written with their offsets and read back, from every kind of file that holds places or texts."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import FocusevalError
from focuseval.formats.chunks import read_chunks, write_chunks
from strategies.tokenizers import train

TEXTS = {"a.md": "Tides follow the moon. 🙂 Ships sail.\n\nNo moon, no tide.", "b.md": "", "c.md": "Moon."}


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    return fe.open_documents("docs")


def rows(chunks):
    return list(zip(chunks.document.to_pylist(), chunks.start.tolist(), chunks.end.tolist(), strict=True))


def run(*arguments):
    return CliRunner().invoke(main, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize("layout", ["jsonl", "segments"])
@pytest.mark.parametrize("spec", ["characters:9/6", "sentences:1", "words:3"])
def test_what_is_written_is_read_back(docs, spec, layout):
    cut = fe.chunk(docs, spec)
    write_chunks(cut, "chunks.jsonl", docs, layout)
    for index in (docs, None):
        again = read_chunks("chunks.jsonl", index)
        assert rows(again) == rows(cut)
        assert again.name == "chunks"
    assert rows(fe.chunk(docs, "chunks.jsonl")) == rows(cut)


def test_a_line_holds_document_number_place_and_text(docs):
    write_chunks(fe.chunk(docs, "sentences:1"), "chunks.jsonl", docs)
    lines = [json.loads(line) for line in Path("chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[1] == {"doc": "a", "chunk": 1, "start": 23, "end": 36, "text": "🙂 Ships sail."}
    assert [line["text"] for line in lines] == [TEXTS[f"{x['doc']}.md"][x["start"] : x["end"]] for x in lines]


def test_segments_have_ids_that_a_run_can_name(docs, tmp_path):
    run("chunk", "docs", "sentences:1", "-o", "segments.jsonl", "--to", "segments")
    (tmp_path / "run.txt").write_text("q1 Q0 a#1 1 0.9 mine\n")
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({"topic": "q1", "doc": "a", "spans": [{"start": 25, "end": 36}]}) + "\n"
    )
    done = run("score", "gold.jsonl", "run.txt", "--docs", "segments.jsonl", "-m", "spanR@1", "--format", "json")
    assert json.loads(done.stdout)["runs"][0]["measures"] == {"spanR@1": 1.0}


def test_a_line_with_a_text_alone_is_looked_for(docs, tmp_path):
    lines = [{"doc": "a.md", "text": "Ships sail."}, {"source": "c.md", "text": "Moon."}]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [(start, end) for _, start, end in rows(fe.chunk(docs, "texts.jsonl"))] == [(25, 36), (0, 5)]


def test_a_run_is_a_file_of_chunks(docs, tmp_path):
    (tmp_path / "run.jsonl").write_text('{"topic": "-", "doc": "a.md", "start": 0, "end": 5}\n')
    assert rows(fe.chunk(docs, "run.jsonl")) == [("a.md", 0, 5)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"doc": "a.md"}', 'bad.jsonl:1: expected {"doc": "…", "start": 0, "end": 9} or'),
        ('{"start": 0, "end": 3}', "bad.jsonl:1: expected the document's id"),
        ('{"doc": "a.md", "start": 0, "end": 999}', "bad.jsonl:1: expected a span within the 55 characters of 'a.md'"),
        ("no JSON", "bad.jsonl:1: expected"),
    ],
)
def test_a_line_that_holds_no_chunk_is_refused_with_its_place(docs, tmp_path, line, said):
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(FocusevalError) as caught:
        fe.chunk(docs, "bad.jsonl")
    assert str(caught.value).startswith(said)


def test_a_text_that_stands_nowhere_is_left_out_and_counted(docs, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"doc": "a.md", "text": "nobody wrote this"}\n')
    found = fe.chunk(docs, "texts.jsonl")
    assert len(found) == 0
    assert "1 lost" in found.remarks[0]


def test_the_command_says_what_it_wrote(docs):
    done = run("chunk", "docs", "characters:20/30", "-o", "chunks.jsonl")
    assert done.exit_code == 0
    assert done.stderr == (
        "chunks.jsonl: characters:20/30, 3 chunks of 5 to 20 characters (mean 15) in 2 documents: 0.75 × the text, "
        "13 characters in no chunk\n"
    )


def test_the_command_cuts_by_tokens_and_prints(docs, tmp_path):
    tokenizer = train(tmp_path / "tokenizer.json")
    done = run("chunk", "docs", "tokens:4", "--tokenizer", tokenizer, "-o", "-")
    assert done.exit_code == 0
    assert "".join(json.loads(line)["text"] for line in done.stdout.splitlines() if '"a"' in line) == TEXTS["a.md"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["docs", "tokens:4"], 2, "expected a tokenizer for chunks of tokens, found none"),
        (["docs", "nothing"], 2, "found 'nothing'; no file has this name"),
        (["absent", "words:4"], 1, "absent"),
        (["docs", "elements:sec"], 1, "docs: expected a tag of the collection, found 'sec'; its tags: document"),
    ],
)
def test_what_cannot_be_cut_is_one_line(docs, arguments, code, said):
    done = run("chunk", *arguments, "-o", "chunks.jsonl")
    assert (done.exit_code, len(done.stderr.splitlines())) == (code, 1)
    assert said in done.stderr
