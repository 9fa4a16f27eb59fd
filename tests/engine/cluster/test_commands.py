"""Commands on a real cluster and a real object store: the whole loop, Ctrl-C, and a client that is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.collection.store import open_index
from focuseval.example import ROOT
from object_store import SECRET, Fault

distributed = pytest.importorskip("distributed")

MEGABYTE = "The tide follows the moon, and ships follow the tide. " * 20_000


def focuseval(*arguments, **more):
    command = [sys.executable, "-m", "focuseval", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def done(*arguments, code=0):
    result = CliRunner().invoke(main, [str(word) for word in arguments], prog_name="focuseval")
    out, err = result.stdout, result.stderr
    assert result.exit_code == code, err
    assert SECRET not in out + err
    assert "AKID" not in out + err
    assert "Traceback" not in err
    return out, err


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Ten batches of documents, or four of those for a cluster."""
    folder = tmp_path_factory.mktemp("large")
    for number in range(40):
        (folder / f"doc{number:02}.xml").write_text(f"<a><p>{number}</p><p>{MEGABYTE}</p></a>", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def local(large, tmp_path_factory):
    target = tmp_path_factory.mktemp("local") / "index"
    done("index", large, "-o", target, "--jobs", 1)
    return open_index(target)


def scores_of_the_loop(root, made, cluster):
    """Index, retrieve, score and report the embedded example; return what the index command said."""
    index, run, gold = f"{made}/articles.idx", f"{made}/run.xml", f"{root}/gold/gold.jsonl"
    _, said = done("index", f"{root}/articles", "-o", index, *cluster)
    done("retrieve", index, f"{root}/topics.xml", "-o", run, *cluster)
    judged = (gold, run, f"{root}/runs/focused/careful.xml", "--index", index, "--task", "focused")
    done("score", *judged, "--profile", "inex2006", "--per-topic", "--json", "-o", f"{made}/scores.json", *cluster)
    done("report", *judged, "-o", f"{made}/report.html")
    return said


def test_the_whole_loop_on_a_store_gives_the_values_of_the_disk(store, dask, tmp_path):
    for path in ROOT.rglob("*"):
        if path.is_file() and path.suffix in {".xml", ".jsonl"}:
            store.put(f"loop/{path.relative_to(ROOT)}", path.read_bytes())
    assert "dashboard" not in scores_of_the_loop(ROOT, tmp_path, ())
    said = scores_of_the_loop(store.url("loop"), store.url("made"), ("--cluster", dask.scheduler_address))
    assert re.search("cluster: [12] workers?, dashboard at http://", said)
    disk, there = json.loads((tmp_path / "scores.json").read_bytes()), json.loads(store.get("made/scores.json"))
    for one, other in zip(disk["runs"], there["runs"], strict=True):
        assert one.pop("file").rpartition("/")[2] == other.pop("file").rpartition("/")[2]
    assert there == disk
    assert store.get("made/report.html").rstrip().endswith(b"</html>")
    assert not [key for key in store.keys("made") if "partial" in key or "scratch" in key]
    out, _ = done("stats", store.url("made/articles.idx"), "--json")
    assert json.loads(out)["documents"] == 17


def waiting_for(store, prefix, what, process):
    """Wait until the store has an object, while a command runs."""
    for _ in range(600):
        if any(what in key for key in store.keys(prefix)):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"no {what} appeared")


def waiting_for_file(folder, process, name="done-1*"):  # when the second is begun, the first is whole
    for _ in range(4000):
        with suppress(FileNotFoundError):  # a folder that is renamed while it is looked into
            if any(folder.rglob(name)):
                return
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def at_rest(cluster):
    """Wait until no worker has anything to do: tasks that ran when their client was killed end by themselves."""
    with distributed.Client(cluster) as client:
        for _ in range(1200):
            known = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
            running = client.run(lambda dask_worker: len(dask_worker.state.all_running_tasks))
            if not known and not any(running.values()):
                return
            time.sleep(0.05)
    raise AssertionError(f"{known} tasks, {running}")


