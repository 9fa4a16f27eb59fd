"""``focuseval score``: the contract that scripts depend on."""

import json
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.cli import score as score_command
from focuseval.engine import workers

QRELS = "1 Q0 d1 100 400 50 50:60 200:40\n1 Q0 d2 50 100 0 0:50\n1 Q0 d3 0 300\n2 Q0 d9 10 20 5 5:10\n3 Q0 d9 0 20\n"
RUN = "1 Q0 d1 1 4 R 40 80\n1 Q0 d3 2 3 R 0 50\n1 Q0 d2 3 2 R 0 100\n1 Q0 u7 4 1 R 200 40\n"


@pytest.fixture
def score(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)

    def call(*options, gold="qrels", run="run"):
        return CliRunner().invoke(main, ["score", str(tmp_path / gold), str(tmp_path / run), *options])

    call.folder = tmp_path
    return call


def test_json_is_the_documented_contract(score):
    result = score("-m", "charP", "-m", "AgP", "--format", "json", "--per-topic")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert list(found) == ["signature", "profile", "task", "gold_sha256", "docs_sha256", "runs"]
    run = found["runs"][0]
    assert {name: run[name] for name in ("run", "topics", "missing", "excluded", "unjudged")} == {
        "run": "R", "topics": 2, "missing": 1, "excluded": 1, "unjudged": 1,
    }  # fmt: skip
    assert list(run["measures"]) == ["charP", "AgP"]
    assert list(run["per_topic"]) == ["1", "2"]
    assert run["per_topic"]["2"] == {"charP": 0.0, "AgP": 0.0}
    assert run["measures"]["charP"] == pytest.approx(run["per_topic"]["1"]["charP"] / 2)


def test_keys_are_names_as_written_and_canonical_for_a_profile(score):
    written = json.loads(score("-m", "MAgP( beta = 0.250 )", "--format", "json").stdout)
    assert list(written["runs"][0]["measures"]) == ["MAgP( beta = 0.250 )"]
    own = json.loads(score("--profile", "inex2009", "--task", "focused", "--format", "json").stdout)
    assert list(own["runs"][0]["measures"]) == ["iP@0.01", "iP@0", "iP@0.05", "iP@0.1", "MAiP"]
    assert (own["profile"], own["task"]) == ("inex2009", "focused")


def test_a_profiles_policies_stay_when_its_measures_are_replaced(score):
    def value(*options):
        return json.loads(score(*options, "--format", "json").stdout)["runs"][0]["measures"]

    by_policy = value("--profile", "inex2009", "--task", "relevant-in-context", "-m", "MAgP")["MAgP"]
    by_name = value("-m", "MAgP(beta=0.25)")["MAgP(beta=0.25)"]
    assert by_policy == by_name != value("-m", "MAgP")["MAgP"]


@pytest.mark.parametrize("layout", ["table", "csv", "trec", "markdown", "latex"])
@pytest.mark.parametrize("topics", [(), ("--per-topic",)])
def test_every_layout_shows_the_mean_with_its_counts(score, layout, topics):
    result = score("-m", "charR", "--format", layout, *topics)
    assert result.exit_code == 0, result.output
    assert "charR" in result.stdout
    if layout != "csv" or not topics:
        for word in ("topics", "missing", "excluded", "unjudged", "missing:zero"):
            assert word in result.stdout


def test_a_long_table_carries_counts_and_signature_with_its_means(score):
    rows = score("-m", "charP", "--format", "csv", "--per-topic").stdout.splitlines()
    assert rows[0] == "run,topic,measure,value,signature"
    counts = [row.split(",")[:4] for row in rows if ",all," in row and ",charP," not in row]
    expected = {"topics": "2", "missing": "1", "excluded": "1", "unjudged": "1"}
    assert counts == [["R", "all", name, number] for name, number in expected.items()]
    assert all(",focuseval:" in row for row in rows[1:])


def test_missing_topics_can_be_left_out(score):
    zero, skip = (
        json.loads(score("-m", "charR", "--missing", how, "--format", "json").stdout)["runs"][0]
        for how in ("zero", "skip")
    )
    assert skip["measures"]["charR"] == 2 * zero["measures"]["charR"]
    assert (zero["topics"], skip["topics"], skip["missing"]) == (2, 1, 1)


