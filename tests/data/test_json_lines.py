"""Lines of JSON end at a newline alone, and are written so that they can be read back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.fields import json_line, numbered_lines
from focuseval.formats import read_gold, read_run

SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c"
VALUES = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.lists(VALUES, max_size=5))
def test_what_is_written_is_read_back(values):
    text = b"".join(map(json_line, values)) if not _surrogates(values) else b""
    assert [json.loads(line) for _, line in numbered_lines(text)] == (values if text or not values else [])


def _surrogates(values):
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def test_half_a_surrogate_pair_is_refused_or_replaced():
    with pytest.raises(UnicodeEncodeError):
        json_line("\ud800")
    assert json_line("\ud800", "replace") == b'"?"\n'


@pytest.mark.parametrize("separator", SEPARATORS[:3])
def test_no_reader_cuts_a_line_at_another_separator(tmp_path, separator):
    text = f"To be,{separator}or not to be."
    run, gold = tmp_path / "run.jsonl", tmp_path / "gold.jsonl"
    run.write_bytes(json_line({"topic": "q1", "doc": "a", "text": text}))
    gold.write_bytes(json_line({"topic": "q1", "doc": "a", "spans": [{"start": 0, "end": 21, "quote": text}]}))
    docs = {"a": text}
    assert read_run(run, docs=docs).end.tolist() == [len(text)]
    assert read_gold(gold, docs=docs).passages.end.tolist() == [len(text)]