def test_ctrl_c_cancels_the_tasks_and_leaves_nothing(store, dask, large):
    with store.failing(Fault("PUT /archive/stopped.idx", "slow", seconds=0.7)):
        process = focuseval("index", large, "-o", store.url("stopped.idx"), "--cluster", dask.scheduler_address)
        waiting_for(store, "stopped.idx", "part-", process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
    at_rest(dask)
    assert store.keys("stopped.idx") == []


def test_an_index_on_a_store_whose_client_was_killed_is_finished_by_resume(store, dask, large, local):
    target = store.url("killed.idx")
    with store.failing(Fault("PUT /archive/killed.idx", "slow", seconds=0.3)):
        process = focuseval("index", large, "-o", target, "--cluster", dask.scheduler_address)
        waiting_for(store, "killed.idx", "done-", process)
        process.kill()
        process.communicate()
        at_rest(dask)
    finished = sum("done-" in key for key in store.keys("killed.idx"))
    with store.counted() as seen:
        done("index", large, "-o", target, "--resume", "--jobs", 1)
    found = open_index(target)
    again = {re.search(r"part-\d+", line)[0] for line in seen if "part-" in line and line.startswith(("PUT", "POST"))}
    assert finished
    assert len(again) == len(found.blocks) - finished
    assert found.sha256 == local.sha256
    assert found.documents.equals(local.documents)
    assert not [key for key in store.keys("killed.idx") if "scratch" in key]


def test_an_index_on_a_disk_whose_command_was_killed_is_finished_by_resume(large, local, tmp_path):
    process = focuseval("index", large, "-o", tmp_path / "index", "--jobs", 1)
    waiting_for_file(tmp_path, process)
    process.kill()
    process.communicate()
    (first,) = tmp_path.rglob("part-0.arrow")
    before = first.stat().st_mtime_ns
    done("index", large, "-o", tmp_path / "index", "--resume", "--jobs", 1)
    assert open_index(tmp_path / "index").sha256 == local.sha256
    assert (tmp_path / "index" / "part-0.arrow").stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert not (tmp_path / "index" / "scratch").exists()


def test_what_began_on_a_cluster_is_finished_here_without_doing_it_again(dask, large, local, tmp_path, monkeypatch):
    monkeypatch.chdir(large.parent)
    process = focuseval("index", large.name, "-o", tmp_path / "index", "--cluster", dask.scheduler_address)
    waiting_for_file(tmp_path, process, "done-*")  # whichever of them
    process.kill()
    process.communicate()
    at_rest(dask)
    (folder,) = tmp_path.iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("part-*")}
    kept = sum(4 if name.startswith("part-3") else 12 for name in before)
    assert kept
    _, said = done("index", large.name, "-o", tmp_path / "index", "--resume", "--jobs", 1)
    assert f"\nkept from the interrupted build: {kept} documents\n" in said
    found = open_index(tmp_path / "index")
    assert (found.sha256, len(found.blocks)) == (local.sha256, 4)
    assert before.items() <= {path.name: path.stat().st_mtime_ns for path in (tmp_path / "index").iterdir()}.items()


def test_a_document_that_changed_meanwhile_is_read_again_by_resume(large, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for path in sorted(large.iterdir())[:12]:
        (source / path.name).write_bytes(path.read_bytes())
    process = focuseval("index", source, "-o", tmp_path / "index", "--jobs", 1)
    waiting_for_file(tmp_path, process)
    process.kill()
    process.communicate()
    (source / "doc00.xml").write_text(f"<a><p>NEW</p><p>{MEGABYTE[:-2]}</p></a>", encoding="utf-8")
    done("index", source, "-o", tmp_path / "index", "--resume", "--jobs", 1)
    assert open_index(tmp_path / "index").document("doc00").text.startswith("NEW")


def test_what_a_killed_build_left_on_a_store_is_removed_by_the_next(store, large, local):
    with store.failing(Fault("PUT /archive/swept.idx", "slow", seconds=0.3)):
        process = focuseval("index", large, "-o", store.url("swept.idx"), "--jobs", 1)
        waiting_for(store, "swept.idx", "part-", process)
        process.kill()
        process.communicate()
    done("index", large, "-o", store.url("swept.idx"), "--jobs", 1)
    assert open_index(store.url("swept.idx")).sha256 == local.sha256
    assert len({key.split("/")[1] for key in store.keys("swept.idx")}) == 2


@pytest.fixture
def campaign(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 b 1 2 r\n1 Q0 a 2 1 r\n", encoding="utf-8")
    return tmp_path / "qrels", tmp_path / "run"


def test_a_local_cluster_is_started_and_ended_by_the_command(campaign):
    gold, run = campaign
    plain, _ = done("score", gold, run, run, "-m", "AP", "--format", "csv")
    out, err = done("score", gold, run, run, "-m", "AP", "--format", "csv", "--cluster", "local:1")
    assert out == plain
    assert "cluster: 1 worker, dashboard at http://" in err


def test_ctrl_c_on_a_terminal_reaches_the_workers_too_and_says_one_word(large, tmp_path):
    process = focuseval("index", large, "-o", tmp_path / "index", "--cluster", "local:1", start_new_session=True)
    waiting_for_file(tmp_path, process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert [line for line in err.splitlines() if "dashboard" not in line] == ["interrupted"]
    assert list(tmp_path.iterdir()) == []


def test_without_dask_a_cluster_says_what_to_install(campaign, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "focuseval.engine.cluster", raising=False)
    _, err = done("score", *campaign, "-m", "AP", "--cluster", "local", code=2)
    assert err == "a cluster (--cluster) needs Dask's distributed; install it with: pip install 'focuseval[cluster]'\n"


def test_a_cluster_that_is_none_is_wrong_usage(campaign):
    _, err = done("score", *campaign, "-m", "AP", "--cluster", "moon", code=2)
    assert err.startswith("expected local, local:N, tcp://HOST:PORT or a scheduler file, found 'moon'")


def test_without_the_flag_nothing_of_dask_or_of_file_systems_is_loaded(campaign):
    gold, run = map(str, campaign)
    code = (
        "import sys; from focuseval.cli import main\n"
        f"try: main(['score', {gold!r}, {run!r}, '-m', 'AP'], prog_name='focuseval')\n"
        "except SystemExit: pass\n"
        "print(sorted({'distributed', 'dask', 'pyarrow._s3fs', 'pyarrow.fs'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert shown.stdout.splitlines()[-1] == "[]"


def test_compare_and_report_say_the_same_by_every_number_of_processes_and_by_a_cluster(campaign, tmp_path):
    gold, run = campaign
    other = tmp_path / "other"
    other.write_text("1 Q0 a 1 2 o\n1 Q0 b 2 1 o\n", encoding="utf-8")
    for command in ("compare", "report"):
        line = (command, gold, run, other, "-m", "AP", "--format", "json")
        plain, _ = done(*line)
        assert json.loads(plain)
        assert [done(*line, *ways)[0] for ways in (("--jobs", "2"), ("--cluster", "local:1"))] == [plain, plain]
