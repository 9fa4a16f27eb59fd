"""Damaged files of every format: an error that we raise on purpose or a valid object, never anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.errors import FocusevalError
from focuseval.formats import detect_source, find_format, source_of
from strategies.samples import SAMPLES

PIECES = st.binary(max_size=6) | st.sampled_from(
    [
        b" ", b"\n", b"\r", b"\t", b"nan", b"-", b"1e999", b"99999999999999999999", b"<", b"</", b"/>", b"]]>", b"<!--",
        b"&x;", b"\xef\xbb\xbf", b"\xff\xfe", b"\\ud800", b"null", b"[", b"{", b"{}", b'""', b"true", b"0.5",
    ]
)  # fmt: skip


ROWS = {
    "run-rows lines": b'{"qid": 1, "docid": "a", "score": 2.5, "begin": 3, "length": 4}\n{"qid": 2, "docid": "b"}',
    "run-rows list": b'[{"input": "Q?", "retrieval_context": [{"doc": "a", "text": "x", "meta": {"start_index": 1}}]}]',
    "run-rows table": b"qid,doc_id,rank,retrieved_contexts\n1,a,2,\n2,b,1,\n",
    "run-rows scores": b'{"q1": {"a": 2.5, "b": 1}, "q2": {"a": 1}}',
    "gold-rows lines": b'{"qid": 1, "docid": "a", "quote": "x", "begin": 3, "end": 9, "need": "n", "tags": ["t"]}\n',
    "gold-rows list": b'[{"input": "Q", "context": [{"doc": "a", "text": "x"}]}, {"id": 2, "context": []}]',
    "gold-rows table": b"query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n",
    "squad rows": b'[{"id": 1, "context": "To be.", "question": "", "answers": {"text": ["be"], "answer_start": [3]}}]',
}  # fmt: skip


@st.composite
def mutated(draw, text):
    for _ in range(draw(st.integers(1, 4))):
        at, size = draw(st.integers(0, len(text))), draw(st.integers(0, 12))
        text = text[:at] + draw(PIECES) + text[at + size :]
    return text


def read(name, text):
    try:
        source = source_of(text, "file")
        detect_source(source)
        known = find_format(name)
        return known.read(source if known.kind == "run" else [source])
    except FocusevalError as error:
        return str(error)


@pytest.mark.parametrize("name", sorted(SAMPLES | ROWS))
def test_a_damaged_file_is_read_or_refused(name):
    @settings(max_examples=2 * settings.default.max_examples)
    @given(mutated((SAMPLES | ROWS)[name]))
    def survives(text):
        found = read(name.split()[0], text)
        assert isinstance(found, Run | Gold | str)
        assert not isinstance(found, str) or "\n" not in found
        if isinstance(found, Run):
            assert (found.topic[1:] >= found.topic[:-1]).all()
            assert len(found.document) == len(found)

    survives()
