"""``--cluster-by``, ``--interval`` and ``--trials`` on the command line, and what Python makes of them."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import NotComparableError

DOCUMENTS = 8


def write(name, lines):
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Forty questions about eight documents, and runs of two systems: ``old``, and ``new.0`` to ``new.2``."""
    monkeypatch.chdir(tmp_path)
    topics = [(f"q{n}", f"d{n % DOCUMENTS}") for n in range(40)]
    write("gold.jsonl", [{"topic": t, "doc": d, "relevance": 1, "group": f"g{d[1:]}"} for t, d in topics])
    rng, easy = np.random.default_rng(0), np.random.default_rng(1).random(DOCUMENTS)
    for name, skill in (("old", 0.0), ("new.0", 0.4), ("new.1", 0.4), ("new.2", 0.4)):
        found = [rng.random() < easy[int(d[1:])] + skill for _, d in topics]
        lines = [(t, d if hit else "other", 1) for (t, d), hit in zip(topics, found, strict=True)]
        lines += [(t, "other" if hit else d, 2) for (t, d), hit in zip(topics, found, strict=True)]
        write(f"{name}.jsonl", [{"topic": t, "doc": d, "rank": r, "run": name} for t, d, r in lines])
    return tmp_path


def told(*words):
    done = CliRunner().invoke(main, [*words, "--format", "json"])
    assert done.exit_code in {0, 1}, done.output
    return json.loads(done.stdout)


def test_compare_says_both_ps_where_questions_share_documents(campaign):
    (plain,) = told("compare", "gold.jsonl", "old.jsonl", "new.0.jsonl", "-m", "AP")["comparisons"]
    (by,) = told("compare", "gold.jsonl", "old.jsonl", "new.0.jsonl", "-m", "AP", "--cluster-by", "document")[
        "comparisons"
    ]
    (pair,), (clustered,) = plain["pairs"], by["pairs"]
    assert (plain["clusters"], by["clusters"]) == (None, {"by": "document", "number": DOCUMENTS})
    assert pair["by_document"]["p"] == clustered["p"] != pair["p"]
    assert pair["by_document"]["p_corrected"] == clustered["p_corrected"]
    assert "by_document" not in clustered
    assert "Judged in 8 clusters by document, " in plain["remarks"][0]
    assert not any("share documents" in line for line in by["remarks"])
    assert [run["rank"] for run in by["runs"]] in ([[1, 1], [2, 2]], [[1, 2], [1, 2]])
    assert all(low <= run["mean"] <= high <= 1 for run in by["runs"] for low, high in [run["interval"]])


def test_python_clusters_as_the_command_does(campaign):
    scores = fe.evaluate("gold.jsonl", ["old.jsonl", "new.0.jsonl"], ["AP"])
    by = {topic: f"d{int(topic[1:]) % DOCUMENTS}" for topic in scores.topics}
    found = [scores.compare("AP", clusters=which).p.tolist() for which in ("document", "group", by)]
    assert found[0] == found[1] == found[2]
    assert scores.compare("AP", interval="bca").low.tolist() != scores.compare("AP").low.tolist()


def test_report_sweep_and_gate_take_clusters(campaign):
    CliRunner().invoke(
        main, ["score", "gold.jsonl", "old.jsonl", "-m", "AP", "--per-topic", "--format", "json", "-o", "base.json"]
    )
    gate = told(
        *["gate", "gold.jsonl", "new.0.jsonl", "--baseline", "base.json", "-m", "AP", "--cluster-by", "document"]
    )
    assert "over 40 topics in 8 clusters" in gate["measures"][0]["sentence"]
    report = told(*["report", "gold.jsonl", "old.jsonl", "new.0.jsonl", "-m", "AP", "--cluster-by", "group"])
    assert report["about"]["test"].endswith("in 8 clusters by group")
    (compared,) = told(*["compare", "gold.jsonl", "old.jsonl", "new.0.jsonl", "-m", "AP", "--cluster-by", "group"])[
        "comparisons"
    ]
    means = {run["run"]: run["means"][0] for run in report["first"]["runs"]}
    for run in compared["runs"]:
        own = means[run["run"]]
        assert [own["low"], own["high"]] == pytest.approx(run["interval"])
        low, high = run["rank"]
        assert own["rank"] == f"{low if low == high else f'{low}–{high}'} {run['letters']}"


