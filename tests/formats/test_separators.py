"""What Unicode calls a line end or a blank is a character like any other: every format gives it back, or refuses it."""

import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.collection.documents import open_documents
from focuseval.data.fields import json_line
from focuseval.data.topics.topic import parse_other
from focuseval.errors import FormatError
from focuseval.formats import FORMATS, read_gold, read_run, source_of
from focuseval.formats.chunks import LAYOUTS, Chunks, read_chunks, write_chunks
from focuseval.formats.embedded import write_documents

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))
SEPARATORS = "".join(sorted({*re.findall(r"\s", EVERY), *(line[-1] for line in EVERY.splitlines(keepends=True)[:-1])}))
TEXTS = st.text(st.sampled_from(f"ab é{SEPARATORS}\ufeff"), min_size=1, max_size=8)
INNER = TEXTS.map(lambda text: f"a{text}b")
"""Names whose ends are not blank: some formats strip them."""


NAMED = ("gold-jsonl", "squad", "gold-parquet", "gold-csv")
"""Golds that keep the ids of topics beside their questions."""

NO_DOCUMENTS = ("run-rows", "gold-rows", "beir")
"""Rows of RAGAS name no documents, and BEIR is a folder."""


@pytest.mark.parametrize(
    "name", [one.name for one in FORMATS if one.kind == "run" and one.says and one.name not in NO_DOCUMENTS]
)
def test_a_run_keeps_separators_in_every_format(name):
    known = next(known for known in FORMATS if known.name == name)

    @settings(max_examples=40)
    @given(topic=INNER, doc=INNER, text=TEXTS)
    def keeps(topic, doc, text):
        place = {"path": "/a[1]"} if name == "inex-text" else {"start": 0, "end": 1}
        place = {} if name == "trec-run" else place
        line = json_line({"topic": topic, "doc": doc, "rank": 1, "score": 1.0, **place})
        documents = open_documents({doc: "a" + text})
        run = read_run(source_of(line, "run.jsonl"), "run-jsonl")
        written = None
        with suppress(FormatError):  # a format of columns refuses blanks in names
            written = b"".join(known.writer(documents)(run))
        if written is None:
            return
        back = known.reader(documents)(source_of(written, "run"))
        assert (back.topics, back.document.to_pylist()) == ((topic,), [doc])

    keeps()


@pytest.mark.parametrize(
    "name", [one.name for one in FORMATS if one.kind == "gold" and one.says and one.name not in NO_DOCUMENTS]
)
def test_a_gold_keeps_separators_in_every_format(name):
    known = next(known for known in FORMATS if known.name == name)

    @settings(max_examples=40)
    @given(topic=INNER, doc=INNER, query=INNER, text=TEXTS)
    def keeps(topic, doc, query, text):
        spans = {"relevance": 1} if name == "trec-qrels" else {"spans": [{"start": 0, "end": len(text), "quote": text}]}
        line = json_line({"topic": topic, "query": query, "doc": doc, **spans})
        documents = open_documents({doc: text})
        gold = read_gold(source_of(line, "gold.jsonl"), "gold-jsonl")
        written = None
        with suppress(FormatError):  # a format of columns refuses blanks in names
            written = b"".join(known.writer(documents)(gold))
        if written is None:
            return
        back = known.reader(documents)([source_of(written, "gold")])
        assert back.documents.to_pylist() == [doc]
        assert back.topics == ((topic,) if "queries" not in known.says or name in NAMED else ("q1",))
        if "queries" in known.says:
            assert list(back.queries.values()) == [query]
        if "quotes" in known.says:
            assert back.passages.quote.to_pylist() == [text]

    keeps()


@given(topic=INNER, query=INNER)
def test_topics_in_json_lines_keep_separators(topic, query):
    line = json_line({"id": topic, "question": query}).decode()
    [one] = parse_other(line, "json", "topics")
    assert (one.id, one.title) == (topic, query)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(doc=INNER.map(lambda name: name.replace("#", "")), text=TEXTS)
def test_chunks_and_documents_in_json_lines_keep_separators(layout, doc, text):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "documents.jsonl"
        write_documents({doc: text}, place)
        documents = open_documents(place)
        assert (documents.ids.to_pylist(), documents.document(doc).text) == ([doc], text)
        whole = Chunks(pa.array([doc]), np.array([0]), np.array([len(text)]), "whole")
        write_chunks(whole, Path(folder) / "chunks.jsonl", documents, layout)
        back = read_chunks(str(Path(folder) / "chunks.jsonl"), documents)
        assert (back.document.to_pylist(), back.start.tolist(), back.end.tolist()) == ([doc], [0], [len(text)])
