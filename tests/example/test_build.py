"""What is derived in the embedded example can be derived again, byte for byte, and is lawful."""

from pathlib import Path

import numpy as np
import pytest

from embedded.build import build
from focuseval.collection.documents import open_documents
from focuseval.example import ROOT
from focuseval.formats import read_gold, read_run
from focuseval.measures.checks import check

RUNS = sorted(path for path in (ROOT / "runs").rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def index():
    return open_documents(ROOT / "articles")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    build(folder)
    return folder


def files(folder: Path) -> dict[str, Path]:
    parts = [folder / "gold", folder / "runs", folder / "topics-2009.xml", folder / "harbour" / "gold.jsonl"]
    found = [p for part in parts for p in ([part] if part.is_file() else part.rglob("*")) if p.is_file()]
    return {str(path.relative_to(folder)): path for path in found}


def test_the_same_files_are_derived(built):
    assert set(files(built)) == set(files(ROOT))


@pytest.mark.parametrize("name", sorted(files(ROOT)))
def test_a_derived_file_is_the_same_to_the_byte(built, name):
    assert (built / name).read_bytes() == (ROOT / name).read_bytes(), "run 'make example' and look at the difference"


@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_run_keeps_its_tasks_rules(path, index):
    run = read_run(path, index=index)
    assert list(check(run, path.parent.name, index=index)) == []
    assert len(run.topics) == 6


def test_three_runs_for_each_task():
    per_task = {folder.name: len(list(folder.iterdir())) for folder in (ROOT / "runs").iterdir()}
    expected = dict.fromkeys(("thorough", "focused", "relevant-in-context", "best-in-context"), 3) | {"spans": 2}
    assert per_task == expected


@pytest.mark.parametrize("name", ["assessments", "qrels.txt"])
def test_all_forms_of_the_gold_say_the_same(name, index):
    spans, other = read_gold(ROOT / "gold" / "gold.jsonl", index=index), read_gold(ROOT / "gold" / name, index=index)
    assert described(spans) == described(other)


def described(gold) -> tuple[set, set]:
    documents, parts, judged = gold.documents.to_pylist(), gold.passages, gold.articles
    highlights = {
        (gold.topics[t], documents[d], int(start), int(end))
        for t, d, start, end in zip(parts.topic, parts.document, parts.start, parts.end, strict=True)
    }
    articles = {
        (gold.topics[t], documents[d], int(bep), bool(relevant))
        for t, d, bep, relevant in zip(judged.topic, judged.document, judged.bep, judged.relevance, strict=True)
    }
    return highlights, articles


def test_the_gold_is_neither_empty_nor_everything(index):
    gold = read_gold(ROOT / "gold" / "gold.jsonl", index=index)
    relevant = gold.articles.relevance > 0
    assert gold.relevant_topics.all()
    assert 15 <= relevant.sum() < len(relevant)
    assert np.all(gold.articles.bep[relevant] >= 0)
    assert np.all(gold.articles.rsize[relevant] < gold.articles.length[relevant])
