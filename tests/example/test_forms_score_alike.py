"""The example's gold means the same in all its forms: scores do not depend on the file that was read."""

import numpy as np
import pytest

from focuseval.collection.documents import open_documents
from focuseval.evaluation.evaluation import evaluate
from focuseval.example import ROOT
from focuseval.formats import read_gold, read_run

CASES = {
    "thorough": ("careful.xml", ["MAep", "iMAep"]),
    "focused": ("careful.xml", ["nxCG@10", "MAiP", "charP"]),
    "relevant-in-context": ("careful.txt", ["MAgP", "gP@5"]),
    "best-in-context": ("careful.txt", ["BEPD(A=0.1)", "EPRUM(A=0.1)"]),
    "spans": ("windows.jsonl", ["spanR@5", "IoU@5"]),
}


@pytest.fixture(scope="module")
def index():
    return open_documents(ROOT / "articles")


def values(gold: str, task: str, index):
    name, measures = CASES[task]
    run = read_run(ROOT / "runs" / task / name, index=index)
    return evaluate(read_gold(ROOT / "gold" / gold, index=index), [run], measures, task=task, index=index).values


@pytest.mark.parametrize("task", CASES)
@pytest.mark.parametrize("other", ["assessments", "qrels.txt"])
def test_every_form_gives_the_same_score_to_every_topic(task, other, index):
    np.testing.assert_allclose(values(other, task, index), values("gold.jsonl", task, index), rtol=1e-12)


def test_sizes_in_the_assessments_are_enough_for_the_thorough_task(index):
    np.testing.assert_allclose(
        values("assessments", "thorough", None), values("assessments", "thorough", index), rtol=1e-12
    )


def test_offsets_in_the_text_form_are_enough_for_the_task_in_context(index):
    np.testing.assert_allclose(
        values("qrels.txt", "relevant-in-context", None), values("qrels.txt", "relevant-in-context", index), rtol=1e-12
    )


def test_a_whole_article_scores_its_share_of_highlighted_text(index):
    """By hand: topic 101, water/tide, 1494 of 2898 characters: P = 1494/2898, R = 1, F = 2·1494/(2898 + 1494)."""
    gold = read_gold(ROOT / "gold" / "qrels.txt", index=index)
    run = read_run(ROOT / "runs" / "relevant-in-context" / "coarse.txt", index=index)
    scores = evaluate(gold, [run], ["gP@1"], task="relevant-in-context", index=index)
    assert run.document[0].as_py() == "water/tide"
    assert scores.values[0, scores.topics.index("101"), 0] == pytest.approx(2 * 1494 / (2898 + 1494))
