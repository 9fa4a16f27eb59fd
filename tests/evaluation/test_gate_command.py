"""The gate never passes by accident: whatever goes wrong is exit code 2, one line, and no verdict."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner

import focuseval.cli.gate
from focuseval.cli import main
from focuseval.evaluation.gate import read_baseline
from focuseval.example import ROOT as EXAMPLE
from focuseval.formats.content import write_whole
from focuseval.inference.regression import GateRule

QRELS = "".join(f"{t} 0 d{d} {int(d == t % 3)}\n" for t in range(8) for d in range(6))


def run_text(shift):
    ranks = {t: [*range(shift, 6), *range(shift)] for t in range(8)}
    return "".join(f"{t} Q0 d{d} {r + 1} {-r} R\n" for t, docs in ranks.items() for r, d in enumerate(docs))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for name, text in {"qrels": QRELS, "good": run_text(0), "bad": run_text(3)}.items():
        (tmp_path / name).write_text(text)
    given = ["score", "qrels", "good", "-m", "AP", "-m", "RR", "--per-topic", "--format", "json", "-o", "base.json"]
    assert CliRunner().invoke(main, given).exit_code == 0
    return tmp_path


def gate(run, *options, measures=("AP",)):
    asked = [word for measure in measures for word in ("-m", measure)]
    return CliRunner().invoke(main, ["gate", "--baseline", "base.json", "qrels", run, *asked, *options])


def assert_no_verdict(done, words=""):
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("NO VERDICT ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_pass_and_a_regression_say_that_the_test_has_one_tail(files):
    assert gate("good").exit_code == 0
    assert gate("good").stdout.startswith("PASS AP: ")
    done = gate("bad")
    assert (done.exit_code, done.stdout[:14]) == (1, "REGRESSION AP:")
    assert "p of a drop 0.0039, randomisation, one-tailed at 0.05) over 8 topics; " in done.stdout  # 2^-8
    assert "p of a drop 0.0078, randomisation, two-tailed at 0.05)" in gate("bad", "--tails", "2").stdout


@pytest.mark.parametrize("effect", ["nan", "inf", "-inf", "NaN", "-0.1", "1e999", "much"])
def test_a_smallest_effect_that_is_no_size_gives_no_verdict(files, effect):
    for run in ("good", "bad"):
        assert_no_verdict(gate(run, "--min-effect", effect), "--min-effect")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--alpha", "nan"], "--alpha"),
        (["--seed", "-1"], "--seed"),
        (["--no-such-option"], "--no-such-option"),
        (["--format", "csv"], "--format"),
        (["more", "and more"], "extra argument"),
        (["-m", "nDCQ"], "nDCQ"),
        (["--profile", "nobodys"], "nobodys"),
        (["--junit", "no/such/folder/j.xml"], "no/such/folder"),
        (["--run-format", "x"], "x"),
    ],
)
def test_wrong_usage_is_one_line(files, options, words):
    assert_no_verdict(gate("good", *options), words)


def test_an_argument_that_is_missing_is_one_line(files):
    assert_no_verdict(CliRunner().invoke(main, ["gate", "qrels", "good"]), "--baseline")
    assert_no_verdict(CliRunner().invoke(main, ["gate", "--baseline", "base.json", "qrels"]), "RUN")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("NaN", "expected JSON, found NaN"),
        ("Infinity", "expected JSON, found Infinity"),
        ("-Infinity", "expected JSON, found -Infinity"),
        ("1e999", "expected a finite number for AP of topic 3, found Infinity"),
        ("null", "expected a finite number for AP of topic 3, found null"),
        ("true", "expected a finite number for AP of topic 3, found true"),
        ('"0.5"', 'expected a finite number for AP of topic 3, found "0.5"'),
        ("[0.5]", "expected a finite number for AP of topic 3, found [0.5]"),
        ('{"a": 1}', 'expected a finite number for AP of topic 3, found {"a": 1}'),
        ("1" + "0" * 400, "expected a finite number for AP of topic 3, found 1000"),
        ("1" + "0" * 5000, "expected JSON, found a number of thousands of digits"),
        ('0.5, "AP": 0.6', "expected JSON, found 'AP' twice"),
        ("[" * 100_000, "expected JSON, found"),
        ("0.5,}", "expected JSON, found"),
    ],
)
def test_a_baseline_with_anything_but_numbers_gives_no_verdict(files, value, found):
    document = json.loads((files / "base.json").read_text())
    document["runs"][0]["per_topic"]["3"]["AP"] = "HERE"
    (files / "base.json").write_text(json.dumps(document).replace('"HERE"', value))
    assert_no_verdict(gate("good"), found)
    assert_no_verdict(gate("bad"), found)


@pytest.mark.parametrize(
    ("place", "value", "found"),
    [
        ("per_topic", [], "expected values per topic, found means alone"),
        ("per_topic", None, "expected values per topic, found means alone"),
        ("per_topic", {}, "AP is not in the baseline"),
        ("per_topic", {"3": 0.5}, "expected the measures of topic 3, found none"),
        ("per_topic", {"3": {"AP": 0.5}}, "other topics than now under AP (7 differ, the first is 0)"),
        ("run", 5, ""),
    ],
)
def test_a_baseline_of_another_shape_gives_no_verdict(files, place, value, found):
    document = json.loads((files / "base.json").read_text())
    document["runs"][0][place] = value
    (files / "base.json").write_text(json.dumps(document))
    if found:
        assert_no_verdict(gate("good"), found)
    else:
        assert gate("good").exit_code == 0


@pytest.mark.parametrize(
    "change",
    [{"runs": [5]}, {"runs": "x"}, {"docs_sha256": [1]}, {"gold_sha256": None}, {"signature": 5}, {"signature": ""}],
)
def test_a_baseline_whose_ground_cannot_be_read_gives_no_verdict(files, change):
    document = json.loads((files / "base.json").read_text())
    (files / "base.json").write_text(json.dumps(document | change))
    for run in ("good", "bad"):
        assert_no_verdict(gate(run), "expected the signature of the scores" if "signature" in change else "")


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), RuntimeError("two\nlines"), MemoryError(), OSError(5, "Input/output error")]
)
def test_an_interruption_or_a_defect_is_no_verdict(files, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(focuseval.cli.gate, "score_files", fail)
    done = gate("good", "--junit", "j.xml", "--markdown", "m.md", measures=("AP", "RR"))
    words = {KeyboardInterrupt: "interrupted", RuntimeError: "RuntimeError: two lines; please report this"}
    assert_no_verdict(done, words.get(type(error), ""))
    assert ET.parse("j.xml").getroot().get("errors") == "2"
    assert (files / "m.md").read_text().startswith("### focuseval gate: no verdict")


def test_the_profiles_measures_are_judged_where_none_is_named(files):
    done = gate("good", measures=())
    assert_no_verdict(done, "is not in the baseline")
    given = ["score", "qrels", "good", "--per-topic", "--format", "json", "-o", "base.json"]
    assert CliRunner().invoke(main, given).exit_code == 0
    done = gate("bad", "--format", "json", measures=())
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert len(found["measures"]) > 2
    assert (found["verdict"], found["rule"]["tails"], found["baseline"], found["run"]) == (
        "regression", 1, "base.json", "bad",
    )  # fmt: skip
    assert_no_verdict(gate("good", "--cutoff", "3", measures=()), "other policies (cutoff) than now")


def test_where_too_few_topics_changed_nothing_is_told_and_strictly_it_fails(files):
    for name in ("qrels", "good", "bad"):
        lines = (files / name).read_text().splitlines(keepends=True)
        (files / name).write_text("".join(line for line in lines if int(line.split()[0]) < 4))
    assert gate("good", "--update").exit_code == 0
    for options in ((), ("--min-effect", "0.02")):
        assert gate("good", *options, "--strict").exit_code == 0
        done = gate("bad", *options)
        assert (done.exit_code, done.stdout[:15]) == (0, "CANNOT TELL AP:")
        assert "4 questions got worse, none better: 0, 3, 1, 2: too few" in done.stdout
        assert gate("bad", *options, "--strict").exit_code == 1
    assert json.loads(gate("bad", "--format", "json").stdout)["verdict"] == "cannot tell"
    assert gate("bad", "--max-lost", "3", "--junit", "j.xml").exit_code == 1
    assert gate("bad", "--max-lost", "100%", "--junit", "j.xml").exit_code == 0
    assert ET.parse("j.xml").getroot().get("skipped") == "1"
    assert gate("bad", "--min-effect", "0.99").stdout.startswith("PASS ")


def test_a_baseline_that_update_writes_is_what_score_writes(files):
    scored = (files / "base.json").read_text()
    done = gate("good", "--update", measures=("AP", "RR"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith("the baseline R, 2 measures\n")
    assert (files / "base.json").read_text() == scored
    (files / "base.json").unlink()
    assert gate("bad", "--update").exit_code == 0
    assert gate("bad", "--strict").exit_code == 0


def test_a_baseline_of_a_profile_can_be_asked_for_one_of_its_measures(tmp_path):
    base, spans = str(tmp_path / "base.json"), ["--docs", str(EXAMPLE / "articles")]
    files = ["--baseline", base, *(str(EXAMPLE / name) for name in ("gold/gold.jsonl", "runs/spans/paragraphs.jsonl"))]
    assert CliRunner().invoke(main, ["gate", *files, *spans, "--profile", "rag", "--update"]).exit_code == 0
    for asked in ([], ["--profile", "rag"]):
        done = CliRunner().invoke(main, ["gate", *files, *spans, *asked, "-m", "IoU@5"])
        assert done.exit_code == 0, done.stderr
        assert done.stdout.startswith("PASS IoU@5: ")
    done = CliRunner().invoke(main, ["gate", *files, *spans, "--profile", "rag"])
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["PASS", "43"]
    done = CliRunner().invoke(main, ["gate", *files, *spans, "--profile", "rag", "--all"])
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["PASS", *["SHOWN"] * 43]
    assert done.stdout.startswith("PASS spanR@2000c: ")


def test_where_questions_share_documents_the_gate_says_what_p_would_be_by_document(files):
    """Eight topics about three documents: two tails of three signs cannot show what eight topics do."""
    plain, by = (
        json.loads(gate("bad", "--format", "json", *more).stdout) for more in ((), ("--cluster-by", "document"))
    )
    (one,), (clustered,) = plain["measures"], by["measures"]
    assert one["by_document"] == {"clusters": 3, "p": clustered["p"]}
    assert clustered["p"] == 0.125 > one["p"]  # three clusters that lose: one of eight flips
    assert one["sentence"].endswith("; topics share documents: in 3 clusters by document (--cluster-by document) "
                                    "p would be 0.1250")  # fmt: skip
    assert "by_document" not in clustered
    assert "share documents" not in gate("good").stdout  # nothing changed
    assert "share documents" in gate("bad", "--markdown", "m.md").stdout
    assert "share documents" in (files / "m.md").read_text()
    shown = json.loads(gate("bad", "--format", "json", measures=("AP", "RR")).stdout)["measures"][1]
    assert "by_document" not in shown


def test_false_alarms_are_a_level_and_what_can_still_be_seen_is_said(files):
    done = gate("bad", "--false-alarms", "200", "--tails", "2")
    assert "p of a drop 0.0078, randomisation, two-tailed at 0.005)" in done.stdout
    assert (done.exit_code, gate("bad", "--false-alarms", "100").exit_code) == (0, 1)
    (files / "mixed").write_text(run_text(1))
    words = r"; these topics show a drop of (0\.\d{4}) with probability 0\.8;"
    seen = [re.search(words, gate("mixed", *options).stdout) for options in ((), ("--alpha", "0.1"))]
    assert float(seen[0][1]) > float(seen[1][1]) > 0
    assert (
        "; these topics could not show any drop with probability 0.8;" in gate("mixed", "--false-alarms", "50").stdout
    )
    assert_no_verdict(gate("bad", "--false-alarms", "100", "--alpha", "0.1"), "both set the level")
    assert_no_verdict(gate("bad", "--false-alarms", "1"), "--false-alarms")


def test_an_anchor_finds_what_no_step_shows_and_spends_its_level_in_a_ledger(files):
    assert gate("bad", "--update").exit_code == 0
    release = ["gate", "--update", "--baseline", "v1.json", "qrels", "good", "-m", "AP"]
    assert CliRunner().invoke(main, release).exit_code == 0
    for _ in range(2):  # the same run again is no further test
        done = gate("bad", "--anchor", "v1.json")
        assert done.exit_code == 1
        assert done.stdout.startswith("PASS AP: ")
        assert "\nREGRESSION AP against the anchor v1.json, test 1: 0.6458 → " in done.stdout
        assert "one-tailed at 0.00957) over 8 topics" in done.stdout  # .05 / 2 / 2.6124
        (line,) = (files / "v1.ledger.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert (entry["test"], entry["verdict"], entry["p"]) == (1, "regression", {"AP": 2**-8})
    assert entry["level"] == pytest.approx(0.025 / 2.6124)
    done = gate("good", "--anchor", "v1.json")
    assert (done.exit_code, "against the anchor v1.json, test 2: " in done.stdout) == (0, True)
    assert "one-tailed at 0.00957)" in gate("bad", "--anchor", "v1.json").stdout
    assert gate("good", "--anchor", "base.json", "--ledger", "v1.ledger.jsonl").exit_code == 0
    tests = [json.loads(line)["test"] for line in (files / "v1.ledger.jsonl").read_text().splitlines()]
    assert tests == [1, 2, 1]  # another anchor begins again


def test_the_levels_of_all_tests_against_an_anchor_add_up_to_less_than_alpha():
    numbers = np.arange(1, 10**6)
    spent = np.array([GateRule(alpha=0.02).spent(k) for k in (1, 2, 10**6 - 1)])
    assert spent == pytest.approx(0.02 / (2.6124 * np.array([1, 2, 10**6 - 1]) ** 1.5))
    rest = 2 / (10**6 - 1) ** 0.5  # the integral of k to the power of -3/2 from there on
    assert (numbers**-1.5).sum() + rest < 2.6124


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"anchor": "a", "run": "b"}', '{"anchor": "a", "run": "b", "test": 0}', "\ud800", "9" * 5000]
)
def test_a_ledger_that_cannot_be_read_gives_no_verdict_and_stays_as_it_is(files, line):
    text = f'{{"anchor": "a", "run": "b", "test": 1}}\n{line}\n'.encode("utf-8", "surrogatepass")
    (files / "l.jsonl").write_bytes(text)
    done = gate("good", "--anchor", "base.json", "--ledger", "l.jsonl")
    assert_no_verdict(done, "l.jsonl:2: expected a test with anchor, run and test, found ")
    assert (files / "l.jsonl").read_bytes() == text


def command(line, **more):
    return subprocess.run(["/bin/sh", "-c", f"{sys.executable} -m focuseval {line}"], capture_output=True, text=True,
                          check=False, env=os.environ, **more)  # fmt: skip


GATE = "gate --baseline base.json qrels good -m AP"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a device that is always full")  # noqa: PTH110  at import
def test_a_verdict_that_cannot_be_printed_is_none(files):
    done = command(f"{GATE} > /dev/full")
    assert (done.returncode, done.stderr) == (2, "NO VERDICT standard output: No space left on device\n")


def test_a_closed_output_is_no_verdict(files):
    done = command(f"{GATE} >&-")
    assert done.returncode == 2
    assert done.stderr.startswith("NO VERDICT standard output: ")


def test_ctrl_c_is_no_verdict(files):
    """A run that never ends is a pipe that nobody writes to."""
    os.mkfifo(files / "pipe")
    call = [sys.executable, "-m", "focuseval", "gate", "--baseline", "base.json", "qrels", "pipe", "-m", "AP"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    writer = os.open(files / "pipe", os.O_WRONLY)  # waits until the gate opens it to read
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)
    os.close(writer)
    assert (process.returncode, said[0]) == (2, "")
    assert said[1] == "NO VERDICT interrupted\n"


def test_a_baseline_that_another_command_writes_again_is_read_whole_at_any_time(tmp_path):
    path = tmp_path / "base.json"
    per_topic = {str(k): {"AP": k / 1000} for k in range(1000)}
    text = json.dumps({"signature": "focuseval:1", "runs": [{"run": "r", "per_topic": per_topic}]}).encode()
    write_whole(path, [text])
    writer = threading.Thread(target=lambda: [write_whole(path, [text]) for _ in range(100)])
    writer.start()
    while writer.is_alive():
        assert len(read_baseline(path).per_topic) == 1000
    writer.join()
