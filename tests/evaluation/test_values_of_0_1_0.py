"""The values that version 0.1.0 printed for the embedded example, by the same commands."""

import json
from itertools import chain
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.collection.build import build_index
from focuseval.example import ROOT

STORED = Path(__file__).parent / "stored" / "example-0.1.0.jsonl"
"""A command a line: its gold, its runs, its options and measures, and the means that 0.1.0 gave, run by run."""

CASES = [json.loads(line) for line in STORED.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    target = tmp_path_factory.mktemp("values") / "sea.idx"
    build_index(ROOT / "articles", target, jobs=1)
    return target


@pytest.mark.parametrize("place", sorted({(case["gold"], case["runs"]) for case in CASES}), ids=" ".join)
def test_a_score_is_the_one_that_0_1_0_printed(index, place):
    for case in CASES:
        if (case["gold"], case["runs"]) == place:
            runs = sorted(map(str, (ROOT / "runs" / case["runs"]).iterdir()))
            asked = chain.from_iterable(("-m", name) for name in case["measures"])
            options = ["--index", str(index), "--json", *case["options"], *asked]
            told = CliRunner().invoke(main, ["score", str(ROOT / case["gold"]), *runs, *options])
            assert told.exit_code == 0, told.output
            found = {run["run"]: run["measures"] for run in json.loads(told.stdout)["runs"]}
            assert found == {run: pytest.approx(means, rel=1e-12, nan_ok=True) for run, means in case["means"].items()}
