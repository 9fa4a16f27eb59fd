"""Damaged files of every format: an error that we raise on purpose or a valid object, never anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.errors import FocusevalError
from focuseval.formats import detect_source, find_format, source_of
from focuseval.gold import Gold
from focuseval.run import Run
from strategies.samples import SAMPLES

PIECES = st.binary(max_size=6) | st.sampled_from(
    [
        b" ", b"\n", b"\r", b"\t", b"nan", b"-", b"1e999", b"99999999999999999999", b"<", b"</", b"/>", b"]]>", b"<!--",
        b"&x;", b"\xef\xbb\xbf", b"\xff\xfe", b"\\ud800", b"null", b"[", b"{", b"{}", b'""', b"true", b"0.5",
    ]
)  # fmt: skip


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


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_damaged_file_is_read_or_refused(name):
    @settings(max_examples=150)
    @given(mutated(SAMPLES[name]))
    def survives(text):
        found = read(name, text)
        assert isinstance(found, Run | Gold | str)
        assert not isinstance(found, str) or "\n" not in found
        if isinstance(found, Run):
            assert (found.topic[1:] >= found.topic[:-1]).all()
            assert len(found.document) == len(found)

    survives()
