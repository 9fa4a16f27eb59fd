"""An index appears whole or not at all, and says the same whatever it was built from and by how many processes."""

import json
import os
import resource
import signal
import subprocess
import sys
import tarfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from focuseval.collection import batches, build, store
from focuseval.collection.batches import IndexTask, index_batch
from focuseval.collection.build import build_index
from focuseval.collection.sources import Sources
from focuseval.collection.store import open_index
from focuseval.engine.workers import WorkerError
from focuseval.errors import CollectionError


@pytest.fixture
def source(tmp_path):
    """A directory of 300 documents of all kinds."""
    folder = tmp_path / "source"
    for number in range(300):
        place = folder / f"part-{number % 3}" / f"{number}.xml"
        place.parent.mkdir(parents=True, exist_ok=True)
        comment = "<!-- c -->" if number % 4 == 0 else ""
        place.write_text(f"<article><t>Title {number}</t>{comment}<p>wörds &amp; {'x' * number}</p></article>")
    (folder / "note.txt").write_text("plain")
    return folder


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "SMALLEST", 2_000)
    monkeypatch.setattr(batches, "LARGEST", 4_000)


def everything(index):
    rows = np.arange(len(index))
    table = index.elements_of(rows)
    return {
        "documents": index.documents.to_pylist(),
        "texts": index.texts(rows).to_pylist(),
        "paths": table.paths(),
        "spans": np.stack([table.document, table.start, table.end, table.depth]).tolist(),
        "sha256": index.sha256,
    }


@pytest.mark.usefixtures("small_batches")
def test_an_index_is_the_same_with_one_process_or_three(source, tmp_path):
    one = build_index(source, tmp_path / "one", jobs=1)
    build_index(source, tmp_path / "three", jobs=3)
    first, second = open_index(tmp_path / "one"), open_index(tmp_path / "three")
    assert len(first.blocks) > 10
    assert one.report.documents == len(first) == 301
    assert everything(first) == everything(second)


@pytest.mark.usefixtures("small_batches")
def test_an_index_of_an_archive_equals_that_of_the_directory(source, tmp_path):
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as archive:
        for path in sorted(source.rglob("*.*")):
            archive.add(path, str(path.relative_to(source)))
    build_index(source, tmp_path / "one", jobs=1)
    build_index(tmp_path / "c.tar.gz", tmp_path / "two", jobs=2)
    first, second = open_index(tmp_path / "one"), open_index(tmp_path / "two")
    assert first.sha256 == second.sha256
    assert sorted(first.ids.to_pylist()) == sorted(second.ids.to_pylist())
    rows = second.find(first.ids)
    assert first.texts(np.arange(len(first))).to_pylist() == second.texts(rows).to_pylist()
    assert not list((tmp_path / "two").glob("spool*"))


def test_what_was_counted_is_written_down(source, tmp_path):
    (source / "picture.png").write_bytes(b"")
    (source / "dtd.xml").write_text('<!DOCTYPE a SYSTEM "x.dtd"><a>&eacute;&nosuch;</a>')
    (source / "broken.xml").write_text("<a>\n<b></a>")
    (source / "gone.xml").symlink_to("nowhere")
    os.mkfifo(source / "pipe.xml")
    build_index(source, tmp_path / "index", keep_going=True)
    metadata = json.loads((tmp_path / "index" / "metadata.json").read_text())
    assert metadata["documents"] == 302
    assert metadata["elements"] == 300 * 3 + 2
    assert metadata["passed_over"] == {".png": 1, "no regular file": 1}
    assert metadata["entities_by_name"] == 1
    assert metadata["entities_left_out"] == {"nosuch": 1}
    assert metadata["unreadable"] == [
        f"{source}/gone.xml: cannot read: No such file or directory",
        f"{source}/broken.xml:2:6: expected well-formed XML, found: mismatched tag",
    ]


