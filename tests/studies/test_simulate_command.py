"""``focuseval simulate``: the best run for every task and profile, and runs that say how they were made."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.example import ROOT

GOLD, ARTICLES = ROOT / "gold" / "gold.jsonl", ROOT / "articles"
OFFICIAL = {
    "thorough": ["MAep", "iMAep"],
    "focused": ["nxCG@5", "nxCG@10", "nxCG@50"],
    "relevant-in-context": ["MAgP", "gP@5"],
    "best-in-context": ["MAgP(score=bep,n=500)", "BEPD(A=0.1)"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def simulated(name, *options):
    line = ["simulate", str(GOLD), "--docs", str(ARTICLES), "-o", name, *options]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 0, done.output
    return name


def means(runs, *options):
    line = ["score", str(GOLD), *runs, "--docs", str(ARTICLES), "--json", *options]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 0, done.output
    return [run["measures"] for run in json.loads(done.stdout)["runs"]]


@pytest.mark.parametrize("task", OFFICIAL)
def test_no_noise_is_the_best_run_for_its_task_and_noise_costs(task):
    noises = ("0", "0.2", "0.5", "1")
    runs = [
        simulated(f"{noise}-{seed}.xml", "--kind", "degraded", "--noise", noise, "--seed", seed, "--task", task)
        for noise in noises
        for seed in ("1", "2", "3")
    ]
    measures = [part for measure in OFFICIAL[task] for part in ("-m", measure)]
    found = means(runs, "--task", task, *measures)
    for measure in OFFICIAL[task]:
        values = [run[measure] for run in found]
        assert min(values[:3]) >= max(values[3:]), (measure, values)
    if task in {"thorough", "focused"}:
        assert found[0][OFFICIAL[task][0]] == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "task", "measure"),
    [("ideal", "focused", "nxCG@10"), ("full", "thorough", "MAep"), ("degraded", "focused", "nxCG@10")],
)
def test_the_best_run_of_a_profile_scores_1_under_it_where_links_are_highlighted(kind, task, measure):
    noise = ["--noise", "0", "--task", task] if kind == "degraded" else []
    with_links = simulated("links.xml", "--kind", kind, *noise)
    without = simulated("none.xml", "--kind", kind, "--profile", "inex2006", *noise)
    before, after = means([with_links, without], "--profile", "inex2006", "--task", task, "-m", measure)
    assert before[measure] < 1
    assert after[measure] == pytest.approx(1)
    assert "link[" not in Path(without).read_text()


def test_the_kinds_of_the_space_keep_their_links():
    simulated("a.xml", "--kind", "S_ST-R")
    simulated("b.xml", "--kind", "S_ST-R", "--profile", "inex2006")
    assert Path("a.xml").read_bytes() == Path("b.xml").read_bytes()
    assert "link[" in Path("a.xml").read_text()


def test_tags_that_are_dropped_are_in_no_base_and_named_in_the_signature():
    ideal = simulated("ideal.xml", "--kind", "full", "--drop-tags", "emph,title")
    assert "/emph[" not in Path(ideal).read_text()
    whole, dropped = (
        CliRunner().invoke(
            main,
            ["score", str(GOLD), ideal, "--docs", str(ARTICLES), "--task", "thorough", "-m", "MAep", "--json", *more],
        )
        for more in ([], ["--drop-tags", "emph, title"])
    )
    whole, dropped = json.loads(whole.stdout), json.loads(dropped.stdout)
    assert whole["runs"][0]["measures"]["MAep"] < 1
    assert dropped["runs"][0]["measures"]["MAep"] == pytest.approx(1)
    assert "drop_tags" not in whole["signature"]
    assert "|drop_tags:emph,title" in dropped["signature"]
    line = ["score", str(GOLD), ideal, "--docs", str(ARTICLES), "--drop-tags", "a,,b"]
    assert CliRunner().invoke(main, line).exit_code == 2


PAIRS = {"a": "23", "b": "31", "c": "13"}
GRADED = "".join(
    f'<file file="{d}"><path path="/article[1]" exhaustiveness="{es[0]}" specificity="{es[1]}"/></file>'
    for d, es in PAIRS.items()
)


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ([], "abc"),  # gen: .75, .75, .5
        (["--quant", "sog"], "acb"),  # .9, .25, .75: Kazai and Lalmas (2005), p. 15, "runs (using SOG)"
        (["--profile", "inex2004"], "acb"),
        (["--profile", "inex2004", "--quant", "gen"], "abc"),
        (["--quant", "e321_s3"], "ac"),
    ],
)
def test_runs_of_a_graded_recall_base_follow_the_quantisation(options, order):
    Path("gold.xml").write_text(f'<assessments topic="1">{GRADED}</assessments>')
    line = ["simulate", "gold.xml", "--kind", "ideal", "-o", "run.xml", *options]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 0, done.output
    assert "".join(re.findall("<file>(.)</file>", Path("run.xml").read_text())) == order


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--kind", "ideal"], "ideal"),
        (["--kind", "ideal", "--profile", "inex2006"], "ideal(profile=inex2006)"),
        (["--kind", "full", "--drop-tags", "p,b"], "full(drop_tags=p+b)"),
        (["--kind", "ideal", "--quant", "strict5"], "ideal(quant=strict5)"),
        (["--kind", "random", "--seed", "3"], "random(results=1500,seed=3)"),
        (
            ["--kind", "degraded", "--noise", "0.5", "--seed", "7", "--task", "focused"],
            "degraded(noise=0.5,depth=0,size=0,results=1500,seed=7,task=focused)",
        ),
        (["--kind", "S_L-R_I"], "S_L-R_I"),
    ],
)
def test_a_run_says_in_its_name_how_it_was_made(options, name):
    simulated("run.xml", *options)
    assert f'run-id="{name}"' in Path("run.xml").read_text()
