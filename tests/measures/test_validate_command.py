"""``focuseval validate``: exit codes, limits, JSON, repairs that reach the disk."""

import json
import math

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from focuseval.cli import main
from focuseval.formats import read_run
from focuseval.formats.convert import write_run
from focuseval.measures.tasks import TASKS
from strategies.runs_of_tasks import as_run, elements

LINES = """\
1 Q0 d1 1 9 R /a[1]/b[1]
1 Q0 d2 2 8 R /a[1]
1 Q0 d1 3 7 R /a[1]/b[1]/c[1]
1 Q0 d1 5 6 R /a[1]/b[2]
"""

XML = """<inex-submission run-id="R"><topic topic-id="1"><result><file>d1</file><path>/a[1]</path><rank>1</rank>\
<rsv>9</rsv></result>
<result><file>d2</file><path>/a[1]</path><rank>2</rank><rsv>nan</rsv></result></topic></inex-submission>
"""


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "run.txt"
    file.write_text(LINES)
    return str(file)


def focuseval(*arguments, **keywords):
    return CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False, **keywords)


def test_a_valid_run_is_called_valid_with_counts(tmp_path):
    file = tmp_path / "run.txt"
    file.write_text(LINES.replace("d1 5", "d1 4"))
    answer = focuseval("validate", file, "--task", "thorough")
    assert answer.exit_code == 0
    assert answer.stdout == f"{file}: 4 results, 1 topic: valid for task thorough\n"


def test_every_finding_has_line_topic_rule_and_remedy(run):
    answer = focuseval("validate", run, "--task", "relevant-in-context")
    assert answer.exit_code == 1
    lines = answer.stdout.splitlines()
    assert lines[0].startswith(f"{run}:3: error: topic 1: expected the results of d1 together (first on line 1)")
    assert lines[1].startswith(f"{run}:3: error: topic 1: expected no overlap, found d1 /a[1]/b[1]/c[1] overlapping")
    expected = "topic 1: expected consecutive ranks, found rank 5 after a gap; renumber [rank-jumps]"
    assert lines[2] == f"{run}:4: warning: {expected}"
    assert [line.split() for line in lines[3:6]] == [
        ["1", "rank-jumps", "(warning)"],
        ["1", "interleaved", "(error)"],
        ["1", "overlap", "(error)"],
    ]


def test_a_limit_cuts_the_list_but_not_the_counts(run):
    answer = focuseval("validate", run, "--task", "relevant-in-context", "--limit", 1)
    assert "… and 2 more" in answer.stdout
    assert answer.stdout.count("topic 1:") == 1
    assert "not valid for task relevant-in-context: 2 errors and 1 warning" in answer.stdout


def test_json_has_the_counts_and_the_findings(run):
    answer = focuseval("validate", run, "--task", "focused", "--format", "json")
    said = json.loads(answer.stdout)
    assert (said["lawful"], said["counts"]) == (False, {"rank-jumps": 1, "overlap": 1})
    assert [finding["line"] for finding in said["findings"]] == [3, 4]


def test_a_repair_writes_a_valid_run_in_the_same_format_and_lists_every_change(run, tmp_path):
    out = tmp_path / "lawful.txt"
    answer = focuseval("validate", run, "--task", "relevant-in-context", "--repair", out)
    assert answer.exit_code == 0
    assert [line.split() for line in out.read_text().splitlines()] == [
        ["1", "Q0", "d1", "1", "9", "R", "/a[1]/b[1]"],
        ["1", "Q0", "d1", "2", "6", "R", "/a[1]/b[2]"],
        ["1", "Q0", "d2", "3", "8", "R", "/a[1]"],
    ]
    assert (
        f"{run}:3: change: topic 1: dropped: d1 /a[1]/b[1]/c[1] overlaps the result on line 1 [overlap]"
        in answer.stdout
    )
    assert f"{run}:4: change: topic 1: moved up to the other results of d1 [interleaved]" in answer.stdout
    assert f"{run}:2: change: topic 1: rank 2 renumbered [renumbered]" in answer.stdout
    assert focuseval("validate", out, "--task", "relevant-in-context").exit_code == 0


def test_an_unknown_task_is_wrong_usage_and_an_empty_file_wrong_input(run, tmp_path):
    answer = focuseval("validate", run, "--task", "browse")
    assert answer.exit_code == 2
    assert answer.stderr.startswith("expected a task (thorough, focused,")
    empty = tmp_path / "empty"
    empty.write_text("")
    assert focuseval("validate", empty, "--task", "focused").exit_code == 1
    assert focuseval("validate", run).exit_code == 2


