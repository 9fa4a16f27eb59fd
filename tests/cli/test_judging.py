"""How differences are judged on the command line: one p everywhere, one set of options, few topics, a baseline."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.example import ROOT
from focuseval.example.demo import Loop, walk

GOLD, ARTICLES = str(ROOT / "gold" / "gold.jsonl"), str(ROOT / "articles")
RUNS = [str(ROOT / "runs" / "relevant-in-context" / f"{name}.txt") for name in ("careful", "coarse", "hasty")]
ASKED = ["-m", "MAgP", "--task", "relevant-in-context", "--profile", "inex2006"]
JUDGING = ("--test", "--tails", "--resamples", "--alpha", "--correction", "--seed")


def invoke(*call):
    return CliRunner().invoke(main, [str(word) for word in call])


def comparison(*call):
    done = invoke("compare", GOLD, *call, "--docs", ARTICLES, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["comparisons"][0]


def report(*call):
    done = invoke("report", GOLD, *call, "--docs", ARTICLES, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def p_of(pairs):
    return {(pair["better"], pair["worse"]): pair["p"] for pair in pairs}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "sea"
    done = invoke("demo", folder)
    assert done.exit_code == 0
    return folder, done.output


def test_the_p_of_a_pair_is_the_same_in_compare_report_demo_and_notebook(demo):
    """By hand: careful wins four of six topics, hasty loses all six to both others, 2/64."""
    found = p_of(comparison(*RUNS, *ASKED)["pairs"])
    assert found == {("careful", "coarse"): 0.375, ("careful", "hasty"): 1 / 32, ("coarse", "hasty"): 1 / 32}
    told = report(*RUNS, *ASKED)
    names = [line["run"] for line in told["first"]["runs"]]
    against = told["first"]["verdict"]["against"]
    assert {("careful", names[one["run"]]): one["p"] for one in against} == {
        pair: p for pair, p in found.items() if pair[0] == "careful"
    }
    scores = fe.evaluate(GOLD, RUNS, ["MAgP"], docs=ARTICLES, task="relevant-in-context", profile="inex2006")
    assert scores.compare("MAgP").p.tolist() == list(found.values())
    assert list(walk(Loop(demo[0])))[-1].table.rows[0][4:6] == ("0.3750", "0.3750")
    assert re.search(r"^p +0\.3750 +0\.0312 +0\.0312$", demo[1], re.MULTILINE)
    assert "p = 0.3750; cannot tell: 6 topics differ" in (demo[0] / "inex.html").read_text(encoding="utf-8")


def test_two_runs_have_the_same_p_alone_as_among_others():
    for pair in ((0, 1), (0, 2), (1, 2)):
        runs = [RUNS[n] for n in pair]
        (alone,) = comparison(*runs, *ASKED)["pairs"]
        (said,) = report(*runs, *ASKED)["first"]["verdict"]["against"]
        among = p_of(comparison(*RUNS, *ASKED)["pairs"])
        assert alone["p"] == said["p"] == among[alone["better"], alone["worse"]]
        assert [said["high"], said["low"]] == [-edge for edge in alone["interval"]]


def test_every_output_says_test_tails_correction_and_family(demo):
    method = "randomisation, two-tailed at 0.05, exact, Holm over all 3 pairs"
    assert comparison(*RUNS, *ASKED)["method"] == method
    told = report(*RUNS, *ASKED)
    assert told["about"]["test"] == method
    assert method in told["first"]["verdict"]["reason"]
    assert method in demo[1]
    assert f"{method}; 6 topics." in invoke("compare", GOLD, *RUNS, *ASKED, "--docs", ARTICLES).stdout
    stars = next(chart for chart in told["charts"] if chart["id"] == "stars")
    assert f"({method})" in stars["caption"]
    assert {row[4] for row in stars["rows"]} == {"itself", "no"}


def test_a_baseline_makes_a_family_of_its_pairs_in_compare_and_report():
    found = comparison(*RUNS, *ASKED, "--baseline", "careful")
    assert found["family"] == {"pairs": 2, "of": "the 2 pairs with careful", "baseline": "careful"}
    assert {frozenset((pair["better"], pair["worse"])) for pair in found["pairs"]} == {
        frozenset({"careful", other}) for other in ("coarse", "hasty")
    }
    assert comparison(*RUNS[1:], *ASKED, "--baseline", RUNS[0]) == found
    told = report(*RUNS[1:], *ASKED, "--baseline", RUNS[0])
    assert told["about"]["test"] == found["method"]
    assert sorted(one["p_corrected"] for one in told["first"]["verdict"]["against"]) == sorted(
        pair["p_corrected"] for pair in found["pairs"]
    )
    shown = invoke("compare", GOLD, *RUNS, *ASKED, "--baseline", "careful", "--docs", ARTICLES).stdout
    assert "Significant improvements" not in shown
    assert "Pairs under MAgP" in shown
    wrong = invoke("compare", GOLD, *RUNS, *ASKED, "--baseline", "none", "--docs", ARTICLES)
    assert wrong.exit_code == 1
    assert wrong.stderr.endswith("baseline 'none' is none of the runs; there are careful, coarse, hasty\n")


def test_few_topics_never_get_a_star():
    found = comparison(*RUNS, *ASKED)
    few = "cannot tell: 6 topics differ, no outcome could be significant"
    assert [pair["verdict"] for pair in found["pairs"]] == [few] * 3
    assert [(pair["ties"], pair["topics_differing"], pair["significant"]) for pair in found["pairs"]] == [
        (0, 6, False)
    ] * 3
    (pair,) = comparison(RUNS[0], RUNS[2], *ASKED)["pairs"]
    assert (pair["verdict"], pair["significant"]) == ("better", True)
    (pair,) = comparison(RUNS[0], RUNS[2], *ASKED, "--alpha", "0.03")["pairs"]
    assert (pair["verdict"], pair["significant"]) == (few, False)
    (pair,) = comparison(RUNS[0], RUNS[2], *ASKED, "--test", "t", "--alpha", "0.03")["pairs"]
    assert (pair["verdict"], pair["p"] < 0.03) == ("better", True)  # a t-test's own bound is another one


def test_the_papers_test_is_a_one_tailed_bootstrap_of_a_thousand_resamples_without_correction():
    found = comparison(*RUNS, *ASKED, "--test", "bootstrap", "--tails", "1")
    assert found["method"] == "bootstrap, one-tailed at 0.05, 1000 resamples, seed 0, uncorrected over all 3 pairs"
    assert found["sentence"] == "2 of 3 pairs differ significantly under MAgP."
    assert [pair["p"] for pair in found["pairs"]] == [pytest.approx(0.128, abs=0.04), 0, 0]
    assert [pair["p_corrected"] for pair in found["pairs"]] == [pair["p"] for pair in found["pairs"]]
    told = report(*RUNS, *ASKED, "--test", "bootstrap", "--tails", "1")
    assert told["about"]["test"] == found["method"]


def test_power_is_printed_by_compare_and_report():
    (pair,) = comparison(RUNS[0], RUNS[1], *ASKED)["pairs"]
    reason = report(RUNS[0], RUNS[1], *ASKED)["first"]["verdict"]["reason"]
    said = f"would show a difference of {pair['detectable']:.4f} with probability .8; to show this one takes about"
    between = "{} to {}".format(*pair["topics_needed_interval"])
    assert f"{said} {pair['topics_needed']} topics ({between})" in reason
    assert "over 6 topics: " in reason
    shown = invoke("compare", GOLD, *RUNS[:2], *ASKED, "--docs", ARTICLES).stdout
    assert re.search(rf"^detectable +{pair['detectable']:.4f}$", shown, re.MULTILINE)
    assert re.search(rf"^topics needed +{pair['topics_needed']} \({between}\)$", shown, re.MULTILINE)


@pytest.mark.parametrize("command", ["compare", "report", "gate"])
def test_commands_that_judge_have_the_same_options_with_the_same_ranges(command):
    made = {
        option.opts[0]: option
        for option in main.get_command(None, command).params
        if option.opts[0] in {*JUDGING, "--missing", "--cutoff", "--cas", "--topics", "--repair", "--format"}
    }
    assert set(made) == {*JUDGING, "--missing", "--cutoff", "--cas", "--topics", "--repair", "--format"}
    assert "json" in made["--format"].type.choices
    for wrong in ("--alpha nan", "--alpha 0", "--alpha 1", "--alpha inf", "--tails 3", "--tails 0", "--resamples 0",
                  "--resamples 1000001", "--seed -1", "--seed x", "--test anova", "--correction bonferroni",
                  "--cutoff 0", "--missing maybe"):  # fmt: skip
        done = invoke(command, "no", "no", *(["--baseline", "no"] if command == "gate" else []), *wrong.split())
        assert done.exit_code == 2, wrong
        assert wrong.split()[0] in done.stderr


def test_compare_takes_the_measures_of_a_profile_and_the_policies_of_score():
    done = invoke("compare", GOLD, *RUNS, "--docs", ARTICLES, "--profile", "inex2006", "--task",
                  "relevant-in-context", "--format", "json")  # fmt: skip
    measures = [one["measure"] for one in json.loads(done.stdout)["comparisons"]]
    assert measures == ["MAgP", "gP@5", "gP@10", "gP@25", "gP@50"]
    plain = comparison(*RUNS, *ASKED)
    cut = comparison(*RUNS, *ASKED, "--cutoff", "3")
    means = {run["run"]: run["mean"] for run in cut["runs"]}
    assert means != {run["run"]: run["mean"] for run in plain["runs"]}
    scored = invoke("score", GOLD, RUNS[0], "--docs", ARTICLES, *ASKED, "--cutoff", "3", "--format", "json")
    assert means["careful"] == json.loads(scored.stdout)["runs"][0]["measures"]["MAgP"]
    axes = invoke("compare", GOLD, *RUNS, "--docs", ARTICLES, "--profile", "inex2006", "--correlate", "measures",
                  "--task", "relevant-in-context", "--format", "json")  # fmt: skip
    assert len(json.loads(axes.stdout)["correlations"][0]["pairs"]) == 10


def test_a_topic_that_a_run_leaves_out_is_left_out_for_all_where_it_is_not_zero(tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("".join(line for line in Path(RUNS[2]).read_text().splitlines(True) if not line.startswith("101")))
    zero = comparison(RUNS[0], short, *ASKED)
    assert (len(zero["topics"]), zero["left_out"]) == (6, 0)
    skipped = comparison(RUNS[0], short, *ASKED, "--missing", "skip")
    assert (skipped["topics"], skipped["left_out"]) == (["102", "103", "104", "105", "106"], 1)
    (said,) = report(RUNS[0], short, *ASKED, "--missing", "skip")["first"]["verdict"]["against"]
    assert said["p"] == skipped["pairs"][0]["p"] == 1 / 16
