"""Assessments of 2008–2010: a passage may end where the document's text ends, and nowhere behind it."""

import pytest

import focuseval as fe
from focuseval.errors import FormatError

FILLING = {"short": 1, "long": 8_000}
"""Lines before the one that is tested: long files are read as columns."""


@pytest.fixture(params=FILLING)
def write(request, tmp_path):
    """Write a file whose last line has this passage in a text of 300 characters."""

    def written(passage, size):
        lines = [f"1 Q0 doc-{n} 0 300\n" for n in range(FILLING[request.param])]
        path = tmp_path / "qrels.txt"
        path.write_text("".join([*lines, f"1 Q0 last {size} 300 0 {passage}\n"]))
        return path

    return written


@pytest.mark.parametrize(("passage", "size"), [("280:20", 20), ("0:300", 300), ("299:1", 1)])
def test_a_passage_that_ends_with_the_text_is_accepted(write, passage, size):
    passages = fe.read_gold(write(passage, size)).passages
    assert (passages.start.tolist(), passages.end.tolist()) == ([300 - size], [300])


@pytest.mark.parametrize(("passage", "size"), [("280:21", 21), ("0:301", 301), ("300:1", 1)])
def test_a_passage_that_ends_one_character_behind_the_text_is_refused(write, passage, size):
    path = write(passage, size)
    with pytest.raises(
        FormatError, match=f"within the document's 300 characters, found {passage} ending at 301"
    ) as told:
        fe.read_gold(path)
    assert str(told.value).startswith(f"{path}:{len(path.read_text().splitlines())}: ")
