"""Workers that are gone, or do not see what the client sees: it is said, and nothing is left out in silence."""

import threading
from concurrent.futures import Executor, Future

import pytest

from focuseval.collection import batches
from focuseval.collection.build import build_index
from focuseval.engine import workers as engine
from focuseval.engine.workers import Here, WorkerError, Workers
from focuseval.errors import CollectionError


class Never(Executor):
    """Takes a task and does it when somebody has said that this takes long."""

    def __init__(self):
        self.future = Future()

    def submit(self, fn, /, *args, **kwargs):
        return self.future


def test_a_long_wait_says_for_what(monkeypatch):
    cluster = pytest.importorskip("focuseval.engine.cluster")
    monkeypatch.setattr(engine, "PATIENCE", 0.01)
    lines, never, threads = [], Never(), iter([{}, {}, {"tcp://a": 2}])

    class Client:
        def nthreads(self):
            found = next(threads, None)
            if found is None:
                threading.Thread(target=never.future.set_result, args=(7,)).start()
            return {"tcp://a": 2} if found is None else found

    waits = cluster.partial(cluster._say_wait, Client(), "tcp://s", lines.append, [])
    assert list(Workers(never, waits=waits).in_order(abs, [1])) == [7]
    assert lines == [
        "tcp://s: waiting for workers: none is left; start some, or end with Ctrl-C",
        "tcp://s: waiting for the next result of 1 worker",
    ]


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_file_that_the_workers_do_not_see_is_an_error_of_its_own(tmp_path, monkeypatch, keep_going):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in "abc":
        (docs / f"{name}.txt").write_text(name)
    real = batches.read_file
    monkeypatch.setattr(batches, "read_file", lambda file: _seen(real, file))
    expected = (
        r"b\.txt: not found on worker .*:\d+, found on the client; share its folder with all workers, or index from"
    )
    with pytest.raises(WorkerError, match=expected):
        build_index(docs, tmp_path / "a.idx", workers=Workers(Here()), keep_going=keep_going)
    assert not (tmp_path / "a.idx").exists()


def _seen(real, file):
    """What a worker finds that sees all files but one."""
    try:
        return real(file.replace("b.txt", "elsewhere/b.txt"))
    except CollectionError as error:
        raise CollectionError(error.what, at=file, remedy=error.remedy) from None
