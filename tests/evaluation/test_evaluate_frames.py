"""``evaluate`` takes what people have: frames of any library, lists of dictionaries, columns, paths and values."""

import json

import pyarrow as pa
import pytest

import focuseval as fe

GOLD = [
    {"topic": "q1", "doc": "tea", "start": 0, "end": 100},
    {"topic": "q2", "doc": "tea", "start": 50, "end": 100},
]
ROWS = [
    {"topic": "q1", "doc": "tea", "score": 0.9, "start": 0, "end": 60},
    {"topic": "q1", "doc": "tea", "score": 0.8, "start": 40, "end": 100},
    {"topic": "q2", "doc": "tea", "score": 0.7, "start": 0, "end": 75},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def frame(library):
    if library in {"pandas", "polars"}:
        return pytest.importorskip(library).DataFrame(COLUMNS)
    return {"rows": ROWS, "columns": COLUMNS, "pyarrow": pa.table(COLUMNS)}[library]


@pytest.mark.parametrize("library", ["rows", "columns", "pyarrow", "pandas", "polars"])
def test_a_frame_is_a_run(library):
    """By hand: q1 finds all of 100 characters in 100, q2 25 of 50 in 75."""
    scores = fe.evaluate(GOLD, frame(library), ["spanR", "spanP"])
    assert scores.means()["run"] == {"spanR": 0.75, "spanP": pytest.approx((1 + 25 / 75) / 2)}


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_a_frame_is_a_gold(library):
    table = pa.table({name: [row[name] for row in GOLD] for name in GOLD[0]})
    gold = {"pyarrow": lambda: table, "pandas": table.to_pandas, "polars": lambda: frame_of_polars(table)}
    if library != "pyarrow":
        pytest.importorskip(library)
    assert fe.evaluate(gold[library](), ROWS, ["spanR"]).means()["run"]["spanR"] == 0.75


def frame_of_polars(table):
    return pytest.importorskip("polars").from_arrow(table)


def test_several_frames_are_several_runs():
    scores = fe.evaluate(GOLD, [pa.table(COLUMNS), ROWS[:1]], ["spanR"])
    assert scores.mean[:, 0].tolist() == [0.75, 0.3]


def test_scores_go_back_into_a_frame():
    table = fe.evaluate(GOLD, ROWS, ["spanR"]).to_arrow()
    assert table.to_pylist()[1] == {"run": "run", "topic": "q2", "measure": "spanR", "value": 0.5}


def test_paths_and_values_mix(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        "".join(
            json.dumps({"topic": g["topic"], "doc": g["doc"], "spans": [{"start": g["start"], "end": g["end"]}]}) + "\n"
            for g in GOLD
        )
    )
    scores = fe.evaluate(gold, [path, fe.read_run(path), ROWS], ["spanR"], docs={"tea": "x" * 100})
    assert scores.mean[:, 0].tolist() == [0.75] * 3


def test_print_shows_the_means():
    assert str(fe.evaluate(GOLD, ROWS, ["spanR"])).splitlines()[2].split() == ["run", "0.7500", "2", "0", "0", "0"]


def test_runs_have_the_names_that_they_are_given(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    named = {"file": path, "text": str(path), "frame": pa.table(COLUMNS), "rows": ROWS, "columns": COLUMNS}
    named["results"] = {"q1": [{"doc": "tea", "start": 0, "end": 100}]}
    scores = fe.evaluate(GOLD, named, ["spanR"])
    assert scores.runs == scores.names == tuple(named)
    assert scores.mean[:, 0].tolist() == [0.75] * 5 + [0.5]
    assert fe.evaluate(GOLD, {"one": ROWS}, ["spanR"], jobs=2).means() == {"one": {"spanR": 0.75}}
    assert fe.evaluate(GOLD, named["results"], ["spanR"]).runs == ("run",)


def test_scores_show_themselves_in_one_line():
    scores = fe.evaluate(GOLD, {"bm25": ROWS}, ["spanR", "spanP@1"])
    assert repr(scores) == "<Scores of 1 run over 2 topics: bm25 has spanR 0.7500, spanP@1 0.6667>"


def test_scores_go_into_a_pandas_frame():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = fe.evaluate(GOLD, ROWS, ["spanR"]).to_pandas()
    assert frame["value"].tolist() == [1.0, 0.5]
