"""The harbour handbook: 42 questions, of which one has no answer, and a price list that must not come back."""

import pytest

import focuseval as fe
from focuseval.example import ROOT
from focuseval.example.demo import CHUNK_MEASURES, CHUNKINGS

HARBOUR = ROOT / "harbour"


@pytest.fixture(scope="module")
def found():
    return fe.sweep(HARBOUR / "gold.jsonl", HARBOUR / "docs", CHUNKINGS, measures=CHUNK_MEASURES)


def test_one_comparison_holds_and_one_cannot_be_told(found):
    assert [one.word for one in found.standings] == ["best", "worse", "worse", "worse"]
    pair = found.comparison.against(1, 2)
    assert (pair.word, pair.corrected > 0.5) == ("cannot tell", True)


def test_one_chunking_wins_at_a_cost(found):
    """Two per cent less text are no saving; a seventh of the chunks is one, but with a measurable loss."""
    chunks = dict(zip(found.names, (one.chunks for one in found.extents), strict=True))
    assert chunks["sentences:1"] > 2.5 * chunks["sentences:3"] > 5 * chunks["words:100"]
    assert dict(zip(found.names, found.frontier, strict=True)) == {
        "sentences:1": True, "sentences:3": False, "headings:2": True, "words:100": True,
    }  # fmt: skip
    assert "It stores 2.9 times the chunks of sentences:3" in found.advice()


def test_one_tag_behaves_differently(found):
    tags = found.scores.by_tag()
    same, other = (tags[name].mean[0, 1] for name in ("same words", "other words"))
    assert same > other + 0.3


def test_one_topic_has_no_answer_and_three_have_text_that_must_not_come_back():
    whole = fe.retrieve(HARBOUR / "docs", HARBOUR / "gold.jsonl", unit="document")
    scores = fe.evaluate(HARBOUR / "gold.jsonl", whole, ["silence", "leak@3", "recall@3"], docs=HARBOUR / "docs")
    values = scores.topics_of(0)
    assert [topic for topic, own in values.items() if "silence" in own] == ["h42"]
    assert {topic: own["leak@3"] for topic, own in values.items() if "leak@3" in own} == dict.fromkeys(
        ("h06", "h08", "h09"), 1.0
    )


@pytest.mark.parametrize("other", ["characters:400", "sentences:3"])
def test_what_costs_less_is_advised_with_its_loss_and_not_where_it_may_well_be_worse(other):
    """Half the chunks, which leave a fifth of the text out: before Holm's correction they are significantly worse."""
    chunkings = ["headings:2", "recursive:300", "characters:400/500", other]
    found = fe.sweep(HARBOUR / "gold.jsonl", HARBOUR / "docs", chunkings, measures=["spanR@2000c"])
    lost = found.comparison.against(found.order.index(2), 0)
    assert (lost.word, lost.p < 0.05 < lost.corrected) == ("cannot tell", True)
    mean = dict(zip(found.names, found.scores.mean[:, 0].tolist(), strict=True))
    if other == "sentences:3":  # nothing else costs clearly less
        safer = "Use headings:2: it has the highest mean, and what costs clearly less may well be worse (p 0.01"
        assert found.advice().startswith(safer)
    else:
        seen = f"(−{mean['headings:2'] - mean[other]:.4f})"
        assert found.advice().startswith(
            f"Use {other} for now: too few topics to measure a loss against headings:2 {seen}"
        )
