"""An index on object storage: made there, opened by few requests, fetched by blocks, equal to the one on disk."""

import gzip
import io
import json
import pickle
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import focuseval
from focuseval.collection import batches
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.store import open_index
from focuseval.engine.files import Cache, cache_from_environment
from focuseval.engine.storage import location
from focuseval.errors import CollectionError, UsageError
from focuseval.formats import files
from object_store import SECRET, Fault


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Fourteen articles in two folders: each is a handful of requests."""
    folder = tmp_path_factory.mktemp("articles")
    for number in range(14):
        place = folder / f"part{number % 2}"
        place.mkdir(exist_ok=True)
        text = "".join(f"<sec><p>Tide {number} {part} moon {'sea ' * 3 * number}</p></sec>" for part in range(8))
        (place / f"doc{number:02}.xml").write_text(f"<article><bdy>{text}</bdy></article>", encoding="utf-8")
    (folder / "README").write_text("no document", encoding="utf-8")
    return folder


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "SMALLEST", 3_000)
    monkeypatch.setattr(batches, "LARGEST", 3_000)


@pytest.fixture(scope="module")
def uploaded(store, source):
    for path in source.rglob("*"):
        if path.is_file():
            store.put(f"articles/{path.relative_to(source)}", path.read_bytes())
    return store.url("articles")


def content(index):
    """Everything an index says: ids, texts, every path and span."""
    rows = range(len(index))
    elements = index.elements_of(list(rows))
    return (
        index.sha256,
        index.ids.to_pylist(),
        index.texts(list(rows)).to_pylist(),
        elements.start.tolist(),
        elements.end.tolist(),
        elements.path_strings(np.arange(len(elements.start))).to_pylist(),
    )


@pytest.fixture(scope="module")
def local(source, tmp_path_factory):
    target = tmp_path_factory.mktemp("local") / "index"
    build_index(source, target, jobs=1)
    return target


@pytest.mark.usefixtures("small_batches")
def test_an_index_made_from_and_on_a_store_is_that_of_the_disk(store, uploaded, local):
    built = build_index(uploaded, store.url("made.idx"), jobs=1)
    assert built.passed_over == {"no extension": 1}
    assert content(open_index(store.url("made.idx"))) == content(open_index(local))
    assert len(open_index(store.url("made.idx")).blocks) > 3
    assert not [key for key in store.keys("made.idx") if "scratch" in key]
    assert content(open_documents(store.url("made.idx"))) == content(open_index(local))


@pytest.mark.usefixtures("small_batches")
def test_processes_make_the_same_index_on_a_store(store, source, local):
    build_index(source, store.url("processes.idx"), jobs=2)
    assert content(open_index(store.url("processes.idx"))) == content(open_index(local))


def archives(source):
    """The same documents in a zip, in a compressed tar and as compressed JSON lines, under other ids."""
    packed, tarred, lines = io.BytesIO(), io.BytesIO(), []
    with zipfile.ZipFile(packed, "w") as zipped, tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        for path in sorted(source.rglob("*.xml")):
            zipped.writestr(f"zip/{path.name}", path.read_bytes())
            tar.add(path, f"tar/{path.name}")
            lines.append(json.dumps({"id": f"line/{path.stem}", "text": path.read_text(encoding="utf-8")}))
    return {
        "a.zip": packed.getvalue(),
        "b.tar.gz": tarred.getvalue(),
        "c.jsonl.gz": gzip.compress("\n".join(lines).encode()),
        "d.tar.zst": pa.compress(_tar_of(source), "zstd", asbytes=True),
    }


def _tar_of(source):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path in sorted(source.rglob("*.xml")):
            tar.add(path, f"zst/{path.name}")
    return out.getvalue()


@pytest.mark.usefixtures("small_batches")
def test_archives_and_json_lines_are_indexed_from_and_on_a_store(store, source, tmp_path):
    here, there = [], []
    for name, data in archives(source).items():
        (tmp_path / name).write_bytes(data)
        here.append(tmp_path / name)
        there.append(store.put(f"packed/{name}", data))
    build_index(here, tmp_path / "index", jobs=1)
    build_index(there, store.url("packed.idx"), jobs=2)
    assert content(open_index(store.url("packed.idx"))) == content(open_index(tmp_path / "index"))
    assert not [key for key in store.keys("packed.idx") if "spool" in key]


def test_an_archive_that_cannot_be_fetched_is_one_line(store, source):
    store.put("denied.zip", archives(source)["a.zip"])
    with (
        store.failing(Fault("GET /archive/denied.zip", "403")),
        pytest.raises(CollectionError, match=r"denied\.zip: cannot read: access denied by the store"),
    ):
        build_index(store.url("denied.zip"), store.url("denied-zip.idx"), jobs=1)


def test_an_index_travels_as_its_address(store, source):
    build_index(source, store.url("sent.idx"), jobs=1)
    index = open_index(store.url("sent.idx"))
    assert len(pickle.dumps(index)) < 300
    assert content(pickle.loads(pickle.dumps(index))) == content(index)


@pytest.mark.usefixtures("small_batches")
def test_few_blocks_are_kept_in_memory_without_a_cache(store, source, monkeypatch):
    monkeypatch.setattr("focuseval.collection.store._HELD", 2)
    build_index(source, store.url("held.idx"), jobs=1)
    index = open_index(store.url("held.idx"))
    content(index)
    assert len(index.blocks._seen) == 2
    assert len(index.blocks) > 2


def test_several_threads_may_share_a_cache(store, tmp_path):
    for number in range(6):
        store.put(f"many/{number}", bytes([number]) * 1000)
    held = Cache(str(tmp_path), 3000)

    def fetch(number):
        return held.fetch(location(store.url(f"many/{number % 6}")), Path.read_bytes) == bytes([number % 6]) * 1000

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fetch, range(60)))


def test_a_large_run_on_a_store_is_scored_in_blocks(store, tmp_path, monkeypatch):
    gold = "".join(f"{topic} 0 d{d} {d % 3}\n" for topic in range(20) for d in range(20))
    run = "".join(f"{topic} Q0 d{d} {d + 1} {50 - d} r\n" for topic in range(20) for d in range(20))
    (tmp_path / "run").write_text(run, encoding="utf-8")
    here = focuseval.evaluate(io_path(tmp_path / "qrels", gold), tmp_path / "run", ["AP", "nDCG@10"])
    monkeypatch.setattr(files, "LARGE", 1000)
    monkeypatch.setattr(files.cuts, "__defaults__", (2000,))
    moves = []
    there = focuseval.evaluate(
        store.put("blocks/qrels", gold.encode()), store.put("blocks/run", run.encode()), ["AP", "nDCG@10"],
        progress=moves.append,
    )  # fmt: skip
    assert there.values.tobytes() == here.values.tobytes()
    assert len(moves) > 3


def io_path(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_documents_are_opened_without_an_index(uploaded, local):
    assert open_documents(uploaded).sha256 == open_index(local).sha256


@pytest.mark.usefixtures("small_batches")
def test_opening_takes_at_most_ten_requests_and_fetches_no_block(store, source):
    build_index(source, store.url("opened.idx"), jobs=1)
    with store.counted() as seen:
        index = open_index(store.url("opened.idx"))
        assert len(index) == 14
        assert index.find(["doc07"])[0] >= 0
    assert len(seen) <= 10, seen
    assert not [line for line in seen if "part-" in line]
    with store.counted() as seen:
        index.text(0)
        index.text(0)
    assert [line.split()[0] for line in seen if "part-" in line] == ["HEAD", "GET"]


@pytest.mark.usefixtures("small_batches")
def test_a_cache_is_asked_first_and_stays_small(store, source, tmp_path):
    build_index(source, store.url("cached.idx"), jobs=1)
    held = Cache(str(tmp_path / "cache"), 15_000)
    texts = content(open_index(store.url("cached.idx"), held))
    files = list((tmp_path / "cache").iterdir())
    assert 0 < sum(file.stat().st_size for file in files) <= 15_000
    large = Cache(str(tmp_path / "large"), 1 << 30)
    assert content(open_index(store.url("cached.idx"), large)) == texts
    assert sum(file.stat().st_size for file in (tmp_path / "large").iterdir()) > 20_000, "not all of it fits"
    with store.counted() as seen:
        assert content(open_index(store.url("cached.idx"), large)) == texts
    assert not [line for line in seen if line.startswith("GET") and "part-" in line]


def test_the_least_recently_used_copies_leave_first(store, tmp_path):
    held = Cache(str(tmp_path), 250)
    for name in ("a", "b"):
        store.put(f"lru/{name}", b"x" * 100)
        held.fetch(location(store.url(f"lru/{name}")), Path.read_bytes)
    held.fetch(location(store.url("lru/a")), Path.read_bytes)
    store.put("lru/c", b"x" * 100)
    held.fetch(location(store.url("lru/c")), Path.read_bytes)
    assert sorted(file.name[-1] for file in tmp_path.iterdir()) == ["a", "c"]


def test_a_copy_that_is_cut_short_is_fetched_again(store, tmp_path):
    store.put("damaged", b"content")
    held = Cache(str(tmp_path), 1000)
    held.fetch(location(store.url("damaged")), lambda copy: copy.write_bytes(b"con"))
    assert held.fetch(location(store.url("damaged")), Path.read_bytes) == b"content"


def test_a_copy_that_vanishes_before_it_is_opened_is_fetched_again(store, tmp_path):
    store.put("vanishing", b"content")
    removed = []

    def opened(copy):
        if not removed:
            removed.append(copy.unlink())
        return copy.read_bytes()

    assert Cache(str(tmp_path), 1000).fetch(location(store.url("vanishing")), opened) == b"content"


def test_the_environment_names_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FOCUSEVAL_CACHE", str(tmp_path))
    monkeypatch.setenv("FOCUSEVAL_CACHE_GB", "0.5")
    assert cache_from_environment() == Cache(str(tmp_path), 500_000_000)
    monkeypatch.setenv("FOCUSEVAL_CACHE_GB", "much")
    with pytest.raises(UsageError, match="FOCUSEVAL_CACHE_GB: expected a number"):
        cache_from_environment()


def test_an_index_on_a_store_is_replaced_only_when_asked(store, source, local):
    target = store.url("replaced.idx")
    build_index(source / "part0", target, jobs=1)
    with pytest.raises(CollectionError, match="exists already"):
        build_index(source, target, jobs=1)
    assert len(open_index(target)) == 7
    build_index(source, target, jobs=1, force=True)
    assert content(open_index(target)) == content(open_index(local))
    assert len({key.split("/")[1] for key in store.keys("replaced.idx")}) == 2, "the older blocks are gone"


def test_other_objects_are_not_made_an_index(store, source, uploaded):
    with pytest.raises(CollectionError, match="expected no objects there, or an index"):
        build_index(source, uploaded, jobs=1)


@pytest.mark.usefixtures("small_batches")
def test_a_build_that_fails_leaves_nothing(store, source, tmp_path):
    bad = tmp_path / "bad"
    bad.mkdir()
    for path in source.rglob("*.xml"):
        (bad / path.name).write_bytes(path.read_bytes())
    (bad / "zz.xml").write_text("<a><b></a>", encoding="utf-8")
    with pytest.raises(CollectionError, match=r"zz\.xml"):
        build_index(bad, store.url("failed.idx"), jobs=1)
    assert store.keys("failed.idx") == []


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("status", ["500", "503"])
def test_a_store_that_fails_now_and_then_changes_nothing(store, uploaded, local, status):
    faults_ = [
        Fault("PUT /archive/moody", status, times=2),
        Fault("GET /archive/articles/part0/doc04", status, times=1),
    ]
    with store.failing(*faults_):
        build_index(uploaded, store.url(f"moody{status}.idx"), jobs=1)
    assert content(open_index(store.url(f"moody{status}.idx"))) == content(open_index(local))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("PUT /archive/denied.idx", "403"), "denied.idx.*cannot write the index: access denied"),
        (Fault("prefix=articles", "403"), "articles: cannot read: access denied"),
        (Fault("GET /archive/articles/part0/doc04", "403"), r"part0/doc04\.xml: cannot read: access denied"),
    ],
)
def test_a_bucket_without_permission_is_one_line(store, uploaded, fault, said):
    with store.failing(fault), pytest.raises(CollectionError, match=said) as failed:
        build_index(uploaded, store.url("denied.idx"), jobs=1)
    assert SECRET not in str(failed.value)
    assert store.keys("denied.idx") == []


def test_an_object_that_was_cut_short_is_a_damaged_index(store, source):
    build_index(source, store.url("short.idx"), jobs=1)
    part = next(key for key in store.keys("short.idx") if key.endswith("part-0.arrow"))
    whole = store.get(part)
    store.put(part, whole[:-100])
    with pytest.raises(CollectionError, match=r"short.idx: damaged index: part-0\.arrow has changed its size"):
        open_index(store.url("short.idx"))
    store.put(part, whole[:-100] + bytes(100))
    with pytest.raises(CollectionError, match=r"part-0\.arrow: damaged index"):
        open_index(store.url("short.idx")).text(0)


def test_a_folder_that_is_no_index_is_refused(store):
    with pytest.raises(CollectionError, match=r"expected an index, found no readable metadata\.json"):
        open_index(store.url("nothing.idx"))


def test_a_copy_of_the_index_on_a_disk_can_be_opened(store, source, local, tmp_path):
    build_index(source, store.url("copied.idx"), jobs=1)
    for key in store.keys("copied.idx"):
        target = tmp_path / key
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(store.get(key))
    assert content(open_documents(tmp_path / "copied.idx")) == content(open_index(local))
    assert "folder" in json.loads((tmp_path / "copied.idx" / "metadata.json").read_text(encoding="utf-8"))
