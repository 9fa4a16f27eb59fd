"""The papers' figures of golds, runs and topics, counted by hand."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given

from focuseval.cli import main
from focuseval.collection.documents import open_documents
from focuseval.data.topics import Topic
from focuseval.evaluation.statistics import describe_gold, describe_run, describe_topics
from focuseval.formats import read_gold
from oracle.task import overlap
from strategies.runs_of_tasks import as_run, lists, result

ARTICLE = "<a><p>one <link>two</link></p><p>three</p></a>"
"""Text: ``one twothree``; the paragraphs are 0–7 and 7–12, the link 4–7."""

GOLD = """\
{"topic":"1","doc":"d1","spans":[{"start":4,"end":12}],"bep":4}
{"topic":"1","doc":"d2","spans":[{"start":0,"end":2},{"start":4,"end":7}],"bep":3}
{"topic":"2","doc":"d1","spans":[]}
"""

ASSESSMENTS = """\
<assessments pool="7" topic="401" version="2"><file collection="c" name="d1">
<best-entry-point path="/a[1]/p[1]"/>
<passage start="/a[1]/p[1]/text()[1].0" end="/a[1]/p[2]/text()[1].2" size="9"/>
<element path="/a[1]" exhaustivity="2" size="12" rsize="9"/>
<element path="/a[1]/p[1]" exhaustivity="2" size="7" rsize="7"/>
<element path="/a[1]/p[1]/link[1]" exhaustivity="2" size="3" rsize="3"/>
</file><file collection="c" name="d2"></file></assessments>
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("d1", "d2"):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / f"{name}.xml").write_text(ARTICLE)
    (tmp_path / "gold.jsonl").write_text(GOLD)
    (tmp_path / "401.xml").write_text(ASSESSMENTS)
    (tmp_path / "run.txt").write_text("1 Q0 d1 1 2 R /a[1]/p[1]\n1 Q0 d1 2 1 R /a[1]\n2 Q0 d1 1 1 R /a[1]\n")
    (tmp_path / "topics.xml").write_text('<topic id="1"><title>x y</title><castitle>//p</castitle></topic>')
    return tmp_path


def test_a_gold_of_spans_is_counted_by_hand(folder):
    index = open_documents(folder / "docs")
    found = describe_gold(read_gold(folder / "gold.jsonl", index=index), index)
    assert (found["topics"], found["topics_with_relevance"]) == (2, 1)
    assert (found["articles"], found["relevant_articles"], found["articles_per_topic"]) == (3, 2, 1.5)
    assert (found["passages"], found["passages_per_topic"], found["passages_per_article"]) == (3, 3.0, 1.5)
    assert (found["highlighted_characters"], found["passage_size_median"], found["passage_size_largest"]) == (
        13,
        3.0,
        8,
    )
    assert found["passage_size_mean"] == pytest.approx(13 / 3)
    assert (found["highlighted_characters_per_topic"], found["highlighted_characters_per_article"]) == (13.0, 6.5)
    assert (found["fully_highlighted"], found["fully_highlighted_tags"]) == (3, (("link", 2), ("p", 1)))
    assert found["fully_highlighted_links"] == pytest.approx(2 / 3)
    assert (found["entry_points"], found["entry_points_at_first_relevant"]) == (2, 0.5)


def test_a_gold_of_sizes_tells_fully_highlighted_elements_itself(folder):
    found = describe_gold(read_gold(folder / "401.xml"))
    assert (found["passages"], found["highlighted_characters"], found["assessed_elements"]) == (1, 9, 3)
    assert (found["fully_highlighted"], found["fully_highlighted_links"]) == (2, 0.5)
    assert (found["entry_points"], found["entry_points_at_first_relevant"]) == (1, None)


def test_a_gold_of_spans_without_index_says_what_it_does_not_know(folder):
    found = describe_gold(read_gold(folder / "gold.jsonl"))
    assert (found["fully_highlighted"], found["fully_highlighted_links"], found["fully_highlighted_tags"]) == (
        None,
        None,
        (),
    )


@given(lists)
def test_the_share_of_overlapping_results_is_that_of_pairwise_comparison(topics):
    run = as_run(topics)
    clash = [
        any(overlap(one, other) for j, other in enumerate(results) if i != j)
        for results in topics
        for i, one in enumerate(results)
    ]
    expected = sum(clash) / len(clash) if clash else None
    assert describe_run(run)["overlapping"] == expected


