"""Comparisons of scored runs: refusals, variants of measures, and what is printed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import focuseval.example
from focuseval.cli import main
from focuseval.cli.output import Meter
from focuseval.errors import MeasureError, NotComparableError
from focuseval.evaluation.comparing import (
    compared_means_table,
    comparison_tables,
    comparisons_json,
    correlation_table,
    correlations,
    star_table,
    starred_table,
    variants,
)
from focuseval.evaluation.scores import Counts, Scores, find_run, order_of
from focuseval.inference.correlation import SamePairs, tau_interval

EXAMPLE = next(iter(focuseval.example.__path__))
VALUES = np.array([[[0.1, 0.5], [0.2, 0.4], [0.3, 0.6]], [[0.6, 0.5], [0.7, 0.5], [0.8, 0.4]]])
SCORES = Scores(
    runs=("low", "high"), topics=("1", "2", "3"), measures=("AP", "RR"), values=VALUES,
    counts=(Counts(3, 0, 0, 0),) * 2, signature="test",
)  # fmt: skip


def test_correlations_count_the_pairs_of_runs_that_differ_significantly():
    # three runs, of which the third is the same under both measures; AP tells the first apart, RR nobody
    values = np.zeros((3, 8, 2))
    values[0, :, 0] = np.arange(1, 9) / 10
    scores = Scores(
        runs=("a", "b", "c"), topics=tuple("12345678"), measures=("AP", "RR"), values=values,
        counts=(Counts(8, 0, 0, 0),) * 3, signature="test",
    )  # fmt: skip
    (found,) = correlations(scores, [("measures", ("AP", "RR"))], compare=scores.compare)
    assert found.starred == (SamePairs(both=0, first=2, second=0, neither=1),)
    assert starred_table(found).rows == (("AP – RR", "0", "2", "0", "1", pytest.approx(0)),)
    assert comparisons_json([], [found])["correlations"][0]["significant"][0]["first"] == 2


def test_an_axis_with_nothing_to_correlate_does_not_end_the_others():
    runs = sorted(map(str, Path(EXAMPLE, "runs", "thorough").iterdir()))[:2]
    call = ["compare", f"{EXAMPLE}/gold/gold.jsonl", *runs, "--docs", f"{EXAMPLE}/articles", "-m", "MAep"]
    both = CliRunner().invoke(main, [*call, "--correlate", "quantisations", "--correlate", "recall-bases", "--json"])
    assert both.exit_code == 0, both.output
    assert [found["title"] for found in json.loads(both.stdout)["correlations"]] == ["MAep"]
    assert "--correlate quantisations: a gold of scale 'highlights' has one quantisation (spec)" in both.stderr
    alone = CliRunner().invoke(main, [*call, "--correlate", "quantisations"])
    assert (alone.exit_code, alone.stdout) == (2, "")


def test_runs_are_ordered_by_the_first_measure_for_every_measure():
    assert SCORES.compare("AP").runs == ("high", "low")
    assert SCORES.compare("RR").runs == ("high", "low")


def test_topics_without_a_base_are_left_out_and_those_that_only_some_runs_have_are_counted():
    gap = VALUES.copy()
    gap[:, 1, 0] = np.nan
    found = replace(SCORES, values=gap).compare("AP")
    assert (found.topics, found.left_out) == (("1", "3"), 0)
    gap[0, 1, 0] = 0.5
    found = replace(SCORES, values=gap).compare("AP")
    assert (found.topics, found.left_out) == (("1", "3"), 1)
    assert "2 topics (1 left out: some run has no value)" in found.table().notes[1]
    gap[0, [0, 2], 0] = np.nan
    with pytest.raises(NotComparableError, match="no topic has a value in every run"):
        replace(SCORES, values=gap).compare("AP")
    gap[:, :, 0] = np.nan
    with pytest.raises(NotComparableError, match="no topic has a base"):
        replace(SCORES, values=gap).compare("AP")


def test_runs_without_a_mean_come_last_and_equal_ones_in_the_order_given():
    means = [0.5, np.nan, 0.25, *[0.5] * 40, np.inf * 0, 0.75]
    values = np.repeat(np.array(means)[:, None, None], 2, axis=1)
    runs = tuple(f"r{n}" for n in range(len(means)))
    scores = replace(SCORES, runs=runs, topics=("1", "2"), measures=("AP",), values=values,
                     counts=(Counts(2, 0, 0, 0),) * len(means))  # fmt: skip
    assert order_of(scores).tolist() == [44, 0, *range(3, 43), 2, 1, 43]


def test_a_baseline_is_found_by_its_label_id_or_file_and_only_if_it_is_one_run():
    three = replace(
        SCORES, runs=("b", "a", "a"), files=("x", "y", "z"), values=np.concatenate([VALUES, VALUES[:1] + 0.01]),
        counts=(Counts(3, 0, 0, 0),) * 3,
    )  # fmt: skip
    assert [find_run(name, three, three.names) for name in ("b", "x", "y", "z", "a (z)")] == [0, 0, 1, 2, 2]
    assert find_run(Path("y"), three, three.names) == 1
    with pytest.raises(NotComparableError) as caught:
        find_run("a", three, three.names)
    assert str(caught.value) == "baseline 'a' is none of the runs; there are b, a (y), a (z)"
    with pytest.raises(NotComparableError, match=r"there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9$"):
        find_run("x", replace(SCORES, files=()), list("0123456789a"))


def test_a_baseline_has_its_place_in_the_order_of_the_means():
    three = replace(
        SCORES, runs=("low", "high", "middle"), values=np.concatenate([VALUES, VALUES.mean(axis=0, keepdims=True)]),
        counts=(Counts(3, 0, 0, 0),) * 3,
    )  # fmt: skip
    found = three.compare("AP", baseline="low")
    assert (found.runs, found.baseline) == (("high", "middle", "low"), 2)
    assert found.worse.tolist() == [2, 2]
    assert three.compare("AP", baseline="high").members == "the 2 pairs with high"
    assert three.compare("AP").baseline is None


def test_of_too_many_runs_the_best_are_compared_and_every_layout_says_so(monkeypatch):
    monkeypatch.setattr("focuseval.inference.comparison.MOST_DIFFERENCES", 1_000)
    values = np.random.default_rng(0).random((30, 8, 1))
    names, counted = tuple(f"r{number}" for number in range(30)), (Counts(8, 0, 0, 0),) * 30
    scores = Scores(names, tuple("12345678"), ("AP",), values, counts=counted, signature="test")
    found, said = scores.compare("AP"), "All pairs of 30 runs are too many to test: only the 24 best are compared"
    assert found.runs == tuple(names[run] for run in order_of(scores))
    assert (found.family, found.among) == (24 * 23 // 2, tuple(range(24)))
    whole = replace(scores, values=values[order_of(scores)[:24]], runs=found.runs[:24], counts=counted[:24])
    assert found.p.tolist() == whole.compare("AP").p.tolist()
    assert len(compared_means_table([found]).rows) == 30
    stars = star_table(found)
    assert len(stars.rows) == 24
    assert {len(row) for row in stars.rows} == {25}
    assert any(note.startswith(said) for note in list(comparison_tables([found]))[-1].notes)
    assert any(note.startswith(said) for note in found.table().notes)
    ((one,), own) = comparisons_json([found])["comparisons"], scores.compare("AP", baseline="r3")
    assert (len(one["runs"]), len(one["pairs"])) == (30, 276)
    assert one["remarks"][0].startswith(said)
    assert (own.family, own.limit()) == (29, [])


def test_the_bar_of_a_comparison_never_goes_back(tmp_path, monkeypatch):
    shares = []
    monkeypatch.setattr("focuseval.inference.paired_tests._BLOCK", 600)  # twenty flips at once
    monkeypatch.setattr(Meter, "__call__", lambda self, done, total=None, now="": shares.append((now, done, total)))
    rng, gold = np.random.default_rng(0), tmp_path / "qrels"
    gold.write_text("".join(f"t{t:02} 0 d{d} {int(d < 4)}\n" for t in range(30) for d in range(20)))
    for name in "abc":
        ranked = [(t, rank, d) for t in range(30) for rank, d in enumerate(rng.permutation(20), 1)]
        (tmp_path / name).write_text("".join(f"t{t:02} Q0 d{d} {r} {30 - r} {name}\n" for t, r, d in ranked))
    runs, how = [str(tmp_path / name) for name in "abc"], ["--correlate", "measures", "--resamples", "50"]
    assert CliRunner().invoke(main, ["compare", str(gold), *runs, "-m", "AP", "-m", "P@5", *how]).exit_code == 0
    begin = max(place for place, (now, *_) in enumerate(shares) if now)
    drawn = [done / total for _, done, total in shares[begin + 1 :]]
    assert shares[begin][0] == "comparing"
    assert len(drawn) >= 6  # three blocks for each of two measures, and more where p is small
    assert drawn == sorted(drawn)
    assert drawn[0] < 0.5 < drawn[-1] < 1


def test_a_measure_that_was_not_scored_is_refused_with_those_that_were():
    with pytest.raises(MeasureError, match="MAep was not scored; there are AP, RR"):
        SCORES.compare("MAep")


def test_variants_spell_out_the_parameter_that_changes():
    spelt = tuple(f"nxCG(ideal={ideal})@10" for ideal in ("ideal", "full", "all"))
    assert variants("ideals", ["nxCG@10"]) == [("nxCG@10", spelt)]
    names = variants("quantisations", ["MAep"], "grades")[0][1]
    assert names == ("MAep(quant=strict)", "MAep(quant=gen)", "MAep(quant=sog)")
    assert variants("measures", ["AP", "RR"]) == [("measures", ("AP", "RR"))]


@pytest.mark.parametrize(
    ("axis", "scale", "words"),
    [
        ("recall-bases", "highlights", "AP has no parameter base"),
        ("quantisations", "highlights", "one quantisation"),
        ("colours", "", "axis among"),
    ],
)
def test_what_cannot_vary_is_refused(axis, scale, words):
    with pytest.raises(MeasureError, match=words):
        variants(axis, ["AP"], scale)


def test_correlations_are_read_as_the_papers_read_them():
    found = correlations(SCORES, [("measures", ("AP", "RR"))])[0]
    ((a, b, tau, interval, said),) = found.readings()
    assert (a, b, tau, said) == ("AP", "RR", pytest.approx(-1), "fewer than 8 runs")
    assert interval == tau_interval(tau, 2)
    (spearman,) = correlations(SCORES, [("measures", ("AP", "RR"))], "spearman")
    assert np.isnan(spearman.readings()[0][3]).all()  # only τ has an interval
    many = replace(found, runs=8)
    assert many.readings()[0][4] == "noticeable differences"
    assert correlation_table(found).notes[-1].endswith("(Voorhees 2001), of 8 runs or more.")
    assert correlation_table(many).rows[0][2:] == ("[-1.0000, -0.2913]", "noticeable differences")
    assert correlation_table(found).rows == (("AP – RR", pytest.approx(-1), "[-1.0000, 0.5869]", "fewer than 8 runs"),)


def test_tables_say_what_they_show():
    comparison = SCORES.compare("AP", test="bootstrap", tails=1, alpha=0.2)
    means = compared_means_table([comparison])
    assert "Means over 3 topics" in means.title
    assert [means.columns[place].heading for _, place in means.marks()] == [comparison.measure]
    assert star_table(comparison).rows == (("1", "·", "⋆"), ("2", "", "·"))
    (pair,) = comparison.table().rows
    assert pair[:3] == ("high", "low", pytest.approx(0.5))
    assert pair[4] == "<0.001 ⋆"
    assert star_table(SCORES.compare("AP")).rows == (("1", "·", ""), ("2", "", "·"))


def test_latex_escapes_a_runs_name_whatever_it_holds(tmp_path):
    """``score`` and ``compare`` had an escaper each, and that of ``compare`` left three signs as they are."""
    (tmp_path / "qrels").write_text("1 0 d1 1\n2 0 d2 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 1 a\\b^c~d_e\n2 Q0 d2 1 1 a\\b^c~d_e\n")
    name = r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d\_e"
    for command in ("compare", "score", "report"):
        call = [command, str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "AP", "--format", "latex"]
        result = CliRunner().invoke(main, call, catch_exceptions=False)
        assert f"{name} & " in result.stdout, command


def test_the_command_compares_the_examples_runs_in_every_layout(tmp_path):
    runs = [f"{EXAMPLE}/runs/relevant-in-context/{name}.txt" for name in ("careful", "coarse", "hasty")]
    call = ["compare", f"{EXAMPLE}/gold/gold.jsonl", *runs, "-m", "MAgP", "-m", "AP", "--correlate", "measures"]
    call += ["--docs", f"{EXAMPLE}/articles"]
    for layout in ("table", "markdown", "latex", "csv", "json"):
        result = CliRunner().invoke(main, [*call, "--format", layout, "-o", str(tmp_path / "out")])
        assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out").read_text())
    assert [c["measure"] for c in found["comparisons"]] == ["MAgP", "AP"]
    assert len(found["comparisons"][0]["pairs"]) == 3
    assert found["correlations"][0]["pairs"][0]["a"] == "MAgP"


def test_two_runs_show_the_topics_that_decide_and_one_run_says_why_nothing_follows():
    runs = [f"{EXAMPLE}/runs/focused/{name}.xml" for name in ("careful", "hasty")]
    call = ["compare", f"{EXAMPLE}/gold/gold.jsonl", *runs, "-m", "nxCG@5", "--docs", f"{EXAMPLE}/articles"]
    result = CliRunner().invoke(main, call)
    assert "Topics that decide under nxCG@5" in result.output
    result = CliRunner().invoke(main, [*call[:3], *call[4:]])
    assert result.exit_code == 0
    assert "One run cannot be compared" in result.output
    assert "0 pairs" not in result.output


def compared(folder, *options):
    """What ``compare`` prints of every ``*.run`` of a folder against its ``qrels``."""
    runs = sorted(map(str, folder.glob("*.run")))
    done = CliRunner().invoke(main, ["compare", str(folder / "qrels"), *runs, "-m", "AP", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def trec_files(folder, values):
    """Write a gold with one relevant document for each topic, and runs that find it at such a rank; 0: not answered."""
    topics = range(len(next(iter(values.values()))))
    (folder / "qrels").write_text("".join(f"{t} 0 d{t} 1\n" for t in topics))
    for name, ranks in values.items():
        lines = [
            f"{t} Q0 {f'd{t}' if place == rank else f'x{place}'} {place} {100 - place} {name}\n"
            for t, rank in enumerate(ranks)
            for place in range(1, rank + 1)
        ]
        (folder / f"{name}.run").write_text("".join(lines))


def test_runs_are_in_the_order_of_the_means_that_are_printed(tmp_path):
    """By its own topics b is first, by those that both answer a is."""
    trec_files(tmp_path, {"a": [1, 2, 5, 5, 5, 5], "b": [1, 3, 0, 0, 0, 0]})
    shown = json.loads(compared(tmp_path, "--missing", "skip", "--format", "json"))["comparisons"][0]
    assert [(run["run"], run["mean"]) for run in shown["runs"]] == [("a", 0.75), ("b", pytest.approx(2 / 3))]
    lines = compared(tmp_path, "--missing", "skip", "--format", "csv").splitlines()
    assert [line[:7] for line in lines if line.startswith(("1,a", "2,b"))] == ["1,a,0.7", "2,b,0.6"]


def test_a_t_test_of_five_topics_may_be_significant_and_a_test_of_signs_never(tmp_path):
    trec_files(tmp_path, {"a": [1, 1, 1, 1, 1], "b": [10, 10, 10, 10, 11]})
    assert "1 of 1 pair differs significantly under AP." in compared(tmp_path, "--test", "t")
    assert "no outcome could be significant" not in compared(tmp_path, "--test", "t")
    signs = "0 of 1 pair differ significantly under AP; nothing can be told: 5 topics differ, no outcome could be"
    assert signs in " ".join(compared(tmp_path).split())


def test_copies_of_one_run_differ_nowhere(tmp_path):
    trec_files(tmp_path, {f"same-{letter}": [1, 2, 3] for letter in "abc"})
    found = json.loads(compared(tmp_path, "--format", "json"))["comparisons"][0]
    assert found["sentence"] == "All runs score the same on every topic under AP: there is no difference to test."
    assert {pair["verdict"] for pair in found["pairs"]} == {"cannot tell: both score the same on every topic"}
