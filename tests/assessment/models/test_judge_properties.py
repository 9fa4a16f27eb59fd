"""What holds for any text and any reply: windows cover it, only its own text is marked, nothing else is raised."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from focuseval.assessment.models.prompt import (
    COUNTED,
    OVERLAP,
    ModelAnswer,
    Prompt,
    place_answers,
    read_answer,
    windows,
)
from focuseval.data.highlights import is_normal
from focuseval.data.topics import Topic
from focuseval.engine.http import complaint
from focuseval.errors import AnswerError
from strategies.model_server import DOCUMENT, reply

WORDS = st.lists(st.sampled_from(["sea", "tide ", "moon\n", "the ", " ", "a-very-long-word-without-a-blank", "é"]))
TEXT = WORDS.map("".join)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["quotes", "best_entry_point", "x"]), inner),
)


@given(TEXT, st.integers(200, 400))
def test_windows_cover_a_text_overlap_and_are_no_longer_than_asked(text, size):
    text *= 8
    spans = windows(text, size)
    assert [position for start, end in spans for position in (start, end)][:1] == ([0] if text else [])
    assert not text or spans[-1][1] == len(text)
    assert all(end - start <= size for start, end in spans)
    assert all(after[0] == before[1] - int(size * OVERLAP) for before, after in pairwise(spans))


@given(
    TEXT,
    st.lists(st.lists(st.text("seatidmon \n", max_size=12), max_size=4), max_size=3),
    st.text("seatid", max_size=5),
)
def test_whatever_is_quoted_only_text_of_the_window_is_marked(text, quotes, entry):
    spans = windows(text, 200)
    answers = [(span, ModelAnswer(tuple(some), entry or None)) for span, some in zip(spans, quotes, strict=False)]
    placed = place_answers(text, answers)
    judged = placed.judgement
    assert is_normal(judged.highlights)
    assert all(0 <= start < end <= len(text) for start, end in judged.highlights)
    assert sum(placed.quotes) == sum(len(answer.quotes) for _, answer in answers)
    assert len(placed.unplaced) == sum(placed.quotes[COUNTED.index(name)] for name in ("ambiguous", "lost"))
    assert judged.status == ("relevant" if judged.highlights else "not relevant")
    assert judged.bep is None or 0 <= judged.bep < judged.highlights[-1][1]


@given(st.text() | VALUE.map(json.dumps))
def test_a_reply_is_an_answer_or_refused_in_one_line(body):
    for text in (body, json.dumps(reply(body))):
        said = ""
        try:
            assert all(isinstance(quote, str) for quote in read_answer(text).quotes)
        except AnswerError as refusal:
            said = str(refusal)
        assert "\n" not in said
    assert "\n" not in complaint(body)


@given(st.text())
def test_no_text_can_end_the_fence_around_it(text):
    (_, asked) = Prompt().messages(Topic("1", "CO", title="tides {document}", narrative="{query}"), text)
    assert DOCUMENT.search(asked["content"])[2] == text