def test_standard_input_is_checked_and_needs_a_format_to_be_repaired(tmp_path):
    assert focuseval("validate", "-", "--task", "focused", input=LINES).exit_code == 1
    out = tmp_path / "lawful.txt"
    assert focuseval("validate", "-", "--task", "focused", "--repair", out, input=LINES).exit_code == 2
    arguments = ("validate", "-", "--task", "focused", "--repair", out, "--run-format", "inex-text")
    assert focuseval(*arguments, input=LINES).exit_code == 0
    assert len(out.read_text().splitlines()) == 3


rows = st.lists(
    st.tuples(
        st.sampled_from("12"),
        st.sampled_from(["d1", "d2"]),
        st.integers(0, 4),
        st.integers(0, 5),
        st.sampled_from(["/a[1]", "/a[1]/b[1]", "/a[1]/b[2]", "/a[1]/b[1]/c[1]"]),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, st.sampled_from(TASKS))
def test_a_repaired_file_always_validates(tmp_path, results, task):
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("".join(f"{t} Q0 {doc} {rank} {score} R {path}\n" for t, doc, rank, score, path in results))
    assert focuseval("validate", source, "--task", task.name, "--repair", target).exit_code == 0
    strict = [] if task.grouped else ["--strict"]
    assert focuseval("validate", target, "--task", task.name, *strict).exit_code == 0


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(elements, st.sampled_from(TASKS), st.sampled_from(["inex-xml", "run-jsonl"]))
def test_a_repair_survives_being_written_and_read_in_every_format(tmp_path, topics, task, layout):
    finite = [[{**row, "score": 0.0 if math.isnan(row["score"]) else row["score"]} for row in rows] for rows in topics]
    source, target = tmp_path / "in", tmp_path / "out"
    assume(any(finite))
    write_run(as_run(finite), source, layout)
    assert focuseval("validate", source, "--task", task.name, "--repair", target).exit_code == 0
    assert focuseval("validate", target, "--task", task.name).exit_code == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1 Q0 d1 1 9 R\n1 Q0 d2 2 NaN R\n", "nan"),
        ("1 Q0 d1 1 9 R\n1 Q0 d2 2 Infinity R\n", "inf"),
        ("1 Q0 d1 1 9 R /a[1]\n1 Q0 d2 2 -inf R /a[1]\n", "-inf"),
        ('{"topic":"1","doc":"d1","rank":1,"score":9}\n{"topic":"1","doc":"d2","rank":2,"score":NaN}\n', "nan"),
        (XML, "nan"),
    ],
)
def test_a_score_that_is_no_number_is_found_in_every_format_and_repaired(tmp_path, text, found):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text(text)
    answer = focuseval("validate", source, "--task", "thorough")
    assert answer.exit_code == 1
    assert (
        f"{source}:2: error: topic 1: expected a finite score, found {found}; write a number [bad-score]"
        in answer.stdout
    )
    assert focuseval("validate", source, "--task", "thorough", "--repair", target).exit_code == 0
    first, second = read_run(target).score
    assert (first, second) == (9, pytest.approx(9, abs=1e-4))