@pytest.mark.usefixtures("small_batches")
def test_a_file_that_cannot_be_opened_stops_the_build(source, tmp_path):
    (source / "gone.xml").symlink_to("nowhere")
    with pytest.raises(CollectionError, match=r"gone\.xml: cannot read: No such file or directory; .*keep_going=True"):
        build_index(source, tmp_path / "index")


def test_a_document_that_is_too_large_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "MAX_BYTES", 4)
    with pytest.raises(CollectionError, match=r"note\.txt: refused: more than 0 MB"):
        build_index(source / "note.txt", tmp_path / "index")


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_broken_document_stops_the_build_and_leaves_nothing(source, tmp_path, jobs):
    (source / "part-2" / "broken.xml").write_text("<a>")
    with pytest.raises(CollectionError, match=r"broken\.xml:1:4: .*no element found; mend the file") as caught:
        build_index(source, tmp_path / "index", jobs=jobs)
    assert (caught.value.at.line, caught.value.at.column) == (1, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_source_without_documents_makes_no_index(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CollectionError, match=r"expected documents \(\.xml, .*\), found none"):
        build_index(tmp_path / "empty", tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_an_existing_index_is_replaced_only_by_force(source, tmp_path):
    target = tmp_path / "index"
    build_index(source / "note.txt", target)
    with pytest.raises(CollectionError, match=r"exists already; .*force=True"):
        build_index(source, target)
    assert len(open_index(target)) == 1
    build_index(source, target, force=True)
    assert len(open_index(target)) == 301


def test_force_never_deletes_what_is_no_index(source, tmp_path):
    with pytest.raises(CollectionError, match="expected an index"):
        build_index(source / "note.txt", source / "part-1", force=True)
    assert len(list((source / "part-1").iterdir())) == 100


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("small_batches")
def test_a_full_disk_is_one_line_and_leaves_nothing(source, tmp_path, jobs):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    code = (
        "from focuseval.collection import batches\nfrom focuseval.collection.build import build_index\n"
        "from focuseval.errors import CollectionError\n"
        "batches.SMALLEST, batches.LARGEST = 2_000, 4_000\n"
        f"try:\n    build_index({str(source)!r}, {str(tmp_path / 'index')!r}, jobs={jobs})\n"
        "except CollectionError as error:\n    print(error)\n"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # it would be cut off, and read by all later processes
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, preexec_fn=limit, env=environment, capture_output=True, text=True, check=True)
    assert "cannot write the index: " in done.stdout
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_killed_build_leaves_no_index_and_the_next_one_sweeps_up(source, tmp_path):
    code = (
        "import time\nfrom focuseval.collection import build\nfrom focuseval.collection.build import build_index\n"
        "def wait(task):\n    print('working', flush=True)\n    time.sleep(60)\n"
        "build.index_batch = wait\n"
        f"build_index({str(source)!r}, {str(tmp_path / 'index')!r}, jobs=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "working\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert len([path for path in tmp_path.iterdir() if path.name.endswith(".partial")]) == 1
    assert not (tmp_path / "index").exists()
    build_index(source, tmp_path / "index")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "source"]


def die_elsewhere(task, pid):
    """Do a task here; end the process anywhere else."""
    if os.getpid() != pid:
        os._exit(3)
    time.sleep(0.2)
    return index_batch(task)


@pytest.mark.usefixtures("small_batches")
def test_a_worker_that_dies_is_an_error_not_a_wait(source, tmp_path, monkeypatch):
    monkeypatch.setattr("focuseval.collection.build.index_batch", partial(die_elsewhere, pid=os.getpid()))
    with pytest.raises(WorkerError, match=r"ended before its work was done \(EXIT\(3\)\); .*try .*--jobs 1"):
        build_index(source, tmp_path / "index", jobs=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for the file behind a handle")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("small_batches")
def test_every_file_of_an_index_is_on_the_disk_before_it_appears(source, tmp_path, monkeypatch, jobs):
    done, fsync, rename = [], os.fsync, Path.rename

    def recorded(handle):
        fsync(handle)
        done.append(Path(f"/proc/self/fd/{handle}").readlink().name)

    def renamed(path, target):
        done.append("appears")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", recorded)
    monkeypatch.setattr(Path, "rename", renamed)
    build_index(source, tmp_path / "index", jobs=jobs)
    before = done[: done.index("appears")]
    assert len(before) > 10
    assert set(before) > {file.name for file in (tmp_path / "index").iterdir()}  # and the folder
    assert done[-1] == tmp_path.name


def test_a_block_that_vanishes_during_the_build_is_missed(source, tmp_path, monkeypatch):
    def lost(task):
        found = index_batch(task)
        (Path(task.folder) / store.part_name(0)).unlink()
        return found

    monkeypatch.setattr(build, "index_batch", lost)
    with pytest.raises(CollectionError, match=r"part-0\.arrow has vanished; does another program write here\?"):
        build_index(source, tmp_path / "index", jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.usefixtures("small_batches")
def test_a_task_that_is_done_twice_changes_nothing(source, tmp_path):
    found = Sources([source])
    (tmp_path / "scratch").mkdir()
    tasks = [IndexTask(n, batch, str(tmp_path)) for n, batch in enumerate(batches.batches(found.groups(), tmp_path))]
    once = [index_batch(task) for task in tasks]
    written = {path.name: path.read_bytes() for path in tmp_path.glob("*.arrow")}
    assert [index_batch(task) for task in reversed(tasks)][::-1] == once
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.arrow")} == written


def test_progress_counts_up_to_the_whole(source, tmp_path):
    seen = []
    build_index(source, tmp_path / "index", progress=lambda report: seen.append((report.documents, report.bytes)))
    assert seen[-1] == (301, sum(path.stat().st_size for path in source.rglob("*.*")))


@pytest.mark.parametrize("damage", ["metadata.json", "documents.arrow", "part-0.arrow"])
def test_a_damaged_index_is_refused(source, tmp_path, damage):
    target = tmp_path / "index"
    build_index(source / "note.txt", target)
    (target / damage).write_bytes(b"{}")
    with pytest.raises(CollectionError, match="index"):
        open_index(target)


def test_an_index_of_another_version_is_refused(source, tmp_path, monkeypatch):
    build_index(source / "note.txt", tmp_path / "index")
    monkeypatch.setattr(store, "VERSION", 99)
    with pytest.raises(CollectionError, match="expected an index of version 99, found 3"):
        open_index(tmp_path / "index")


def test_a_folder_that_is_no_index_is_refused(tmp_path):
    with pytest.raises(CollectionError, match="make one with 'focuseval index'"):
        open_index(tmp_path)


def test_an_index_that_was_replaced_is_never_mixed_with_the_new_one(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("the old text")
    build_index(docs, tmp_path / "index")
    before, read = open_index(tmp_path / "index"), open_index(tmp_path / "index")
    assert read.text(0) == "the old text"
    (docs / "a.txt").write_text("a new text!!")
    build_index(docs, tmp_path / "index", force=True)
    assert read.text(0) == "the old text", "what is in memory stays"
    with pytest.raises(CollectionError, match=r"index: the index was replaced while it was read; start again"):
        before.text(0)
    assert open_index(tmp_path / "index").text(0) == "a new text!!"


def test_an_index_that_is_replaced_again_and_again_can_be_opened_at_any_time(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("text")
    build_index(docs, tmp_path / "index")
    done = threading.Event()
    refused = []

    def read():
        while not done.is_set():
            try:
                open_index(tmp_path / "index").text(0)
            except CollectionError as error:
                refused.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(30):
        (docs / "a.txt").write_text(f"text {number}")
        build_index(docs, tmp_path / "index", force=True, jobs=1)
    done.set()
    reader.join()
    allowed = ("the index was replaced while it was read", "found no readable metadata.json")
    assert [line for line in refused if not any(words in line for words in allowed)] == []
