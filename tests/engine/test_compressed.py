"""Compressed files are told by their content, and half of one is an error."""

import gzip

import pyarrow as pa
import pytest

from focuseval.data.topics import read_topics
from focuseval.engine.storage import unpacked
from focuseval.errors import FormatError

TOPIC = b'<topic id="1"><title>sea</title></topic>'


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_topics_are_read_compressed(tmp_path, pack):
    (tmp_path / "topics").write_bytes(pack(TOPIC))
    assert [topic.title for topic in read_topics(tmp_path / "topics")] == ["sea"]


def test_several_gzip_members_are_one_file():
    assert unpacked(gzip.compress(b"one ") + gzip.compress(b"two"), "x") == b"one two"


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_half_a_compressed_file_is_refused_by_name(pack):
    packed = pack(bytes(range(256)) * 64)
    with pytest.raises(FormatError, match=r"^run\.gz: expected a complete compressed file, found: .*; fetch it again"):
        unpacked(packed[: len(packed) // 2], "run.gz")


def test_garbage_behind_a_magic_number_is_refused():
    for magic in (b"\x1f\x8b", b"\x28\xb5\x2f\xfd"):
        with pytest.raises(FormatError, match="complete compressed file"):
            unpacked(magic + b"nothing of the kind", "run")