def test_a_run_is_counted_by_hand():
    run = as_run([[result("d", 2.0, "/a[1]/sec[2]"), result("d", 1.0, "/a[1]"), result("e", 1.0, "/a/p")], []])
    found = describe_run(dataclasses.replace(run, document=run.document.dictionary_encode()))
    assert (found["topics"], found["results"], found["documents"]) == (2, 3, 2)
    least, mean, most = (
        found["results_per_topic_least"],
        found["results_per_topic_mean"],
        found["results_per_topic_most"],
    )
    assert (least, mean, most) == (0, 1.5, 3)
    assert found["overlapping"] == pytest.approx(2 / 3)
    assert found["mean_depth"] == pytest.approx(5 / 3)
    assert (found["depths"], found["tags"]) == (((1, 1), (2, 2)), (("a", 1), ("p", 1), ("sec", 1)))


def test_chunked_and_encoded_paths_are_counted_alike():
    run = as_run([[result("d", 2.0, "/a[1]/sec[2]"), result("d", 1.0, "/a[1]")]])
    plain = describe_run(run)
    for path in (
        run.path.dictionary_encode(),
        pa.chunked_array([run.path]),
        pa.chunked_array([run.path.dictionary_encode()]),
    ):
        assert describe_run(dataclasses.replace(run, path=path)) == plain


def test_a_run_of_nothing_has_no_means():
    found = describe_run(as_run([[]]))
    assert (found["results"], found["overlapping"], found["mean_depth"], found["tags"]) == (0, None, None, ())


def test_topics_are_counted_by_kind_target_and_fate():
    topics = [
        Topic("1", "CO", title="a b c", attributes={"status": "selected"}),
        Topic("2", "CO+S", title="a", castitle="//sec[about(., x)]"),
        Topic("3", "CAS", castitle="//sec", attributes={"status": "selected assessed"}),
    ]
    found = describe_topics(topics)
    assert (found["topics"], found["with_castitle"]) == (3, 2)
    assert found["kinds"] == (("CAS", 1), ("CO", 1), ("CO+S", 1))
    assert found["targets"] == (("//sec", 2),)
    assert found["statuses"] == (("selected", 2), ("assessed", 1))
    assert found["terms_per_topic"] == pytest.approx(4 / 3)


def test_stats_tells_every_kind_of_file_by_its_content(folder):
    files = ["gold.jsonl", "401.xml", "run.txt", "topics.xml"]
    answer = CliRunner().invoke(
        main, ["stats", *(str(folder / file) for file in files), "--json"], catch_exceptions=False
    )
    said = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [figures["kind"] for figures in said] == ["gold", "gold", "run", "topics"]
    assert said[2]["overlapping"] == pytest.approx(2 / 3)


def test_stats_draws_tables_and_uses_documents(folder):
    arguments = ["stats", str(folder / "gold.jsonl"), "--docs", str(folder / "docs")]
    answer = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert answer.exit_code == 0
    assert "66.7 %" in answer.stdout
    assert "fully highlighted links" in answer.stdout


def test_stats_of_an_index_are_the_collections(folder):
    index = folder / "all.idx"
    runner = CliRunner()
    runner.invoke(main, ["index", str(folder / "docs"), "-o", str(index)], catch_exceptions=False)
    answer = runner.invoke(main, ["stats", str(index), "--json"], catch_exceptions=False)
    said = json.loads(answer.stdout)
    assert (said["kind"], said["documents"], said["elements"], said["mean_depth"]) == ("index", 2, 8, 2.0)
    assert np.isclose(said["mean_length"], 12)


@pytest.mark.parametrize("name", ["run.txt", "gold.jsonl", "401.xml", "topics.xml"])
def test_a_file_from_standard_input_is_described_as_from_disk(folder, name):
    said, piped = (
        CliRunner().invoke(main, ["stats", path, "--docs", str(folder / "docs"), "--json"], input=given)
        for path, given in ((str(folder / name), None), ("-", (folder / name).read_bytes()))
    )
    assert piped.exit_code == 0, piped.output
    assert json.loads(piped.output) == json.loads(said.output) | {"file": "-"}
