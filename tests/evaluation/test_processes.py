"""Other processes give the same scores, to the last bit, whatever gold, collection, runs and measures are."""

import json
from pathlib import Path

import numpy as np
import pytest

import focuseval.example
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.store import open_index
from focuseval.errors import FormatError, TaskError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_run
from focuseval.measures import Measure

EXAMPLE = Path(focuseval.example.__file__).parent
GOLD = EXAMPLE / "gold"


def runs(task):
    return sorted(str(path) for path in (EXAMPLE / "runs" / task).iterdir())


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    target = tmp_path_factory.mktemp("index") / "articles.idx"
    build_index(EXAMPLE / "articles", target, jobs=1)
    return {"index": open_index(target), "memory": open_documents(EXAMPLE / "articles"), "none": None}


def both(gold, sources, measures, **options):
    one, two = (evaluate(gold, sources, measures, jobs=jobs, **options) for jobs in (1, 3))
    said = [json.dumps(scores.to_json(per_topic=True)) for scores in (one, two)]
    assert said[0] == said[1]
    assert one.remarks() == two.remarks()
    return two


@pytest.mark.parametrize("collection", ["index", "memory"])
@pytest.mark.parametrize("task", ["focused", "relevant-in-context"])
def test_elements_and_passages(collections, collection, task):
    found = both(str(GOLD / "assessments"), runs(task), None, task=task, index=collections[collection])
    assert len(found.runs) > 1


def test_without_a_collection():
    both(str(GOLD / "qrels.txt"), runs("relevant-in-context"), ["MAgP", "AP"])


def test_runs_in_memory(collections):
    sources = [read_run(run) for run in runs("focused")]
    both(str(GOLD / "assessments"), sources, ["nxCG@10"], task="focused", index=collections["none"])


def test_a_measure_without_a_name_in_any_module():
    own = Measure("own", lambda m: np.diff(m.bounds).astype(float), "Results.", "me", bounds=(0, float("inf")))
    assert both(str(GOLD / "qrels.txt"), runs("relevant-in-context"), [own]).values.min() >= 0


def test_what_explains_a_score_is_matched_when_it_is_asked_for():
    one, two = (evaluate(str(GOLD / "qrels.txt"), runs("relevant-in-context"), ["MAgP"], jobs=j) for j in (1, 2))
    assert one.curve("MAgP").equals(two.curve("MAgP"))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_refused_run_is_the_same_line(tmp_path, jobs):
    bad = tmp_path / "bad.xml"
    bad.write_text(Path(runs("focused")[0]).read_text().replace("<rank>", "<rank>no", 1))
    with pytest.raises(FormatError, match=r"bad\.xml:[0-9]+"):
        evaluate(str(GOLD / "assessments"), [runs("focused")[0], bad, bad], ["nxCG@10"], task="focused", jobs=jobs)
    thorough = runs("thorough")
    with pytest.raises(TaskError, match=r"expected no overlap|expected each result once"):
        evaluate(str(GOLD / "assessments"), [*thorough, *thorough], ["nxCG@10"], task="focused", jobs=jobs)