def test_a_document_that_a_trec_run_repeats_is_found_and_dropped(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("1 Q0 d10 1 9 R\n1 Q0 d1 2 9 R\n2 Q0 d1 1 9 R\n1 Q0 d10 3 7 R\n")
    answer = focuseval("validate", source, "--task", "thorough")
    assert f"{source}:4: error: topic 1: expected each result once, found d10 (whole document) again" in answer.stdout
    assert focuseval("validate", source, "--task", "thorough", "--repair", target).exit_code == 0
    assert [line.split()[:4] for line in target.read_text().splitlines()] == [
        ["1", "Q0", "d10", "1"],
        ["1", "Q0", "d1", "2"],
        ["2", "Q0", "d1", "1"],
    ]


def test_what_no_reader_understands_is_still_one_line(tmp_path):
    source = tmp_path / "in"
    source.write_text("1 Q0 d1 1 nine R\n")
    answer = focuseval("validate", source, "--task", "thorough")
    assert (answer.exit_code, len(answer.stderr.splitlines()), answer.stdout) == (1, 1, "")


def test_texts_that_stand_nowhere_or_twice_are_found_with_the_documents(tmp_path):
    (tmp_path / "docs.jsonl").write_text(json.dumps({"id": "tea", "text": "Stir well. Serve. Stir well."}) + "\n")
    texts = ["Serve.", "Stir well.", "Add sugar, and a slice of lemon."]
    lines = [{"topic": "q", "doc": "tea", "rank": rank, "text": text} for rank, text in enumerate(texts, 1)]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = ("validate", tmp_path / "run.jsonl", "--task", "spans")
    assert focuseval(*given).exit_code == 0
    assert focuseval(*given, "--docs", tmp_path / "docs.jsonl", "--strict").exit_code == 1
    answer = focuseval(*given, "--docs", tmp_path / "docs.jsonl")
    assert answer.exit_code == 0
    assert [line.split(":")[1] for line in answer.stdout.splitlines()[:2]] == ["2", "3"]
    assert "topic q: expected a text of tea, found one that is nowhere in it, or in several" in answer.stdout
    assert "3 results: 1 exact, 1 ambiguous, 1 lost" in answer.stderr
    lawful = tmp_path / "lawful.jsonl"
    assert focuseval(*given, "--docs", tmp_path / "docs.jsonl", "--repair", lawful).exit_code == 0
    assert [json.loads(line)["start"] for line in lawful.read_text().splitlines()] == [11]


def test_texts_whose_overlap_only_the_documents_tell_are_warnings(tmp_path):
    (tmp_path / "docs.jsonl").write_text(json.dumps({"id": "tea", "text": "Stir well. Serve."}) + "\n")
    lines = [{"topic": "q", "doc": "tea", "text": text} for text in ("Stir well.", "well. Serve.")]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = ("validate", tmp_path / "run.jsonl", "--task", "focused")
    answer = focuseval(*given)
    said = "expected documents to tell where tea (text) lies, found none: its overlap is not checked"
    assert f"{said}; give --docs or --index [unchecked]" in answer.stdout
    assert (answer.exit_code, answer.stdout.endswith(": valid for task focused: 2 warnings\n")) == (0, True)
    assert focuseval(*given, "--strict").exit_code == 1
    assert focuseval(*given, "--docs", tmp_path / "docs.jsonl").stdout.endswith(": 1 error\n")


def test_a_run_without_topics_is_not_valid(tmp_path):
    file = tmp_path / "run.xml"
    file.write_text('<inex-submission participant-id="1" run-id="R" task="Focused"></inex-submission>')
    answer = focuseval("validate", file, "--task", "focused")
    assert answer.exit_code == 1
    assert answer.stdout == f"{file}: 0 results, 0 topics: not valid for task focused: it answers no topic\n"
    assert json.loads(focuseval("validate", file, "--task", "focused", "--format", "json").stdout)["lawful"] is False


def test_warnings_are_marked_and_all_numbers_add_up(tmp_path):
    file = tmp_path / "run.txt"
    rows = ["d1 1 9 R /a[1]/b[1]", "d2 2 8 R /a[1]", "d1 3 9.5 R /a[1]/b[2]", "d1 3 9.4 R /a[1]/b[2]/text()[1].2"]
    file.write_text("".join(f"1 Q0 {row}\n" for row in rows))
    lines = focuseval("validate", file, "--task", "relevant-in-context").stdout.splitlines()
    said = json.loads(focuseval("validate", file, "--task", "relevant-in-context", "--format", "json").stdout)
    assert said["errors"] + said["warnings"] == sum(said["counts"].values()) == len(said["findings"])
    for level in ("error", "warning"):
        assert said[f"{level}s"] == sum(f": {level}: topic" in line for line in lines)
        assert said[f"{level}s"] == sum(int(line.split()[0]) for line in lines if line.endswith(f"({level})"))
    assert lines[-1].endswith(": 1 error and 2 warnings")
    assert (said["errors"], said["warnings"]) == (1, 2)


def test_repeated_json_keys_are_found(tmp_path):
    file = tmp_path / "run.jsonl"
    rows = [
        '{"topic":"1","doc":"a","rank":1}',
        '{"topic":"1","doc":"b","rank":2,"doc":"c"}',
        '{"topic":"2","doc":"a","rank":1,"rank":1}',
    ]
    file.write_text("\n".join(rows) + "\n")
    answer = focuseval("validate", file, "--task", "thorough", "--strict")
    assert answer.exit_code == 1
    assert f"{file}:2: warning: topic 1: expected each JSON key once, found a key again" in answer.stdout
    assert "2  repeated-key (warning)" in answer.stdout
    file.write_text(rows[0] + "\n")
    assert focuseval("validate", file, "--task", "thorough").exit_code == 0