def test_an_unknown_field_is_one_line(campaign):
    done = CliRunner().invoke(
        main, ["compare", "gold.jsonl", "old.jsonl", "new.0.jsonl", "-m", "AP", "--cluster-by", "site"]
    )
    assert done.exit_code == 1
    assert done.stderr.endswith(
        "no topic of gold.jsonl has a cluster by 'site'; there are document, group, and tag:NAME for tags such as "
        "NAME:value\n"
    )


def test_the_mean_over_trials_is_tested_and_what_varies_is_shown(campaign):
    found = told("compare", "gold.jsonl", "old.jsonl", "--trials", "new=new.*.jsonl", "-m", "AP")
    (compared,) = found["comparisons"]
    runs = [f"new.{n}.jsonl" for n in range(3)]
    scores = fe.evaluate("gold.jsonl", {"old.jsonl": "old.jsonl", "new": runs}, ["AP"])
    apart = fe.evaluate("gold.jsonl", runs, ["AP"])
    assert scores.values[1] == pytest.approx(apart.values.mean(axis=0))
    assert compared["pairs"][0]["p"] == scores.compare("AP").p[0]
    assert {run["run"]: run["mean"] for run in compared["runs"]} == pytest.approx(
        {name: means["AP"] for name, means in scores.means().items()}
    )
    printed = CliRunner().invoke(
        main, ["compare", "gold.jsonl", "old.jsonl", "--trials", "new=new.*.jsonl", "-m", "AP"]
    )
    assert "help more." in printed.stdout
    assert "sd of whole trials" in printed.stdout
    assert len(found["trials"]) == 1
    over = ["compare", "gold.jsonl", "old.jsonl", "--trials", "new=new.*.jsonl", "-m", "AP", "-o", "new.1.jsonl"]
    assert CliRunner().invoke(main, over).exit_code == 2
    assert (scores.names, scores.counts[1].topics) == (("old.jsonl", "new"), 40)


def test_trials_are_no_single_runs(campaign):
    runs = {"new": ["new.0.jsonl", "new.1.jsonl"]}
    with pytest.raises(ValueError, match="means over trials"):
        fe.evaluate("gold.jsonl", runs, ["AP"]).curve("AP")
    with pytest.raises(NotComparableError, match="a report shows single runs, found trials"):
        fe.build_report("gold.jsonl", runs, ["AP"])


@pytest.mark.parametrize("given", ["new", "new=nothing.*", "=new.0.jsonl"])
def test_trials_without_a_name_or_files_are_a_usage_error(campaign, given):
    done = CliRunner().invoke(main, ["compare", "gold.jsonl", "old.jsonl", "--trials", given, "-m", "AP"])
    assert done.exit_code == 2
    assert f"Expected --trials NAME=FILES with files that exist, found {given!r}." in done.stderr
    assert CliRunner().invoke(main, ["compare", "gold.jsonl", "-m", "AP"]).exit_code == 2


def test_a_group_is_read_written_and_refused_where_it_changes(campaign, tmp_path):
    gold = fe.read_gold("gold.jsonl")
    assert gold.attributes["q9"] == {"group": "g1"}
    fe.write_gold(gold, "again.jsonl", "gold-jsonl")
    assert fe.read_gold("again.jsonl").attributes == gold.attributes
    rows = [{"question_id": "q1", "doc_id": "a", "quote": "x", "group": g} for g in ("one", "two")]
    write("rows.jsonl", rows[:1])
    assert fe.read_gold("rows.jsonl").attributes == {"q1": {"group": "one"}}
    write("rows.jsonl", rows)
    write("ours.jsonl", [{"topic": "q1", "doc": d, "spans": [], "group": d} for d in "ab"])
    for name in ("rows.jsonl", "ours.jsonl"):
        with pytest.raises(fe.FocusevalError, match=r":2: expected one group for topic 'q1', found another; keep one"):
            fe.read_gold(name)