def test_output_appears_in_a_file_and_nothing_on_stdout(score):
    target = score.folder / "scores.json"
    result = score("-m", "charR", "--format", "json", "-o", str(target))
    assert result.stdout == ""
    assert json.loads(target.read_text())["runs"][0]["run"] == "R"


def test_curves_are_written_as_a_long_table(score):
    target = score.folder / "curves.csv"
    assert score("-m", "MAiP", "-m", "MAgP", "--curves", str(target)).exit_code == 0
    head, *rows = target.read_text().splitlines()
    assert head == '"measure","run","topic","x","y"'
    assert len(rows) == 2 * 3 * 101
    assert {row.split(",")[2] for row in rows} == {'"1"', '"2"', '"mean"'}


def test_curves_leave_out_the_topics_that_the_mean_leaves_out(score):
    target = score.folder / "curves.csv"
    result = score("-m", "MAiP", "--missing", "skip", "--curves", str(target), "--format", "csv")
    mean = [float(row.split(",")[4]) for row in target.read_text().splitlines() if '"mean"' in row]
    assert sum(mean) / 101 == pytest.approx(float(result.stdout.splitlines()[1].split(",")[1]))
    assert '"2"' not in target.read_text()


def test_curves_of_runs_with_the_same_id_are_told_apart_as_their_means_are(score):
    target, other = score.folder / "curves.csv", score.folder / "other"
    other.write_text(RUN)
    assert score("-m", "MAiP", "--curves", str(target), str(other)).exit_code == 0
    runs = {row.split(",")[1] for row in target.read_text().splitlines()[1:]}
    assert runs == {f'"R ({score.folder / name})"' for name in ("run", "other")}


def test_curves_need_a_file_of_their_own(score):
    target = str(score.folder / "x")
    assert score("-m", "MAiP", "--curves", target, "-o", target).exit_code == 2


@pytest.mark.parametrize("option", ["-o", "--curves"])
def test_an_input_is_not_written_over(score, option):
    assert score("-m", "MAiP", option, str(score.folder / "run")).exit_code == 2
    assert (score.folder / "run").read_text() == RUN


@pytest.mark.parametrize("layout", ["csv", "trec"])
@pytest.mark.parametrize("more", [[], ["--per-topic"]])
def test_a_measure_that_leaves_out_more_topics_says_so_in_every_layout(score, layout, more):
    (score.folder / "qrels").write_text("1 Q0 d 10 100 -1 0:10\n2 Q0 d 10 100 5 0:10\n")
    (score.folder / "run").write_text("1 Q0 d 1 1 R 0 10\n2 Q0 d 1 1 R 0 10\n")
    found = score("-m", "BEPD", "-m", "MAiP", "--format", layout, *more).stdout
    if layout == "csv" and not more:
        head, row = (line.split(",") for line in found.splitlines())
        assert dict(zip(head, row, strict=True))["excluded:BEPD"] == "1"
    else:
        assert any(
            "excluded:BEPD" in line and line.replace(",", "\t").split("\t")[2 + (layout == "csv")] == "1"
            for line in found.splitlines()
        )


def test_names_are_escaped_where_a_layout_reads_them_as_its_own(score):
    (score.folder / "run").write_text(RUN.replace(" R ", " a|b^c\\d "))
    assert r"| a\|b^c\\d |" in score("-m", "AP", "--format", "markdown").stdout
    assert r"a$|$b\textasciicircum{}c\textbackslash{}d &" in score("-m", "AP", "--format", "latex").stdout


def test_a_repaired_run_is_told_by_the_signature(score):
    (score.folder / "run").write_text(RUN + "1 Q0 d1 5 0 R 100 30\n")
    assert "|repair:yes" in score("--task", "focused", "--repair").stdout
    assert "repair" not in score("-m", "MAiP").stdout


def test_results_without_characters_are_counted_among_others(score):
    (score.folder / "run").write_text(RUN + "1 Q0 d9 5 0 R 100 0\n1 Q0 d8 6 0 R 7\n")
    result = score("-m", "charP", "--format", "json")
    assert json.loads(result.stdout)["runs"][0]["empty"] == 2
    assert "R: 2 results hold no characters; they cost and gain nothing" in result.stderr


