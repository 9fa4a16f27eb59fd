"""``focuseval score`` and ``inex-eval`` on input that cannot be scored: one line that says what to do, exit code 1."""

import pytest
from click.testing import CliRunner

from focuseval.cli import main

FILES = {
    "qrels": "1 Q0 d1 100 400 50 50:60 200:40\n1 Q0 d2 0 300\n",
    "trec.qrels": "1 0 d1 1\n1 0 d2 0\n",
    "no-beps.jsonl": '{"topic":"1","doc":"d1","spans":[{"start":50,"end":60}]}\n',
    "passages": "1 Q0 d1 1 4 R 40 80\n1 Q0 d2 2 3 R 0 50\n",
    "overlap": "1 Q0 d1 1 4 R 40 80\n1 Q0 d1 2 3 R 50 50\n",
    "entry-points": "1 Q0 d1 1 4 R 40\n1 Q0 d2 2 3 R X\n",
    "documents": "1 Q0 d1 1 4 R\n1 Q0 d2 2 3 R\n",
    "elements": "1 Q0 d1 1 4 R /article[1]\n",
    "other-topics": "9 Q0 d1 1 4 R 40 80\n",
    "other-documents": "1 Q0 e1 1 4 R 40 80\n",
    "nan": "1 Q0 d1 1 NaN R 40 80\n",
}


@pytest.fixture
def call(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return lambda line: CliRunner().invoke(main, line.split())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("score no-beps.jsonl entry-points --task best-in-context", "no-beps.jsonl: no best entry points"),
        ("score trec.qrels documents -m iP@0.01", "trec.qrels: no highlighted passages"),
        ("score trec.qrels documents -m spanR@5", "trec.qrels: no highlighted passages"),
        ("score trec.qrels documents -m hAP", "trec.qrels: no highlighted passages"),
        ("score trec.qrels elements -m MAgP", "trec.qrels: no highlighted passages"),
        ("score trec.qrels elements -m charP", "trec.qrels: no highlighted passages"),
        ("score trec.qrels elements -m T2I", "trec.qrels: no highlighted passages"),
        ("score trec.qrels documents --task focused", "trec.qrels: judgements of whole documents say nothing of"),
        ("score qrels entry-points -m MAiP", "entry-points: results are entry points, which hold no text"),
        ("score qrels entry-points -m spanR@5", "entry-points: results are entry points, which hold no text"),
        ("score qrels entry-points -m T2I", "entry-points: results are entry points, which hold no text"),
        ("score qrels elements -m MAiP", "build the collection's index with 'focuseval index'"),
        ("score qrels elements -m MAep", "build the collection's index with 'focuseval index'"),
        ("score qrels other-topics -m MAiP", "other-topics: no topic in common with qrels"),
        ("score qrels other-documents -m MAiP", "other-documents: no document in common with qrels"),
        ("score qrels nan -m MAiP", "nan:1: expected a finite number as score, found 'NaN'"),
        (
            "score qrels overlap --task focused",
            "'focuseval validate --task focused', which also repairs runs, or score with '--repair'",
        ),
        ("inex-eval -f qrels overlap", "overlap:2: topic 1: expected no overlap, found d1 50:100 overlapping"),
        ("inex-eval -f qrels entry-points", "entry-points: results are entry points"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_line(call, line, said):
    result = call(line)
    assert (result.exit_code, result.stderr.count("\n"), result.stdout) == (1, 1, ""), result.output
    assert said in result.stderr


def test_measures_of_documents_need_no_highlights_whatever_the_task(call):
    assert call("score trec.qrels documents --task focused -m AP").exit_code == 0


def test_entry_points_are_scored_by_their_distance(call):
    result = call("score qrels entry-points --task best-in-context --format csv -m MAgP(score=bep,n=500)")
    assert result.stdout.splitlines()[1].startswith("R,0.98,"), result.output  # 10 of 500 characters away


def test_an_unlawful_run_does_not_cost_the_report_on_those_after_it(call):
    result = call("inex-eval -f qrels overlap entry-points passages")
    assert result.exit_code == 1
    assert result.stdout.startswith('<eval run-id="R" file="passages">')
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["overlap", "entry-points"]
