"""An index knows its own bytes: one that was changed in any place is refused, and never searched."""

import json
import random
import shutil
from contextlib import suppress

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import CollectionError
from focuseval.example import ROOT

QUERIES = {"1": "tides and the moon", "2": "harbour light"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "a.idx"
    fe.build_index(ROOT / "articles", folder, jobs=1)
    return folder, searched(folder)


def searched(folder):
    """What a search finds, with the texts that it stands in."""
    index = fe.open_index(folder)
    run, passages = fe.retrieve(index, QUERIES), fe.retrieve(index, QUERIES, unit="passage:20/10")
    texts = [index.document(name).text for name in dict.fromkeys(run.document.to_pylist())]
    found = [(one.document.to_pylist(), one.score.tolist()) for one in (run, passages)]
    return found, passages.end.tolist(), texts, index.documents.column("file").to_pylist()


def test_no_changed_byte_is_believed(made, tmp_path):
    folder, expected = made
    copy, chance, refused = tmp_path / "b.idx", random.Random(1), 0
    shutil.copytree(folder, copy)
    files = [file for file in sorted(copy.rglob("*")) if file.is_file()]
    assert len(files) > 15
    for file in files:
        whole = file.read_bytes()
        for place in {0, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(6))}:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << chance.randrange(8)
            file.write_bytes(damaged)
            found = None
            with suppress(CollectionError):
                found = searched(copy)
            refused += found is None
            assert found in (None, expected), (file, place)  # white space of JSON may be another
        file.write_bytes(whole)
    assert refused > 6 * len(files)
    assert searched(copy) == expected


def test_an_index_of_an_older_version_is_refused_in_one_line_and_may_be_replaced(made, tmp_path):
    folder, expected = made
    copy = tmp_path / "old.idx"
    shutil.copytree(folder, copy)
    metadata = json.loads((copy / "metadata.json").read_bytes()) | {"version": 1}
    del metadata["check"], metadata["checksums"]
    (copy / "metadata.json").write_text(json.dumps(metadata))
    result = CliRunner().invoke(main, ["search", str(copy), "tides"])
    assert (result.exit_code, result.stderr) == (
        1,
        f"{copy}: expected an index of version 3, found 1; make one with 'focuseval index'\n",
    )
    fe.build_index(ROOT / "articles", copy, jobs=1, force=True)
    assert searched(copy) == expected
