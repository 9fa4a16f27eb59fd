"""Objects of a real S3 server over HTTP: read, listed, written, and what is said when the store fails."""

import gc
import gzip
import io
import sys
import zipfile

import pyarrow as pa
import pytest

from focuseval.engine.storage import ObjectReader, location
from object_store import SECRET, Fault


def test_what_is_written_is_read_and_appears_in_listings(store):
    place = location(store.url("objects/a/b.txt"))
    place.write_bytes(b"content")
    assert place.read_bytes() == b"content"
    assert place.is_file()
    assert place.exists()
    assert not place.is_dir()
    assert location(store.url("objects/a")).is_dir()
    assert [str(file) for file in location(store.url("objects")).rglob("*.txt")] == [store.url("objects/a/b.txt")]
    assert place.stat().st_size == 7


def test_files_are_listed_in_the_order_of_a_walk(store):
    names = ["walk/b.txt", "walk/a/z.txt", "walk/a.txt", "walk/a/b/c.txt"]
    for name in names:
        store.put(name, b"x")
    found = [file.relative_to(location(store.url("walk"))) for file in location(store.url("walk")).rglob("*")]
    assert found == ["a/b/c.txt", "a/z.txt", "a.txt", "b.txt"]


def test_a_small_object_is_written_by_as_few_requests_as_arrow_can_and_read_by_two(store):
    place = location(store.url("requests/small"))
    with store.counted() as seen:
        place.write_bytes(b"x" * 1000)
    assert [line.split()[0] for line in seen] == (
        ["PUT"] if int(pa.__version__.partition(".")[0]) >= 21 else ["POST", "PUT", "POST"]
    )
    with store.counted() as seen:
        place.read_bytes()
    assert [line.split()[0] for line in seen] == ["HEAD", "GET"]


def test_a_large_object_goes_in_parts_and_is_whole(store):
    content = bytes(range(256)) * 50_000
    place = location(store.url("requests/large"))
    with store.counted() as seen:
        place.write_bytes(content)
    assert sum("partNumber" in line for line in seen) >= 2
    assert place.read_bytes() == content


def test_a_stream_seeks_and_reads_ranges(store):
    content = bytes(range(256)) * 1000
    store.put("stream", content)
    with location(store.url("stream")).open("rb") as stream:
        assert stream.seek(1000) == 1000
        assert stream.read(10) == content[1000:1010]
        stream.seek(-5, io.SEEK_END)
        assert stream.read() == content[-5:]
        stream.seek(0)
        assert stream.read() == content


def test_archives_are_read_where_they_are(store):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "alpha")
    store.put("a.zip", packed.getvalue())
    store.put("a.gz", gzip.compress(b"alpha"))
    with location(store.url("a.zip")).open("rb") as stream, zipfile.ZipFile(stream) as archive:
        assert archive.read("a.txt") == b"alpha"
    with location(store.url("a.gz")).open("rb") as stream, gzip.open(stream) as unpacked:
        assert unpacked.read() == b"alpha"


def test_what_is_not_there_is_said_in_one_line(store):
    for url, said in ((store.url("none"), "no such object"), ("s3://no-such-bucket/key", "no such object")):
        with pytest.raises(FileNotFoundError, match=said) as missing:
            location(url).read_bytes()
        assert missing.value.filename == url
    with pytest.raises(FileNotFoundError, match="no such bucket"):
        location("s3://no-such-bucket/key").write_bytes(b"x")
    location(store.url("none")).unlink()


@pytest.mark.parametrize("status", ["500", "503"])
def test_a_store_that_fails_for_a_moment_is_asked_again(store, status):
    store.put("moment", b"content")
    with store.failing(Fault("/archive/moment", status, times=2)):
        assert location(store.url("moment")).read_bytes() == b"content"
    with store.failing(Fault("PUT /archive/moment", status, times=2)):
        location(store.url("moment")).write_bytes(b"other")
    assert store.get("moment") == b"other"


def test_a_slow_store_is_waited_for(store):
    store.put("slow", b"content")
    with store.failing(Fault("GET /archive/slow", "slow", seconds=2)):
        assert location(store.url("slow")).read_bytes() == b"content"


def test_a_transfer_that_breaks_off_is_repeated(store):
    content = b"x" * 100_000
    store.put("cut", content)
    with store.failing(Fault("GET /archive/cut", "cut", times=1)):
        assert location(store.url("cut")).read_bytes() == content
    with store.failing(Fault("GET /archive/cut", "cut", times=1)), location(store.url("cut")).open("rb") as stream:
        assert stream.read() == content


@pytest.mark.parametrize(
    ("what", "said"),
    [("503", r"\(503\)"), ("403", "access denied"), ("cut", "broke the connection off")],
)
def test_a_store_that_goes_on_failing_is_one_line_without_secrets(store, what, said):
    store.put("failing", b"x" * 1000)
    with (
        store.failing(Fault("/archive/failing", what) if what != "cut" else Fault("GET /archive/failing", what)),
        pytest.raises(OSError, match=said) as failed,
    ):
        location(store.url("failing")).read_bytes()
    assert SECRET not in str(failed.value)
    assert "AKID" not in str(failed.value)
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("where", ["uploads", "partNumber"])
def test_a_large_object_whose_writing_fails_leaves_what_was_there(store, where):
    store.put("kept", b"before")
    with store.failing(Fault(where, "403")), pytest.raises(PermissionError, match="access denied"):
        location(store.url("kept")).write_bytes(b"x" * 6_000_000)
    assert store.get("kept") == b"before"


def test_the_endpoint_may_stand_in_the_url(store, monkeypatch):
    store.put("endpoint", b"content")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert location(f"{store.url('endpoint')}?endpoint_override={store.endpoint}").read_bytes() == b"content"


def test_a_reader_that_could_not_be_opened_is_thrown_away_in_silence(monkeypatch):
    class Nowhere:
        path = "gone"

        def attempt(self, work):
            raise FileNotFoundError(self.path)

    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with pytest.raises(FileNotFoundError):
        ObjectReader(Nowhere())
    gc.collect()
    assert unraisable == []
