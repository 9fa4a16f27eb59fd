"""A real Dask cluster of two processes over TCP: the same values as here, also when a worker dies."""

import gzip
import importlib
import json
import os
import re
import signal
import threading
import time
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

import focuseval  # noqa: E402  after the check for what it needs
from focuseval.collection import batches, build  # noqa: E402
from focuseval.collection.build import build_index  # noqa: E402
from focuseval.collection.documents import open_documents  # noqa: E402
from focuseval.collection.store import open_index  # noqa: E402
from focuseval.engine import cluster  # noqa: E402
from focuseval.engine.cluster import connected  # noqa: E402
from focuseval.engine.workers import WorkerError  # noqa: E402
from focuseval.errors import CollectionError, UsageError  # noqa: E402
from focuseval.evaluation import evaluation  # noqa: E402
from focuseval.formats import files  # noqa: E402
from focuseval.retrieval.retrieving import retrieve  # noqa: E402
from focuseval.retrieval.store import open_words  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture
def workers(dask):
    with connected(dask.scheduler_address) as given:
        yield given


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("articles")
    for number in range(40):
        text = "".join(f"<sec><p>Tide {number} {part} moon {'sea ' * number}</p></sec>" for part in range(8))
        (folder / f"doc{number:02}.xml").write_text(f"<article><bdy>{text}</bdy></article>", encoding="utf-8")
    return folder


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "SMALLEST", 8_000)
    monkeypatch.setattr(batches, "LARGEST", 8_000)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def pids(dask) -> list[int]:
    with distributed.Client(dask.scheduler_address, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def kill_soon(dask, after: float = 0.0) -> threading.Thread:
    """Kill one worker by its own pid, a moment after some work has begun."""
    one = pids(dask)[0]

    def kill() -> None:
        time.sleep(after)
        os.kill(one, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def slowly(work, task):
    time.sleep(0.15)
    return work(task)


def test_results_come_in_order_from_other_processes(workers):
    assert list(workers.in_order(abs, range(-300, 0))) == list(range(300, 0, -1))
    assert os.getpid() not in set(workers.in_order(_pid, range(8)))


def _pid(_):
    return os.getpid()


def _shared_sum(shared, _):
    return float(shared.get().sum()), os.getpid()


def test_a_shared_value_is_sent_once_and_also_to_a_worker_that_replaces_another(dask, workers):
    value = np.arange(100_000.0)
    before = set(pids(dask))
    with workers.share(value) as shared:
        found = list(workers.in_order(partial(_shared_sum, shared), range(20)))
        assert {total for total, _ in found} == {float(value.sum())}
        kill_soon(dask).join()
        after = set()
        for _ in range(100):
            after |= {pid for _, pid in workers.in_order(partial(_shared_sum, shared), range(20))}
            if after - before:
                break
            time.sleep(0.1)
    assert after - before, "the new worker did some of the tasks"


def test_an_error_of_a_task_is_the_error_of_the_caller(workers):
    with pytest.raises(ZeroDivisionError):
        list(workers.in_order(_fail, range(5)))


def _fail(number):
    return 1 // (number - 3)


@pytest.mark.usefixtures("small_batches")
def test_an_index_is_the_same_file_for_file(workers, source, tmp_path):
    build_index(source, tmp_path / "here", jobs=1)
    build_index(source, tmp_path / "there", workers=workers)
    assert written(tmp_path / "there") == written(tmp_path / "here")
    assert len(open_index(tmp_path / "there").blocks) > 3


@pytest.mark.usefixtures("small_batches")
def test_a_worker_killed_in_the_middle_of_an_index_changes_nothing(dask, workers, source, tmp_path, monkeypatch):
    build_index(source, tmp_path / "here", jobs=1)
    monkeypatch.setattr(build, "index_batch", partial(slowly, build.index_batch))
    thread = kill_soon(dask, after=0.4)
    build_index(source, tmp_path / "there", workers=workers)
    thread.join()
    assert written(tmp_path / "there") == written(tmp_path / "here")


@pytest.mark.usefixtures("small_batches")
def test_a_bad_document_is_named_and_nothing_is_left(workers, source, tmp_path):
    bad = tmp_path / "bad"
    bad.mkdir()
    for path in source.iterdir():
        (bad / path.name).write_bytes(path.read_bytes())
    (bad / "zz.xml").write_text("<a><b></a>", encoding="utf-8")
    with pytest.raises(CollectionError, match=r"zz\.xml"):
        build_index(bad, tmp_path / "index", workers=workers)
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def lines(source, prefix="line"):
    texts = {f"{prefix}/{path.stem}": path.read_text(encoding="utf-8") for path in sorted(source.iterdir())}
    return "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()).encode()


@pytest.mark.usefixtures("small_batches")
def test_files_of_several_documents_are_taken_apart_by_the_workers(workers, source, tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines(source, "a")))
    (folder / "b.trec").write_text("<doc><docno>b1</docno>Tide</doc><doc><docno>b2</docno>Moon</doc>", encoding="utf-8")
    (folder / "c.xml").write_text("<a>Sea</a>", encoding="utf-8")
    (folder / "d.jsonl").write_bytes(lines(source, "d"))
    build_index(folder, tmp_path / "here", jobs=1)
    build_index(folder, tmp_path / "there", workers=workers)
    here, there = open_index(tmp_path / "here"), open_index(tmp_path / "there")
    assert there.documents.equals(here.documents)
    assert there.sha256 == here.sha256
    (folder / "e.jsonl").write_bytes(lines(source, "d"))
    with pytest.raises(CollectionError, match=r"two documents have the id 'd/doc00': .*d\.jsonl:1 and .*e\.jsonl:1"):
        build_index(folder, tmp_path / "twice", workers=workers)
    (folder / "e.jsonl").write_bytes(b'{"id": "x"}\n')
    with pytest.raises(CollectionError, match=r"e\.jsonl:1: expected"):
        build_index(folder / "e.jsonl", tmp_path / "bad", workers=workers)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Qrels of thirty topics and forty runs, one of them without some topics."""
    folder, draw = tmp_path_factory.mktemp("campaign"), np.random.default_rng(7)
    lines = [f"{topic} 0 d{d} {int(draw.integers(0, 3))}" for topic in range(30) for d in range(40)]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    runs = []
    for number in range(40):
        ranked = [(topic, draw.permutation(60)[:30]) for topic in range(number == 3, 30)]
        rows = [f"{t} Q0 d{d} {rank} {100 - rank} r{number}" for t, ds in ranked for rank, d in enumerate(ds, 1)]
        runs.append(folder / f"run{number:02}.txt")
        runs[-1].write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "qrels.txt", [str(run) for run in runs]


MEASURES = ["AP", "nDCG@10", "P@5"]


def test_scores_are_the_same_to_the_last_bit(workers, campaign, monkeypatch):
    gold, runs = campaign
    here = focuseval.evaluate(gold, runs, MEASURES)
    monkeypatch.chdir(Path(runs[0]).parent)
    relative = [Path(run).name for run in runs]
    there = focuseval.evaluate(gold, relative, MEASURES, workers=workers)
    assert there.values.tobytes() == here.values.tobytes()
    assert (there.runs, there.counts, there.files) == (here.runs, here.counts, tuple(relative))
    assert there.to_json(per_topic=True)["signature"] == here.to_json(per_topic=True)["signature"]


def test_a_worker_killed_in_the_middle_of_scoring_changes_nothing(dask, workers, campaign, monkeypatch):
    gold, runs = campaign
    here = focuseval.evaluate(gold, runs, MEASURES)
    monkeypatch.setattr(evaluation, "_score_shared", partial(_score_slowly, evaluation._score_shared))
    monkeypatch.setattr(evaluation, "_AT_ONCE", 2)
    thread = kill_soon(dask, after=0.4)
    there = focuseval.evaluate(gold, runs, MEASURES, workers=workers)
    thread.join()
    assert there.values.tobytes() == here.values.tobytes()


def _score_slowly(work, shared, sources):
    time.sleep(0.15)
    return work(shared, sources)


def test_a_large_run_is_scored_in_blocks_of_topics(workers, campaign, monkeypatch):
    gold, runs = campaign
    here = focuseval.evaluate(gold, runs[:4], MEASURES)
    monkeypatch.setattr(files, "LARGE", 1000)
    monkeypatch.setattr(files, "BLOCK", 2000)
    monkeypatch.setattr(files.cuts, "__defaults__", (2000,))
    seen = []
    monkeypatch.setattr(evaluation, "match_source", lambda *_: pytest.fail("the run was read at once"))
    there = focuseval.evaluate(gold, runs[:3], MEASURES, workers=workers, progress=seen.append)
    assert there.values.tobytes() == here.values[:3].tobytes()
    assert len(seen) > 6


@pytest.mark.usefixtures("small_batches")
def test_words_are_read_by_the_cluster(workers, source, tmp_path):
    topics = {"1": "moon tide", "2": "sea"}
    build_index(source, tmp_path / "here", jobs=1)
    build_index(source, tmp_path / "there", jobs=1)
    here = retrieve(open_index(tmp_path / "here"), topics)
    there = retrieve(open_index(tmp_path / "there"), topics, workers=workers)
    assert there.document.to_pylist() == here.document.to_pylist()
    assert there.score.tobytes() == here.score.tobytes()
    assert written(tmp_path / "there" / "words-english") == written(tmp_path / "here" / "words-english")


@pytest.mark.usefixtures("small_batches")
def test_segments_are_asked_by_the_cluster(workers, source, tmp_path, monkeypatch):
    topics = {"1": "moon tide", "2": "sea", "3": '+"the sea" -moon', "4": "of", "5": "nowhere"}
    build_index(source, tmp_path / "here", jobs=1)
    build_index(source, tmp_path / "there", jobs=1)
    monkeypatch.setattr("focuseval.retrieval.store.TEXT", 1)  # a segment for every block
    open_words(open_index(tmp_path / "there"), "english")
    monkeypatch.undo()
    assert len(open_words(open_index(tmp_path / "there"), "english").segments) > 1
    for options in (
        {"min_words": 1},
        {"min_words": 1, "task": "thorough", "limit": 2, "idf": "units"},
        {"min_words": 1, "task": "relevant-in-context"},
        {"min_words": 1, "task": "best-in-context", "limit": 3},
        {"unit": "document"},
        {"unit": "passage:3/2", "mix": 0.3, "task": "fetch-browse"},
    ):
        here = retrieve(open_index(tmp_path / "here"), topics, **options)
        for given in (workers, None):
            there = retrieve(open_index(tmp_path / "there"), topics, workers=given, **options)
            assert there.document.to_pylist() == here.document.to_pylist()
            assert there.score.tobytes() == here.score.tobytes()
            assert (there.path, there.start is None) == (here.path, here.start is None)
            assert here.start is None or there.start.tolist() == here.start.tolist()
            assert there.topic.tolist() == here.topic.tolist()
            assert list(map(str, there.remarks)) == list(map(str, here.remarks))


def test_a_sweep_gives_every_chunking_to_the_cluster(workers):
    texts = {
        f"d{n}": f"Boil the water {n}. Black tea draws for four minutes. Pour the water away. " * 5 for n in range(6)
    }
    gold = [{"topic": "q", "query": "How long does black tea draw?", "doc": "d1", "start": 18, "end": 51}]
    how = (gold, texts, ["sentences:1", "characters:30", "words:5"])
    here, there = focuseval.sweep(*how), focuseval.sweep(*how, workers=workers)
    assert there.scores.values.tobytes() == here.scores.values.tobytes()
    assert there.to_json() == here.to_json()


def test_what_is_no_cluster_is_refused_by_name(tmp_path):
    with pytest.raises(UsageError, match=r"expected local, local:N, tcp://HOST:PORT or a scheduler file, found 'host'"):
        connected("host").__enter__()
    with pytest.raises(UsageError, match="expected local:N"):
        connected("local:no").__enter__()


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    with pytest.raises(WorkerError, match=r"tcp://127.0.0.1:1: expected a Dask scheduler, found none that answers"):
        connected("tcp://127.0.0.1:1").__enter__()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (distributed.KilledWorker("task", None, 3), "the same task ended several workers"),
        (CancelledError(), "lost the scheduler of the cluster"),
    ],
)
def test_what_becomes_of_a_cluster_is_one_line(dask, error, said):
    with pytest.raises(WorkerError, match=said), connected(dask.scheduler_address):
        raise error


def test_a_scheduler_file_names_the_cluster(dask, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(f'{{"address": "{dask.scheduler_address}"}}', encoding="utf-8")
    said = []
    with connected(str(file), said.append) as given:
        assert list(given.in_order(abs, [-1])) == [1]
    assert "dashboard at http://" in said[0]


def test_workers_of_this_machine_keep_memory_as_other_programs_do(monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # an earlier cluster of Dask's own sets it
    with connected("local:1") as given:
        assert list(given.in_order(os.environ.get, ["MALLOC_TRIM_THRESHOLD_"])) == [None]


def test_another_version_on_a_worker_is_refused_by_name(dask):
    said = rf"worker tcp://\S+: expected focuseval {re.escape(focuseval.__version__)}, as on the client, found 99\.0;"
    with distributed.Client(dask.scheduler_address, set_as_default=False) as client:
        client.run(_pretend, "99.0")
        try:
            with pytest.raises(WorkerError, match=said):
                connected(dask.scheduler_address).__enter__()
        finally:
            client.run(_pretend, None)


def test_a_worker_that_has_just_gone_has_no_wrong_version():
    class Client:
        def run(self, *_asked, **_options):
            return {"tcp://gone:1": distributed.comm.CommClosedError("in the middle of an answer")}

    cluster._refuse_other_versions(Client(), "tcp://here:1")


def test_a_worker_of_another_version_that_joins_later_refuses_its_task(workers):
    expected = {**cluster._versions(), "numpy": "99.1"}
    with pytest.raises(WorkerError, match=r"worker \S+:\d+: expected numpy 99\.1, as on the client, found"):
        workers.executor._executor.submit(cluster._agreed, expected, abs, -1).result()


def _pretend(version):
    """Let a worker say another version of this package."""
    metadata = importlib.import_module("importlib.metadata")
    real = vars(metadata).setdefault("_real_version", metadata.version)
    metadata.version = real if version is None else lambda name: version if name == "focuseval" else real(name)


def test_a_collection_in_memory_goes_to_the_workers(workers):
    index = open_documents({"a": "To be, or not to be.", "b": "Tides follow the moon."})
    assert list(workers.in_order(partial(_text_of, index), [0, 1])) == [
        "To be, or not to be.",
        "Tides follow the moon.",
    ]


def _text_of(index, row):
    return index.text(row)
