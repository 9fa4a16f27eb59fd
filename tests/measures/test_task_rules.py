"""Every rule of every task, against an oracle and by hand."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.errors import UsageError
from focuseval.measures import tasks as module
from focuseval.measures.checks import check, repair
from focuseval.measures.tasks import TASKS, find_task
from oracle import task as oracle
from strategies.runs_of_tasks import as_run, lists, result

tasks = st.sampled_from(TASKS).flatmap(lambda task: st.sampled_from([task, dataclasses.replace(task, limit=4)]))


def rules_of(task):
    return {"limit": task.limit, "may_overlap": task.overlap, "grouped": task.grouped, "single": task.one_per_article}


def found(findings):
    return sorted((finding.rule, finding.line - 1) for finding in findings)


@given(lists, tasks, st.booleans())
def test_a_check_finds_what_the_oracle_finds(topics, task, ranks):
    findings = check(as_run(topics, ranks=ranks), task)
    first = np.cumsum([0, *map(len, topics)])
    expected = [
        (rule, i + int(first[code]))
        for code, results in enumerate(topics)
        for rule, i in oracle.broken(results, **rules_of(task))
    ]
    assert found(findings) == sorted(expected)
    assert sum(findings.counts.values()) == len(findings) == len(expected)


@given(lists, tasks, st.booleans())
def test_a_repaired_run_is_valid_and_keeps_what_the_oracle_keeps(topics, task, ranks):
    run = as_run(topics, ranks=ranks)
    valid, changes = repair(run, task)
    assert set(check(valid, task).counts) <= ({"score-order"} if task.grouped else set())
    first = np.cumsum([0, *map(len, topics)])
    kept = [i + int(first[code]) for code, r in enumerate(topics) for i in oracle.kept(r, **rules_of(task))]
    assert (valid.line - 1).tolist() == kept
    gone = set(range(len(run))) - set(kept)
    assert {change.line - 1 for change in changes if change.what.startswith("dropped")} == gone
    assert repair(valid, task)[1].counts == {}


@given(lists, tasks)
def test_a_repair_tells_of_every_rank_and_score_it_changed(topics, task):
    run = as_run(topics)
    valid, changes = repair(run, task)
    rows = valid.line - 1
    told = {(change.rule, change.line - 1) for change in changes}
    rank = {("renumbered", int(row)) for row in rows[valid.rank != run.rank[rows]]}
    assert {pair for pair in told if pair[0] == "renumbered"} == rank
    score = {int(row) for row in rows[~(valid.score == run.score[rows])]}
    assert {row for rule, row in told if rule in {"bad-score", "score-order"}} >= score


def run_of(*results, **columns):
    return dataclasses.replace(as_run([list(results)]), **columns)


def test_a_nested_element_overlaps_and_a_namesake_prefix_does_not():
    run = run_of(
        result("d", 3.0, "/a[1]/b[1]"),
        result("d", 2.0, "/a[1]/b[10]"),
        result("d", 1.0, "/a/b[1]/c[2]"),
    )
    [finding] = check(run, "focused")
    assert str(finding) == (
        "run.txt:3: error: topic t0: expected no overlap, found d /a/b[1]/c[2] overlapping the result on line 1; "
        "keep the higher-ranked one [overlap]"
    )
    assert len(check(run, "thorough")) == 0


def test_a_missing_position_means_the_first_element():
    run = run_of(result("d", 2.0, "/a[1]/b[1]"), result("d", 1.0, "/a/b"))
    assert check(run, "thorough").counts == {"duplicate": 1}


def test_a_whole_document_overlaps_each_of_its_results():
    run = run_of(result("d", 2.0), result("d", 1.0), result("e", 0.5))
    assert check(run, "focused").counts == {"duplicate": 1}


@pytest.mark.parametrize(
    ("ranks", "counts"),
    [
        ([1, 2, 3], {}),
        ([0, 1, 2], {}),
        ([1, 1, 2], {"rank-repeats": 1}),
        ([1, 2, 4], {"rank-jumps": 1}),
        ([2, 3, 4], {"rank-jumps": 1}),
        ([1, 1, 1], {"rank-repeats": 2}),
        ([5, 5, 9], {"rank-repeats": 1, "rank-jumps": 2}),
    ],
)
def test_ranks_that_repeat_or_jump_are_found(ranks, counts):
    run = run_of(*(result(f"d{n}", 1.0) for n in range(3)), rank=np.array(ranks, np.int32))
    assert check(run, "thorough").counts == counts
    valid, _ = repair(run, "thorough")
    assert check(valid, "thorough").counts == {}


@pytest.mark.parametrize("task", ["focused", "relevant-in-context"])
def test_rising_scores_are_a_warning(task):
    findings = check(run_of(result("d", 1.0), result("e", 2.0)), task)
    assert (findings.errors, findings.counts) == (0, {"score-order": 1})


def test_spans_that_run_backwards_or_start_below_zero_are_found():
    run = run_of(*(result("d", 1.0, None, span) for span in [(5, 5), (7, 3), (-4, 2), (0, 2**40), (1, 2)]))
    findings = check(run, "spans")
    assert (findings.counts, findings.errors) == ({"bad-span": 4}, 3)  # an empty span is a warning
    assert [int(line) for line in repair(run, "spans")[0].line] == [5]


def test_an_entry_point_has_no_extent_and_overlaps_nothing():
    run = run_of(result("d", 1.0, None, (5, -1)), result("d", 1.0, None, (2, 9)))
    assert check(run, "focused").counts == {}


def test_ranges_need_an_index_and_say_so():
    run = run_of(result("d", 1.0, "/a[1]/p[1]"), end_path=pa.array(["/a[1]/p[3]"]))
    findings = check(run, "focused")
    assert (findings.errors, findings.counts) == (0, {"unchecked": 1})


def test_texts_without_offsets_need_the_documents_and_say_so():
    run = run_of(result("d", 1.0), result("d", 1.0), text=pa.array(["Stir well.", "well. Serve."]))
    assert (check(run, "focused").errors, check(run, "focused").counts) == (0, {"unchecked": 2})
    assert check(run, "thorough").counts == {}


def test_an_empty_run_is_valid():
    for task in TASKS:
        assert len(check(as_run([[]]), task)) == 0
        assert len(repair(as_run([[]]), task)[0]) == 0


def test_very_many_findings_are_counted_without_being_spelled_out():
    size = 200_000
    one = as_run([[result("d", 1.0)]])
    run = dataclasses.replace(
        one,
        topic=np.zeros(size, np.int32),
        document=pa.array(["d"]).take(pa.array(np.zeros(size, np.int64))),
        rank=np.arange(1, size + 1, dtype=np.int32),
        score=np.ones(size),
    )
    findings = check(run, "focused")
    assert findings.counts == {"duplicate": size - 1, "too-many": size - 1500}
    assert [finding.line for finding in findings[:2]] == [2, 3]


def test_task_names_are_read_as_run_files_write_them():
    names = ["Thorough ", "COS.Focussed", "relevant in context", "BestInContext", "CO.FetchBrowse", "SPANS"]
    assert [find_task(name).name for name in names] == [task.name for task in TASKS]
    with pytest.raises(UsageError, match="found 'browse'"):
        find_task("browse")


def test_every_rule_has_its_own_name_and_a_remedy():
    rules = [rule for rule in vars(module).values() if isinstance(rule, module.Rule) and rule is not module.RENUMBERED]
    assert len({rule.name for rule in rules}) == len(rules) == 16
    assert all(rule.remedy and "expected" in rule.what and "found" in rule.what for rule in rules)
