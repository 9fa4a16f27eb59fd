"""Remarks are values: kind, number, details, file; words are made of them and never read back."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.data.remarks import KINDS, ORDER, Remark, folded, remark_on
from focuseval.evaluation.counts import Counts


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_words_for_one_and_for_many(kind):
    details = ("a {brace}", "b", "c", "d")
    one, many = (Remark(kind, number, details).sentence for number in (1, 2000))
    assert "{n}" not in one + many
    assert "|" not in KINDS[kind] or one != many
    assert "|" not in one + many
    if "|" in KINDS[kind] and "{n}" in KINDS[kind]:
        assert "2,000" in many


def test_counts_are_remarked_on_with_one_and_with_many():
    lines = [str(remark) for remark in Counts(unplaced=1, unknown=1, empty=2).remarks("bm25")]
    assert lines == [
        "bm25: 1 result has no known place in its document and gains nothing",
        "bm25: 1 topic is not in the gold and was left out",
        "bm25: 2 results hold no characters; they cost and gain nothing",
    ]


def test_a_text_without_a_kind_keeps_its_words_and_gets_its_file():
    assert str(remark_on("a: b/run", "odd {0}: text")) == "a: b/run: odd {0}: text"
    assert remark_on("file", Remark("no results")) == Remark("no results", file="file")


def test_what_is_said_of_many_files_is_said_once_whatever_their_names():
    names = [f"odd: dir/{n}: x" for n in range(5)]
    assert folded(Remark("no results", file=name) for name in names) == [
        "odd: dir/0: x, odd: dir/1: x and 3 more: the run returns no result for any topic"
    ]
    assert len(folded(Remark("no results", file=name) for name in names[:3])) == 3
    assert len(folded(Remark("unknown", number, file="a") for number in (1, 2, 2))) == 2
    assert KINDS.keys() >= ORDER


def test_a_folder_with_a_colon_in_its_name_is_no_part_of_a_remark(tmp_path, monkeypatch):
    """``score`` split its lines at the first colon and joined them again under other names."""
    monkeypatch.chdir(tmp_path)
    Path("odd: dir").mkdir()
    Path("qrels").write_text("1 0 d1 1\n")
    runs = [f"odd: dir/{number}.jsonl" for number in range(5)]
    for number, run in enumerate(runs):
        rows = [{"topic": "1", "doc": f"d{rank}", "rank": 1, "run": str(number)} for rank in range(1, 3)]
        Path(run).write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = CliRunner().invoke(main, ["score", "qrels", *runs, "-m", "AP"])
    assert done.exit_code == 0, done.output
    assert done.stderr == (
        "odd: dir/0.jsonl, odd: dir/1.jsonl and 3 more: ranking: ranks repeat (first in topic '1'); "
        "'focuseval formats' says what decides then\n"
    )
