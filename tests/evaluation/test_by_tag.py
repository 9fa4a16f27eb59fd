"""Means by tag: the same numbers over fewer topics, with their own counts."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from building import gold_of, run_of
from focuseval.cli import main
from focuseval.errors import FormatError, MissingDataError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_gold
from focuseval.formats.convert import write_gold

GOLD = gold_of(
    {
        "q1": {"a": {"spans": [(0, 100)]}},
        "q2": {"a": {"spans": [(0, 50)]}},
        "q3": {"b": {"spans": [(0, 50)]}},
        "q4": {"b": {"spans": []}},
    },
    attributes={"q1": {"tags": "law"}, "q2": {"tags": "law,short"}, "q3": {"tags": "short"}, "q4": {"tags": "short"}},
)
RUN = run_of({"q1": [("a", 0, 50), ("c", 0, 9)], "q2": [("a", 0, 50)]})


def test_every_tag_has_the_mean_and_the_counts_of_its_topics():
    """q1 scores 1/2, q2 1, q3 is not answered, q4 has no relevant text."""
    tags = evaluate(GOLD, RUN, ["spanR"]).by_tag()
    assert {tag: part.means()["run"]["spanR"] for tag, part in tags.items()} == {"law": 0.75, "short": 0.5}
    law, short = tags["law"].counts[0], tags["short"].counts[0]
    assert (law.topics, law.missing, law.excluded, law.unjudged) == (2, 0, 0, 1)
    assert (short.topics, short.missing, short.excluded, short.unjudged) == (2, 1, 1, 0)


def test_every_tag_counts_its_own_results_without_text_or_place():
    run = run_of({"q1": [("a", 0, 50), ("a", 7, 7), ("a", -1, -1)], "q2": [("a", 0, 50), ("a", 9, 9), ("a", 3, 3)]})
    scores = evaluate(GOLD, run, ["spanR"])
    tags = {tag: part.counts[0] for tag, part in scores.by_tag().items()}
    assert {tag: (c.empty, c.unplaced) for tag, c in tags.items()} == {"law": (3, 1), "short": (2, 0)}
    assert (scores.counts[0].empty, scores.counts[0].unplaced) == (3, 1)
    shown = scores.to_json(by_tag=True)["runs"][0]
    assert (shown["empty"], shown["tags"]["short"]["empty"]) == (3, 2)
    assert "unplaced" not in shown["tags"]["short"]


def test_skipped_topics_are_skipped_in_every_tag():
    short = evaluate(GOLD, RUN, ["spanR"], missing="skip").by_tag()["short"]
    assert (short.counts[0].topics, short.means()["run"]["spanR"]) == (1, 1.0)


def test_a_gold_without_tags_says_so():
    with pytest.raises(MissingDataError, match="no topic of the gold has a tag"):
        evaluate(gold_of({"q": {"a": {"spans": [(0, 9)]}}}), run_of({"q": [("a", 0, 9)]}), ["spanR"]).by_tag()


@pytest.fixture
def files(tmp_path):
    write_gold(GOLD, tmp_path / "gold.jsonl", "gold-jsonl")
    (tmp_path / "run.jsonl").write_text(json.dumps({"topic": "q1", "doc": "a", "start": 0, "end": 50}) + "\n")
    return [str(tmp_path / "gold.jsonl"), str(tmp_path / "run.jsonl")]


def shown(files, *options):
    done = CliRunner().invoke(main, ["score", *files, "-m", "spanR", "--by-tag", *options])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_our_jsonl_keeps_tags(files):
    assert read_gold(files[0]).attributes == GOLD.attributes


@pytest.mark.parametrize("tags", ['"law"', "[1]", '["a,b"]', '[""]'])
def test_tags_that_are_no_words_are_refused_at_their_line(tmp_path, tags):
    path = tmp_path / "gold.jsonl"
    path.write_text(f'{{"topic": "q1", "doc": "a", "spans": [{{"start": 0, "end": 9}}], "tags": {tags}}}\n')
    with pytest.raises(FormatError, match=r"gold.jsonl:1: expected a list of words without commas as 'tags'"):
        read_gold(path)


def test_json_holds_the_tags_of_every_run(files):
    run = json.loads(shown(files, "--format", "json"))["runs"][0]
    assert run["tags"]["law"]["measures"] == {"spanR": 0.25}
    assert run["tags"]["short"]["topics"] == 2


def test_csv_has_a_row_for_every_tag_and_one_for_all(files):
    lines = [line for line in shown(files, "--format", "csv").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert [(row["tag"], row["spanR"], row["topics"]) for row in rows] == [
        ("law", "0.2500", "2"),
        ("short", "0.0000", "2"),
        ("all", "0.1667", "3"),
    ]


@pytest.mark.parametrize("layout", ["table", "markdown", "latex", "trec"])
def test_every_layout_names_the_tags_and_the_signature(files, layout):
    text = shown(files, "--format", layout)
    assert "law" in text
    assert "short" in text
    assert "overlap:once" in text


def test_topics_and_tags_together_are_json_alone(files):
    done = CliRunner().invoke(main, ["score", *files, "-m", "spanR", "--by-tag", "--per-topic"])
    assert done.exit_code == 2
    both = json.loads(shown(files, "--per-topic", "--format", "json"))["runs"][0]
    assert {"per_topic", "tags"} <= both.keys()
