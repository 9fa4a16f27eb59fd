"""Images of figures: found where the collection holds them, and nowhere else."""

import base64
import gzip
import shutil
import tarfile
import zipfile

import pytest

from focuseval import build_index, open_documents, open_index
from focuseval.collection import images
from focuseval.collection.images import Images
from focuseval.collection.rendering import DocumentCache, render

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JATS = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><body><p>Before.</p>
<fig><label>Fig 1</label><caption><p>A tide.</p></caption><graphic xlink:href="g001"/></fig>
<p>Behind.</p></body></article>"""
FILES = {
    "a/jats.xml": JATS,
    "a/page.html": '<h1>T</h1><p>One <img src="pics/two%20words.png" alt="x"> two.</p><p>End.</p>',
    "a/book.xml": '<para>Text.<mediaobject><imagedata fileref="/top.png"/></mediaobject></para>',
    "a/read.md": "# T\n\n![A tide](g001.png)\n\nEnd.\n",
}
HELD = ("a/g001.png", "a/pics/two words.png", "top.png")


def written(folder, files=FILES, held=HELD):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in held:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(PNG)
    return folder


def packed(folder, kind):
    target = folder.with_name(f"docs.{kind}")
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for file in sorted(folder.rglob("*.*")):
                archive.write(file, file.relative_to(folder))
        return target
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, ".")
    return target


def found(index):
    """Return every document's images: the text before each, and its name."""
    every = Images(index)
    return {
        name: [(index.text(row)[:at].split()[-1:], file) for at, file in every.of(row)]
        for row, name in enumerate(index.ids.to_pylist())
    }


EXPECTED = {
    "a/jats": [(["tide."], "a/g001.png")],
    "a/page": [(["One"], "a/pics/two words.png")],
    "a/book": [(["Text."], "top.png")],
    "a/read": [(["tide](g001.png)"], "a/g001.png")],
}


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz", "index"])
def test_images_of_every_kind_of_document_are_found_in_a_folder_or_an_archive(tmp_path, kind):
    source = folder = written(tmp_path / "docs")
    if kind in {"zip", "tar.gz"}:
        source = packed(folder, kind)
        shutil.rmtree(folder)
    if kind == "index":
        build_index(folder, tmp_path / "x.idx", jobs=1)
    index = open_index(tmp_path / "x.idx") if kind == "index" else open_documents(source)
    assert found(index) == EXPECTED
    row = index.ids.to_pylist().index("a/jats")
    assert Images(index).read(row, 0) == PNG
    assert Images(index).read(row, 1) is None


def test_a_compressed_document_and_the_name_of_an_older_identifier_have_their_images(tmp_path):
    folder = written(tmp_path / "docs", {"b.xml": JATS.replace("g001", "info:doi/10.1371/g001")}, ["g001.png"])
    (folder / "b.xml.gz").write_bytes(gzip.compress((folder / "b.xml").read_bytes()))
    (folder / "b.xml").unlink()
    assert found(open_documents(folder)) == {"b": [(["tide."], "g001.png")]}


@pytest.mark.parametrize(
    "reference",
    [
        *("../secret.png", "/../secret.png", "%2e%2e/secret.png", "..\\secret.png", "a/../../secret.png", "link.png"),
        *("file:///secret.png", "http://example.org/a.png", "//example.org/a.png", "data:image/png;base64,AAAA", "[x"),
        *(".hidden.png", "large.png", "gone.png", "", "folder"),
    ],
)
def test_what_is_not_an_image_of_the_collection_is_none(tmp_path, monkeypatch, reference):
    monkeypatch.setattr(images, "MAX_BYTES", 1000)
    folder = written(tmp_path / "docs", {"a.html": f'<p>One <img src="{reference}"></p>'}, [".hidden.png"])
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "large.png").write_bytes(PNG + bytes(1000))
    (folder / "folder").mkdir()
    assert found(open_documents(folder)) == {"a": []}


def test_what_does_not_begin_as_an_image_is_not_given_out(tmp_path):
    folder = written(tmp_path / "docs", {"a.html": '<img src="a.png"><p>x</p>'}, [])
    (folder / "a.png").write_text("<script>alert(1)</script>")
    index = open_documents(folder)
    assert Images(index).of(0) == [(0, "a.png")]
    assert Images(index).read(0, 0) is None


def test_a_source_that_has_changed_or_gone_has_no_images(tmp_path):
    folder = written(tmp_path / "docs")
    build_index(folder, tmp_path / "x.idx", jobs=1)
    (folder / "a/jats.xml").write_text(JATS.replace("Before.", "Earlier."))
    assert found(open_index(tmp_path / "x.idx")) == EXPECTED | {"a/jats": []}
    shutil.rmtree(folder)
    assert found(open_index(tmp_path / "x.idx")) == {name: [] for name in EXPECTED}


def test_an_image_stands_behind_its_block_and_the_text_stays_as_it_is(tmp_path):
    table = '<table><tr><td>a<img src="g.png"></td><td>b</td></tr></table><p>End.</p><img src="g.png">'
    folder = written(tmp_path / "docs", {"a.html": f"<p>One.</p>{table}"}, ["g.png"])
    document = DocumentCache(open_documents(folder)).get("a")
    laid = render(document)
    assert "".join(document.text[block.start : block.end] for block in laid.blocks) == document.text
    starts = [*(block.start for block in laid.blocks), len(document.text)]
    shown = [group for group in laid.groups if group.kind in ("grid", "image")]
    kinds = [(group.kind, document.text[starts[group.first] :].split()[:1]) for group in shown]
    assert kinds == [("grid", ["a"]), ("image", ["End."]), ("image", [])]
