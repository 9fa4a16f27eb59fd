"""Checks and repairs that need the collection: unknown documents and paths, spans past the end, overlap by text."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from focuseval.collection.documents import open_documents
from focuseval.measures.checks import check, repair
from focuseval.measures.tasks import TASKS
from strategies.runs_of_tasks import as_run, lists, result

ARTICLE = "<a><sec><p>one</p><p>two</p></sec><sec><p>three</p><e/></sec></a>"
"""Text: onetwothree; sections 0–6 and 6–11, the second of them with an empty element."""


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("articles")
    for name in ("d1", "d2"):
        (folder / f"{name}.xml").write_text(ARTICLE)
    return open_documents(folder)


def run_of(*results, **columns):
    return dataclasses.replace(as_run([list(results)]), **columns)


def test_unknown_documents_and_paths_are_found_and_dropped(index):
    run = run_of(
        result("d1", 3.0, "/a[1]/sec[1]"),
        result("nowhere", 2.0, "/a[1]"),
        result("d2", 1.0, "/a[1]/sec[3]"),
        result("d2.xml", 1.0, "/a[1]/sec[2]"),
    )
    findings = check(run, "focused", index)
    assert findings.counts == {"unknown-document": 1, "unknown-path": 1}
    assert [finding.line for finding in findings] == [2, 3]
    valid, changes = repair(run, "focused", index)
    assert valid.line.tolist() == [1, 4]
    assert changes.counts == {"unknown-document": 1, "unknown-path": 1, "renumbered": 1}


def test_two_names_of_one_document_are_one_document(index):
    run = run_of(result("d1", 2.0, "/a[1]"), result("d1.xml", 1.0, "/a[1]"))
    assert check(run, "thorough", index).counts == {"duplicate": 1}


def test_spans_past_the_end_are_found(index):
    run = run_of(result("d1", 2.0, None, (6, 11)), result("d1", 1.0, None, (6, 12)))
    assert check(run, "spans", index).counts == {"bad-span": 1}


def test_elements_ranges_and_pointers_overlap_by_their_text(index):
    paths = ["/a[1]/sec[1]/p[2]", "/a[1]/sec[1]/p[1]", "/a[1]/sec[2]/p[1]/text()[1].0", "/a[1]/sec[2]/e[1]"]
    ends = [None, "/a[1]/sec[1]/p[2]", "/a[1]/sec[2]/p[1]/text()[1].5", None]
    run = run_of(*(result("d1", 1.0, path) for path in paths), end_path=pa.array(ends, pa.string()))
    findings = check(run, "focused", index)
    assert [(finding.rule, finding.line) for finding in findings] == [("overlap", 2)]
    assert repair(run, "focused", index)[0].line.tolist() == [1, 3, 4]


def test_a_passage_that_ends_before_it_starts_is_found_by_the_index_alone(index):
    paths, ends = "/a[1]/sec[2]/p[1]/text()[1].1", "/a[1]/sec[1]/p[1]/text()[1].2"
    run = run_of(result("d1", 1.0, paths), end_path=pa.array([ends], pa.string()))
    assert check(run, "focused", index).counts == {"bad-span": 1}
    assert check(run, "focused").counts == {"unchecked": 1}


def test_a_best_result_that_lies_nowhere_gives_way_to_the_next(index):
    run = run_of(result("d1", 2.0, "/a[1]/nothing[1]"), result("d1", 1.0, "/a[1]/sec[1]"))
    assert repair(run, "best-in-context", index)[0].line.tolist() == [2]


@settings(max_examples=15)
@given(lists)
def test_a_repair_with_an_index_leaves_nothing_to_find(index, topics):
    run = as_run(topics)
    for task in TASKS:
        valid, _ = repair(run, task, index)
        assert set(check(valid, task, index).counts) <= ({"score-order"} if task.grouped else set())
        assert np.all(np.diff(valid.topic) >= 0)
