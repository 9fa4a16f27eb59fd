"""A gold, a run and an index show themselves in one line, and in a notebook as HTML."""

import sys

import pytest

import focuseval as fe
from focuseval.errors import MissingDataError

DOCS = {"d1": "To be, or not to be.", "d<2>": "That is the question."}


def test_a_gold_names_its_file_and_its_counts(tmp_path):
    file = tmp_path / "gold.jsonl"
    file.write_text('{"topic": "1", "query": "?", "doc": "d1", "spans": [{"start": 0, "end": 5}]}\n')
    gold = fe.read_gold(str(file))
    assert repr(gold) == f"<Gold {file}: 1 topic, 1 judged document, 1 passage>"
    assert gold._repr_html_() == f"<p>Gold {file}: 1 topic, 1 judged document, 1 passage</p>"


def test_a_run_names_itself_its_file_and_its_counts(tmp_path):
    file = tmp_path / "run.txt"
    file.write_text("1 Q0 d1 1 2.0 <b>\n1 Q0 d2 2 1.0 <b>\n")
    run = fe.read_run(str(file))
    assert repr(run) == f"<Run '<b>' {file}: 1 topic, 2 results>"
    assert "&lt;b&gt;" in run._repr_html_()


def test_an_index_names_its_place_and_its_counts():
    index = fe.open_documents(DOCS)
    assert repr(index) == "<Index documents: 2 documents, 2 elements>"
    assert index._repr_html_() == "<p>Index documents: 2 documents, 2 elements</p>"


def test_chunks_become_a_frame_of_pandas():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = fe.chunk(DOCS, "characters:10").to_pandas()
    assert list(frame.columns) == ["doc", "start", "end"]
    assert len(frame) == 5


def test_a_missing_pandas_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDataError, match="pip install pandas"):
        fe.chunk(DOCS, "characters:10").to_pandas()
