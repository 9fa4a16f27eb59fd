"""Documents are found in directories and archives; archives are not trusted."""

import gzip
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection import sources
from focuseval.collection.batches import batches
from focuseval.collection.sources import Files, Member, Sources
from focuseval.errors import CollectionError

FILES = {
    "co/r1.xml": b"<a>1</a>",
    "co/r2.XML": b"<a>2</a>",
    "notes.md": b"# n",
    "t.txt": b"t",
    "x.dtd": b"",
    "LICENCE": b"",
}
IDS = ["co/r1", "co/r2", "notes", "t"]


def write_directory(place: Path) -> Path:
    for name, content in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def tar_bytes(files=FILES):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def write_zip(place: Path, files=FILES) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return place


def write_source(kind: str, place: Path) -> Path:
    path = place / f"c{kind}"
    if kind == ".zip":
        return write_zip(path)
    if kind == "":
        path.mkdir()
        return write_directory(path)
    data = tar_bytes()
    if kind.endswith("gz"):
        data = gzip.compress(data)
    elif kind.endswith(".zst"):
        data = pa.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    return path


def contents(paths):
    return {m.id: m.read() if m.read else Path(m.file).read_bytes() for m in Sources(paths)}


@pytest.mark.parametrize("kind", ["", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"])
def test_every_kind_of_source_gives_the_same_documents(kind, tmp_path):
    sources = Sources([write_source(kind, tmp_path)])
    found = {m.id: m.read() if m.read else Path(m.file).read_bytes() for m in sources}
    assert sorted(found) == IDS
    assert found["co/r2"] == b"<a>2</a>"
    assert dict(sources.passed_over) == {".dtd": 1, "no extension": 1}


def test_a_directory_is_walked_in_sorted_order(tmp_path):
    assert [member.id for member in Sources([write_directory(tmp_path)])] == IDS


def test_hidden_files_and_links_to_directories_are_counted_not_read(tmp_path):
    write_directory(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    sources = Sources([tmp_path])
    assert [member.id for member in sources] == IDS
    assert sources.passed_over.total() == 4


@pytest.mark.parametrize("name", [".loop", ".loop.xml", "loop"])
def test_a_link_that_leads_to_itself_is_passed_over(name, tmp_path):
    write_directory(tmp_path)
    before = Sources([tmp_path])
    list(before)
    (tmp_path / name).symlink_to(name)
    sources = Sources([tmp_path])
    assert [member.id for member in sources] == IDS
    assert sources.passed_over - before.passed_over == {name: 1}


def test_a_single_file_is_a_source(tmp_path):
    (tmp_path / "one.xml").write_bytes(b"<a/>")
    assert list(contents([tmp_path / "one.xml"])) == ["one"]


def test_two_files_with_the_same_id_are_both_named(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "a.xml").write_text("<a/>")
    with pytest.raises(CollectionError, match=r"id 'a': \S*a\.txt and \S*a\.xml"):
        list(Sources([tmp_path]))


def test_the_same_id_in_two_sources_is_refused(tmp_path):
    archive = write_zip(tmp_path / "c.zip", {"a.xml": b"<a/>"})
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("x")
    with pytest.raises(CollectionError, match=r"c\.zip:a\.xml and \S*a\.md"):
        list(Sources([archive, tmp_path / "d"]))


@pytest.mark.parametrize(
    ("name", "what"),
    [("../a.xml", r"'\.\.' in its name"), ("/etc/a.xml", "an absolute name"), ("C:/a.xml", "an absolute name")],
)
@pytest.mark.parametrize("kind", [".zip", ".tar"])
def test_a_member_that_reaches_outside_is_refused_by_name(name, what, kind, tmp_path):
    path = tmp_path / f"c{kind}"
    if kind == ".zip":
        write_zip(path, {name: b"<a/>"})
    else:
        path.write_bytes(tar_bytes({name: b"<a/>"}))
    with pytest.raises(CollectionError, match=f"refused member '{name}': {what}"):
        list(Sources([path]))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_refused(kind, tmp_path):
    with tarfile.open(tmp_path / "c.tar", "w") as archive:
        info = tarfile.TarInfo("a.xml")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(CollectionError, match=r"refused member 'a\.xml': a (link|device)"):
        list(Sources([tmp_path / "c.tar"]))


def test_a_link_in_a_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        info = zipfile.ZipInfo("a.xml")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(CollectionError, match=r"refused member 'a\.xml': a link"):
        list(Sources([tmp_path / "c.zip"]))


@pytest.mark.parametrize("kind", [".zip", ".tar", ".tar.gz", ".tar.zst"])
@pytest.mark.parametrize("keep", [0.1, 0.2, 0.35])
def test_a_truncated_archive_is_an_error(kind, keep, tmp_path):
    path = write_source(kind, tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(CollectionError, match="expected a whole archive"):
        contents([path])


@pytest.mark.parametrize("harm", [lambda data: data.replace(b"<a>1", b"<a>7"), lambda data: data[:-4]])
def test_a_damaged_archive_is_found_by_its_checksum_even_where_every_document_reads(harm, tmp_path):
    (tmp_path / "c.tar.gz").write_bytes(harm(gzip.compress(tar_bytes(), 0)))
    with pytest.raises(CollectionError, match=r"c\.tar\.gz: expected a whole archive"):
        contents([tmp_path / "c.tar.gz"])


def test_a_tar_cut_between_two_members_is_an_error(tmp_path):
    (tmp_path / "c.tar").write_bytes(tar_bytes()[:1024])
    with pytest.raises(CollectionError, match="without its end marker"):
        contents([tmp_path / "c.tar"])


@pytest.mark.parametrize("kind", [".zip", ".tar"])
def test_a_member_that_expands_too_far_is_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_BYTES", 4)
    with pytest.raises(CollectionError, match=r"refused member 'co/r1\.xml': more than"):
        contents([write_source(kind, tmp_path)])


def test_a_zip_member_with_a_false_size_is_refused(tmp_path):
    path = write_zip(tmp_path / "c.zip", {"a.xml": b"<a>" + b"x" * 5000 + b"</a>"})
    data = path.read_bytes()
    real = (5007).to_bytes(4, "little")
    path.write_bytes(data.replace(real, (10).to_bytes(4, "little")))
    with pytest.raises(CollectionError, match="expected a whole archive"):
        contents([path])


@pytest.mark.parametrize("name", ["missing", "missing.zip", "missing.xml"])
def test_a_source_that_does_not_exist_is_named(name, tmp_path):
    with pytest.raises(CollectionError, match=f"{name}: no such file or directory"):
        list(Sources([tmp_path / name]))


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "a.tex").write_bytes(b"%PDF")
    with pytest.raises(CollectionError, match=r"expected a directory, an archive or one of .*, found \.tex"):
        list(Sources([tmp_path / "a.tex"]))


def test_a_name_that_is_no_utf8_is_refused(tmp_path):
    info = tarfile.TarInfo("r\udce9.xml")
    with tarfile.open(tmp_path / "c.tar", "w", errors="surrogateescape") as archive:
        archive.addfile(info)
    with pytest.raises(CollectionError, match="expected a file name in UTF-8"):
        list(Sources([tmp_path / "c.tar"]))


NAMES = [
    "a.xml",
    "b.xml",
    "c..xml",
    "a.b.xml",
    "B.XML",
    "a.txt",
    "d.xml.gz",
    "notes",
    "x.tex",
    ".hidden.xml",
    "ä.xml",
    "sub/a.xml",
    "sub/b.xml",
    "sub/.c.xml",
    "sub/deep/ö.xml",
    "-.xml",
    "back\\slash.xml",
    "dir.xml/g.xml",
]


@given(st.sets(st.sampled_from([*NAMES, "e\nf.xml"])))
def test_files_of_a_directory_together_are_those_found_one_by_one(names):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("<a/>")
        together, alone = Sources([Path(folder)]), Sources([Path(folder)])
        found = _members_or_error(together)
        with mock.patch("focuseval.collection.sources.usual", lambda entries: (".xml", [False] * len(entries))):
            assert _members_or_error(alone) == found
        assert alone.passed_over == together.passed_over


def _members_or_error(sources):
    try:
        return list(sources)
    except CollectionError as error:
        return str(error)


def test_batches_cut_a_directory_where_their_size_is_reached(tmp_path):
    files = Files("d/", "", ".xml", 1_500_000, [f"{number}.xml" for number in range(8)])
    made = list(batches([files, Member("z", "z.xml", ".xml", 10)], tmp_path))
    assert [[member.id for member in batch.documents()] for batch in made] == [list("012"), list("345"), [*"67", "z"]]
    assert made[0].documents()[0] == Member("0", "d/0.xml", ".xml", 1_500_000)


def test_batches_for_a_cluster_begin_three_times_as_large(tmp_path):
    files = Files("d/", "", ".xml", 1_000_000, [f"{number}.xml" for number in range(17)])
    sizes = {far: [len(batch.documents()) for batch in batches([files], tmp_path, far=far)] for far in (False, True)}
    assert sizes == {False: [4, 4, 4, 4, 1], True: [12, 5]}
