"""A published collection is one file: others can cite it, load it and score with it."""

import hashlib
import json
import zipfile

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.example import ROOT

HARBOUR = ROOT / "harbour"
SAID = (
    "--title", "Harbour handbook", "--licence", "Apache-2.0", "--creator", "Ann", "--creator", "Bo", "--language", "en",
    "--description", "Questions about a harbour.", "--source", "Written for it.", "--citation", "Ann and Bo, 2026",
)  # fmt: skip


def publish(*arguments):
    given = ["publish", str(HARBOUR / "gold.jsonl"), "--docs", str(HARBOUR / "docs"), *map(str, arguments)]
    return CliRunner().invoke(main, given)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    target = tmp_path_factory.mktemp("published") / "harbour.zip"
    result = publish("-o", target, *SAID)
    assert result.exit_code == 0, result.output
    return target


@pytest.fixture(scope="module")
def run():
    return fe.retrieve(HARBOUR / "docs", HARBOUR / "gold.jsonl", unit="passage:50", run_id="bm25")


def test_a_run_is_scored_with_the_file_alone_as_with_gold_and_documents(collection, run, tmp_path):
    fe.write_run(run, tmp_path / "run.jsonl", "run-jsonl")
    said = []
    for gold in ([str(collection)], [str(HARBOUR / "gold.jsonl"), "--docs", str(HARBOUR / "docs")]):
        given = ["score", gold[0], str(tmp_path / "run.jsonl"), *gold[1:], "-m", "spanR@3", "--format", "json"]
        said.append(json.loads(CliRunner().invoke(main, [*given, "--per-topic"]).stdout)["runs"][0]["per_topic"])
    assert said[0] == said[1]
    assert len(said[0]) == 41


def test_every_file_has_the_hash_that_manifest_and_metadata_name(collection):
    with zipfile.ZipFile(collection) as archive:
        manifest, croissant = (json.loads(archive.read(name)) for name in ("manifest.json", "croissant.json"))
        found = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert {name: one["sha256"] for name, one in manifest["files"].items()} == {
        name: digest for name, digest in found.items() if name != "manifest.json"
    }
    assert {one["@id"]: one["sha256"] for one in croissant["distribution"]} == {
        name: found[name] for name in ("documents.jsonl", "topics.jsonl", "gold/gold.jsonl")
    }


def test_the_metadata_says_what_was_said_and_every_field_is_in_its_file(collection):
    with zipfile.ZipFile(collection) as archive:
        croissant = json.loads(archive.read("croissant.json"))
        for records in croissant["recordSet"]:
            for field in records["field"]:
                file = field["source"]["fileObject"]["@id"]
                lines = map(json.loads, archive.read(file).decode().rstrip("\n").split("\n"))
                assert any(field["source"]["extract"]["column"] in line for line in lines), field
        card = archive.read("README.md").decode()
    assert croissant["license"] == "Apache-2.0"
    assert [one["name"] for one in croissant["creator"]] == ["Ann", "Bo"]
    assert "Not said." not in card
    assert card.startswith('---\npretty_name: "Harbour handbook"\nlicense: "apache-2.0"\n')


def test_documents_have_the_same_ids_in_all_files(collection):
    with zipfile.ZipFile(collection) as archive:
        lines = {
            name: [json.loads(line) for line in archive.read(name).decode().split("\n") if line]
            for name in ("documents.jsonl", "gold/gold.jsonl")
        }
    known = {line["doc"] for line in lines["documents.jsonl"]}
    assert {line["doc"] for line in lines["gold/gold.jsonl"] if "doc" in line} <= known


def test_equal_collections_are_equal_bytes(collection, tmp_path):
    assert publish("-o", tmp_path / "again.zip", *SAID).exit_code == 0
    assert (tmp_path / "again.zip").read_bytes() == collection.read_bytes()


def test_check_names_what_is_missing_and_writes_nothing(tmp_path):
    result = publish("--check", "--title", "Harbour", "-o", tmp_path / "none.zip")
    assert result.exit_code == 1
    missing = [line for line in result.stdout.splitlines() if line.startswith("missing: ")]
    assert [line.split(":")[1].strip() for line in missing] == [
        "description", "licence", "creators", "citation", "source",
    ]  # fmt: skip
    assert not (tmp_path / "none.zip").exists()
    assert publish("--check", *SAID).exit_code == 0


def test_hashes_stand_in_for_texts_that_may_not_be_passed_on(run, tmp_path):
    target = tmp_path / "hashes.zip"
    assert publish("-o", target, "--hashes", *SAID).exit_code == 0
    with zipfile.ZipFile(target) as archive:
        assert b"Skerrin" not in archive.read("documents.jsonl")
    fe.write_run(run, tmp_path / "run.jsonl", "run-jsonl")
    score = ["score", str(target), str(tmp_path / "run.jsonl"), "-m", "spanR@3", "--docs"]
    assert CliRunner().invoke(main, [*score, str(HARBOUR / "docs")]).exit_code == 0
    (tmp_path / "docs").mkdir()
    for page in (HARBOUR / "docs").iterdir():
        (tmp_path / "docs" / page.name).write_text(page.read_text(encoding="utf-8") + "More.", encoding="utf-8")
    other = CliRunner().invoke(main, [*score, str(tmp_path / "docs")])
    assert other.exit_code == 1
    assert "expected the texts that were judged" in other.stderr


def test_ir_datasets_loads_the_file_by_its_path(collection):
    pytest.importorskip("ir_datasets", reason="ir_datasets is not installed: see the dependency group 'bridges'")
    from focuseval.bridges.ir_datasets import published  # noqa: PLC0415  needs the package

    dataset = published(collection)
    assert dataset.docs_count() == 12
    assert next(iter(dataset.queries_iter())).title.startswith("On which VHF channel")
    assert sum(qrel.relevance for qrel in dataset.qrels_iter()) == 42


def test_a_title_is_asked_for(tmp_path):
    result = publish("-o", tmp_path / "none.zip")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "--title" in result.stderr
