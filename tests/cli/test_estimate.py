"""``focuseval estimate`` with two golds: the contract of its JSON, and what it says of samples that are none."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import NotComparableError

ALL, PEOPLE = 60, 24


def write(name, lines):
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Sixty questions of 100 characters each that a model judged, 24 of them judged by people, and two runs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    place = rng.integers(0, 80, ALL)
    seen = np.where(rng.random(ALL) < 0.8, place, rng.integers(0, 80, ALL))

    def judged(n, start, more=0):
        return {"topic": f"q{n}", "doc": f"d{n}", "spans": [{"start": int(start), "end": int(start) + 20 + more}]}

    write("people.jsonl", [judged(n, place[n]) for n in rng.permutation(ALL)[:PEOPLE].tolist()])
    write("model.jsonl", [judged(n, seen[n], 10) | {"group": f"g{n // 3}"} for n in range(ALL)])
    for name, skill in (("a", 0.9), ("b", 0.3)):
        rows = []
        for n in range(ALL):
            start = int(place[n]) + int(rng.integers(-10, 10)) if rng.random() < skill else int(rng.integers(0, 80))
            rows.append({"topic": f"q{n}", "rank": 1, "doc": f"d{n}", "start": max(0, start), "end": start + 20})
        write(f"{name}.jsonl", rows)
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, ["estimate", *words])


def told(*words):
    done = run("people.jsonl", "model.jsonl", "a.jsonl", "b.jsonl", "-m", "spanR@1", *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_json_has_the_keys_that_scripts_read(campaign):
    found = told("--random")
    assert list(found["runs"][0]) == [
        *("run", "measure", "estimate", "low", "high", "topics", "people", "model"),
        *("bias", "bias_low", "bias_high", "weight", "worth"),
    ]
    assert list(found["runs"][0]["people"]) == ["mean", "low", "high", "topics"]
    assert found["runs"][0]["model"].keys() == {"mean", "topics"}
    assert list(found["pairs"][0]) == ["a", "b", "measure", "difference", "low", "high", "p"]
    assert [(r["topics"], r["people"]["topics"], r["model"]["topics"]) for r in found["runs"]] == [(60, 24, 60)] * 2


def test_people_alone_are_what_score_and_compare_say(campaign):
    own = told("--random")["runs"]
    compared = fe.evaluate("people.jsonl", ["a.jsonl", "b.jsonl"], ["spanR@1"]).compare("spanR@1")
    for number, name in enumerate(compared.runs):
        (one,) = (run for run in own if run["run"] == name)
        assert one["people"]["mean"] == pytest.approx(compared.means[number])
        assert [one["people"]["low"], one["people"]["high"]] == pytest.approx(compared.intervals[number].tolist())
    zero = told("--random", "--weight", "0")
    for one in zero["runs"]:
        assert (one["estimate"], one["low"]) == pytest.approx((one["people"]["mean"], one["people"]["low"]))


def test_bias_is_model_less_people_and_worth_is_how_many_topics_the_model_saved(campaign):
    scores = [fe.evaluate(gold, ["a.jsonl"], ["spanR@1"]).per_topic()["a"] for gold in ("people.jsonl", "model.jsonl")]
    apart = [scores[1][topic]["spanR@1"] - one["spanR@1"] for topic, one in scores[0].items()]
    (first, _) = told("--random")["runs"]
    assert first["bias"] == pytest.approx(np.mean(apart))
    assert first["high"] - first["low"] < first["people"]["high"] - first["people"]["low"]
    assert first["worth"] > PEOPLE


def test_python_gives_what_the_command_prints(campaign):
    found = fe.estimate("people.jsonl", "model.jsonl", ["a.jsonl", "b.jsonl"], ["spanR@1"], random=True)
    assert found.to_json() == told("--random")
    assert repr(found) == "<Estimates of 2 runs under spanR@1: 24 of 60 topics judged by people>"
    assert "a: as good as " in str(found)


@pytest.mark.parametrize("layout", ["table", "markdown", "latex", "csv"])
def test_every_layout_has_estimates_pairs_and_the_signature(campaign, layout):
    done = run("people.jsonl", "model.jsonl", "a.jsonl", "b.jsonl", "-m", "spanR@1", "--random", "--format", layout)
    assert done.exit_code == 0
    assert "24 of 60 topics were judged by people." in done.stdout
    assert "a is better than b." in done.stdout
    assert "profile:none" in done.stdout.replace("\\", "")


def test_a_sample_that_is_not_declared_random_is_remarked_upon(campaign):
    words = ["people.jsonl", "model.jsonl", "a.jsonl", "-m", "spanR@1"]
    assert "say so with --random" in run(*words).stderr
    assert "random" not in run(*words, "--random").stderr


def test_clusters_are_those_of_the_models_gold(campaign):
    plain, by = told("--random"), told("--random", "--cluster-by", "group")
    assert plain["runs"][0]["people"]["mean"] == by["runs"][0]["people"]["mean"]
    assert plain["runs"][0]["low"] != by["runs"][0]["low"]


def test_an_interval_for_any_time_is_wider(campaign):
    fixed, ever = (told("--random", *more)["runs"][0] for more in ([], ["--anytime"]))
    assert fixed["estimate"] == ever["estimate"]
    assert ever["low"] < fixed["low"]


def test_the_interval_by_student_s_t_is_the_estimate_and_t_standard_errors_on_either_side(campaign):
    found = told("--random", "--interval", "t")["runs"]
    people = fe.evaluate("people.jsonl", ["a.jsonl", "b.jsonl"], ["spanR@1"])
    model = fe.evaluate("model.jsonl", ["a.jsonl", "b.jsonl"], ["spanR@1"])
    for row, one in enumerate(found):
        every = dict(zip(model.topics, model.values[row, :, 0], strict=True))
        y, f, of_all = people.values[row, :, 0], np.array([every[t] for t in people.topics]), model.values[row, :, 0]
        spread, n = ((f - f.mean()) ** 2).sum(), len(y)
        w = ((y - y.mean()) * (f - f.mean())).sum() / spread
        gap = of_all.mean() - f.mean()
        rest = (y - y.mean()) - w * (f - f.mean())
        leverage = np.minimum(1 / n + (f - f.mean()) ** 2 / spread, 0.99)
        a = 1 / n + (f - f.mean()) * gap / spread
        v = ((a * rest / (1 - leverage)) ** 2).sum() + w**2 * of_all.var(ddof=1) / len(of_all)
        reach = 2.0738730679040147 * v**0.5  # t(.975) with 22 degrees of freedom, from a table
        assert one["estimate"] == pytest.approx(y.mean() + w * gap)
        assert (one["low"], one["high"]) == pytest.approx((one["estimate"] - reach, one["estimate"] + reach))


def test_fewer_than_ten_topics_have_no_interval_and_one_line_says_so(campaign):
    write("people.jsonl", [json.loads(line) for line in Path("people.jsonl").read_text().splitlines()[:9]])
    found = told("--random")
    assert (found["runs"][0]["low"], found["pairs"][0]["p"], found["runs"][0]["worth"]) == (None, None, None)
    done = run("people.jsonl", "model.jsonl", "a.jsonl", "b.jsonl", "-m", "spanR@1", "--random")
    assert "9 topics by people are too few for an interval: 10 are needed." in done.stdout
    assert "1.0000" not in done.stdout  # no p where there is no interval


def test_fewer_than_twenty_topics_are_said_to_be_less_sure(campaign):
    write("people.jsonl", [json.loads(line) for line in Path("people.jsonl").read_text().splitlines()[:12]])
    assert "fewer than 20 topics" in " ".join(
        run("people.jsonl", "model.jsonl", "a.jsonl", "-m", "spanR@1").stdout.split()
    )


def test_peoples_topics_that_the_model_did_not_judge_are_left_out_and_counted(campaign):
    lines = Path("people.jsonl").read_text().splitlines()
    missing = {json.loads(line)["topic"] for line in lines[:2]}
    rest = [json.loads(line) for line in Path("model.jsonl").read_text().splitlines()]
    write("model.jsonl", [one for one in rest if one["topic"] not in missing])
    done = run("people.jsonl", "model.jsonl", "a.jsonl", "-m", "spanR@1", "--random")
    assert "2 topics that people judged are not in the model's gold and are left out" in done.stderr
    assert "22 of 58 topics were judged by people." in done.stdout
    write("model.jsonl", [one for one in rest if one["topic"] in missing])
    with pytest.raises(NotComparableError, match="let the model judge people's topics, too"):
        fe.estimate("people.jsonl", [{"topic": "x", "doc": "d", "start": 0, "end": 3}], ["a.jsonl"], ["spanR@1"])


def test_an_assisted_sample_is_refused_unless_it_is_asked_for(campaign):
    lines = [json.loads(line) for line in Path("people.jsonl").read_text().splitlines()]
    write("people.jsonl", [{**one, "assisted": "model:m"} if n < 3 else one for n, one in enumerate(lines)])
    words = ["people.jsonl", "model.jsonl", "a.jsonl", "-m", "spanR@1", "--random"]
    done = run(*words)
    assert done.exit_code == 1
    assert "found 3 topics with them" in done.stderr
    assert "give --assisted to use them" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    again = run(*words, "--assisted")
    assert again.exit_code == 0
    assert "may lean towards the model" in again.stderr


def test_two_files_are_too_few(campaign):
    done = run("people.jsonl", "model.jsonl")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        2,
        "Error: Expected PEOPLE MODEL RUN..., found 2 of them.",
    )


def reported(*words):
    done = CliRunner().invoke(main, ["report", *words, "--estimate", "model.jsonl", "-m", "spanR@1", "-m", "charP"])
    assert done.exit_code == 0, done.output
    return done


def test_a_report_draws_the_three_intervals_that_estimate_prints(campaign):
    page = json.loads(reported("people.jsonl", "a.jsonl", "b.jsonl", "--random", "--format", "json").stdout)
    (chart,) = (one for one in page["charts"] if one["id"] == "estimates")
    drawn = {(row[0], row[1]): row[2:] for row in chart["rows"]}
    for one in told("--random")["runs"]:
        people, own = one["people"], [one["estimate"], one["low"], one["high"]]
        moved = [one["model"]["mean"], one["model"]["mean"] - one["bias_high"], one["model"]["mean"] - one["bias_low"]]
        expected = [[people["mean"], people["low"], people["high"], None], [*moved, one["bias"]], [*own, None]]
        for by, values in zip(("people alone", "model alone", "estimate from both"), expected, strict=True):
            assert drawn[one["run"], by] == pytest.approx(values, abs=1e-5)
    assert "24 of 60 topics were judged by people." in chart["caption"]
    assert "By the estimate, a is better than b." in chart["caption"]
    assert page["tables"][0]["title"] == "spanR@1, if people had judged all 60 topics"


def test_a_report_of_too_few_topics_by_people_draws_no_interval_and_says_so(campaign):
    write("people.jsonl", [json.loads(line) for line in Path("people.jsonl").read_text().splitlines()[:9]])
    done = reported("people.jsonl", "a.jsonl", "b.jsonl", "--format", "json")
    (chart,) = (one for one in json.loads(done.stdout)["charts"] if one["id"] == "estimates")
    assert {row[3] for row in chart["rows"] if row[1] == "estimate from both"} == {None}
    assert "9 topics by people are too few for an interval: 10 are needed." in chart["caption"]
    assert "say so with --random" in done.stderr


def test_a_report_in_python_takes_estimates(campaign):
    runs = ["a.jsonl", "b.jsonl"]
    found = fe.estimate("people.jsonl", "model.jsonl", runs, ["spanR@1"], random=True)
    report = fe.build_report("people.jsonl", runs, ["spanR@1"], estimates=found)
    assert report.chart("estimates").title == "If people had judged all topics"