def test_a_program_without_a_standard_output_writes_its_file(score):
    target = score.folder / "out.json"
    command = [sys.executable, "-m", "focuseval", "score", *(str(score.folder / name) for name in ("qrels", "run"))]
    line = shlex.join([*command, "-m", "MAiP", "-o", str(target)]) + " >&-"
    done = subprocess.run(line, shell=True, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "MAiP" in target.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "MAgPP"], "did you mean MAgP"),
        (["-m", "iP"], "expected a cut-off"),
        (["-m", "iP@2"], "recall level from 0 to 1"),
        (["-m", "MAgP(beta=nan)"], "expected a number"),
        (["-m", "MAgP(gain=weight)"], "expected one of documents, length"),
        (["-m", "AP(k=3)"], "no parameter"),
        (["--profile", "inex2005x"], "did you mean inex2005"),
        (["--profile", "inex2007", "--task", "thorough"], "has no task"),
        (["--task", "sleeping"], "expected a task"),
        (["--cas", "strict", "-m", "AP"], "--topics"),
        (["-m", "charP", "--curves", "x.csv"], "summarises a curve"),
        (["-m", "iP@0.3333333333"], "(9 decimals at most)"),
        (["-m", "iP@1e-400000000"], "recall level from 0 to 1"),
        (["-m", "P@99999999999999999999999"], "1000000 at most"),
        (["-m", "spanR@99999999999999999999999c"], "a budget of characters"),
        (["-m", "MAgP(beta=1e300)"], "expected a number up to 1000000000"),
        (["-m", "MAgP(beta=1_0)"], "expected a number"),
        (["-m", "MAgP(beta=1,beta=2)"], "'beta' is given twice"),
        (["-m", "MAiP", "--cutoff", "99999999999999999999999"], "use 1 to 1000000000"),
    ],
)
def test_bad_requests_end_with_one_line_and_exit_code_2(score, options, said):
    result = score(*options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "spanR@50w"], "--docs"),
        (["-m", "MAiP", "--curves", "no/such/folder/x.csv"], "no/such/folder/x.csv"),
    ],
)
def test_what_the_files_do_not_allow_ends_with_one_line_and_exit_code_1(score, options, said):
    result = score(*options)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert said in result.stderr


def test_an_unlawful_run_is_refused_and_the_remedies_named(score):
    (score.folder / "run").write_text(RUN + "1 Q0 d1 5 0 R 100 30\n")
    result = score("--task", "focused")
    assert result.exit_code == 1
    assert "focuseval validate" in result.stderr
    assert "--repair" in result.stderr
    assert score("--task", "focused", "--repair").exit_code == 0


def test_gold_without_the_tasks_data_is_refused_in_one_line(score):
    (score.folder / "trec").write_text("1 0 d1 1\n")
    result = score("-m", "iP@0.01", gold="trec")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "no highlighted passages" in result.stderr


def test_several_runs_in_parallel_score_as_one_by_one(score):
    (score.folder / "other").write_text(RUN.replace(" R ", " S "))
    both = [str(score.folder / "other"), "-m", "MAiP", "--format", "json"]
    assert score(*both, "--jobs", "2").stdout == score(*both).stdout


@pytest.mark.parametrize("command", [["measures"], ["measures", "MAgP"], ["profiles"], ["profiles", "inex2006"]])
def test_what_there_is_can_be_listed_and_explained(command):
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0
    assert "MAgP" in result.stdout or "inex2006" in result.stdout


def test_an_empty_submission_is_scored_and_said_to_be_empty(score):
    (score.folder / "empty.xml").write_text('<inex-submission run-id="E"><topic topic-id="1"/></inex-submission>')
    result = score("-m", "AP", "--format", "json", run="empty.xml")
    assert result.exit_code == 0
    assert result.stderr == f"{score.folder / 'empty.xml'}: the run returns no result for any topic\n"
    assert json.loads(result.stdout)["runs"][0]["missing"] == 2


def test_many_runs_are_scored_by_other_processes_where_there_is_much_to_do(score, monkeypatch):
    run = str(score.folder / "run")
    assert score_command.default_jobs((run, run)) == 1
    monkeypatch.setattr(score_command, "SMALL", 10)
    assert score_command.default_jobs((run, run)) == workers.cores()
    assert score_command.default_jobs((run,)) == 1
    both = [score("--format", "csv", "--jobs", jobs, run).stdout for jobs in ("1", "2")]
    assert both[0] == both[1] == score("--format", "csv", run).stdout
