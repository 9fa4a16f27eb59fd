"""MEASURES.md §14.7 and §15: the drop-in prints the official tool's lines, values to the last digit."""

import re

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from reproductions.inex_tool import ENTRY_POINTS, FOCUSED, IN_CONTEXT, QRELS


@pytest.fixture
def inex_eval(tmp_path):
    def call(run, *flags, qrels=QRELS):
        (tmp_path / "qrels").write_text(qrels)
        (tmp_path / "run").write_text(run)
        return CliRunner().invoke(main, ["inex-eval", *flags, str(tmp_path / "qrels"), str(tmp_path / "run")])

    return call


def values(result, topic="all"):
    rows = [re.split("\t+", line) for line in result.stdout.splitlines()[1:-1]]
    return {name: value for name, at, value in rows if at == topic}


@pytest.mark.parametrize(
    ("run", "flags", "expected"),
    [
        (
            FOCUSED,
            ["-f"],
            {"num_q": "1", "num_ret": "3", "num_rel": "2", "num_rel_ret": "2", "ret_size": "270", "rel_size": "150"}
            | {"char_prec": "0.5555555555555556", "char_rec": "1.0", "iP[0.01]": "0.75", "MAiP": "0.6344884488448854"},
        ),
        (
            IN_CONTEXT,
            ["-r", "-beta", "0.25"],
            {"num_q": "1", "num_rel": "3", "rel_size": "160"}
            | {"gP[1]": "0.8415841584158417", "MAgP": "0.6469146914691469"},
        ),
        (IN_CONTEXT, ["-i", "-irr", "300"], {"gP[1]": "0.25", "MAgP": "0.25"}),
        (
            ENTRY_POINTS,
            ["-b", "-n", "500"],
            {"gP[1]": "0.98", "MAgP": "0.7333333333333333", "ret_size": "0", "rel_ret_size": "0"},
        ),
    ],
)
def test_the_lines_are_the_official_tools(inex_eval, run, flags, expected):
    result = inex_eval(run, *flags)
    assert result.exit_code == 0, result.output
    found = values(result)
    assert {name: found[name] for name in expected} == expected
    assert result.stdout.splitlines()[0].startswith('<eval run-id="R" file="')
    assert result.stdout.splitlines()[-1] == "</eval>"


def test_topic_lines_carry_the_topic_names_of_the_means(inex_eval):
    assert values(inex_eval(FOCUSED, "-f", "-q"), "1")["AiP"] == "0.6344884488448854"
    assert values(inex_eval(IN_CONTEXT, "-r", "-q"), "1")["AgP"] == "0.6469146914691469"


def test_with_c_the_unanswered_topic_counts_as_zero(inex_eval):
    found = values(inex_eval(FOCUSED, "-f", "-c"))
    assert found["num_q"] == "2"
    assert float(found["MAiP"]) == pytest.approx(0.6344884488448854 / 2)
    assert found["num_rel"] == "3"


def test_the_file_order_is_the_ranking_whatever_ranks_and_scores_say(inex_eval):
    shuffled = "".join(
        f"{' '.join([*columns[:3], str(9 - i), str(i), *columns[5:]])}\n"
        for i, columns in enumerate(line.split() for line in FOCUSED.splitlines())
    )
    assert inex_eval(shuffled, "-f").stdout == inex_eval(FOCUSED, "-f").stdout


def test_generalised_precision_repeats_the_last_value(inex_eval):
    found = values(inex_eval(IN_CONTEXT, "-r"))
    assert found["gP[3]"] == found["gP[50]"] != "0.0"


def test_an_unknown_offset_costs_eighteen_characters_and_gains_none(inex_eval):
    found = values(inex_eval(FOCUSED + "1 Q0 d3 5 0 R X 10\n", "-f"))
    assert (found["ret_size"], found["rel_ret_size"]) == ("288", "150")


def test_thorough_mode_charges_irrelevant_articles_in_full_each_time(inex_eval):
    again = FOCUSED + "1 Q0 d3 5 0 R 0 50\n1 Q0 d1 6 0 R 40 80\n"
    found = values(inex_eval(again, "-t"))
    assert (found["ret_size"], found["rel_ret_size"]) == ("320", "150")


@pytest.mark.parametrize(
    ("flag", "run"),
    [("-f", FOCUSED + "1 Q0 d1 5 0 R 40 10\n"), ("-r", FOCUSED), ("-i", FOCUSED), ("-b", FOCUSED)],
)
def test_an_unlawful_run_is_rejected_by_the_name_of_its_file(inex_eval, flag, run):
    result = inex_eval(run, flag)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert re.search(r"run:[45]: topic 1", result.stderr)
    assert "--repair" not in result.stderr


def test_an_unknown_place_in_thorough_mode_costs_nothing_in_a_relevant_article(inex_eval):
    """MEASURES.md §15: 18 characters where the article is not relevant or not judged, 0 in a relevant one."""
    for document, cost in (("d1", 0), ("d3", 18), ("d7", 18)):
        found = values(inex_eval(FOCUSED + f"1 Q0 {document} 5 0 R X 10\n", "-t"))
        assert (found["ret_size"], found["rel_ret_size"]) == (str(270 + cost), "150")
        found = values(inex_eval(FOCUSED + f"1 Q0 {document} 5 0 R X 10\n", "-f"))
        assert found["ret_size"] == "288"


def test_entry_points_twice_in_an_article_are_refused_with_file_topic_article_and_line(inex_eval):
    result = inex_eval("1 Q0 d1 1 3 R 40\n1 Q0 d1 2 2 R 0\n1 Q0 d2 3 1 R 260\n", "-b")
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.search(r"run:2: topic 1: expected one result for an article, found d1 again", result.stderr)


def test_a_passage_past_the_end_is_read_as_irrelevant_text(inex_eval):
    """d2 has 100 characters, the first 50 highlighted: all of them and 50 past the end are read, 50 of 150 relevant."""
    found = values(inex_eval("1 Q0 d2 1 1 R 0 150\n", "-i"))
    assert (found["ret_size"], found["rel_ret_size"]) == ("150", "50")
    assert float(found["gP[1]"]) == pytest.approx(50 / 150)
    before = values(inex_eval("1 Q0 d2 1 1 R 120 30\n", "-i", "-irr", "30"))  # the tolerance is spent past the end
    assert before["gP[1]"] == "0.0"


def test_a_topic_in_two_blocks_is_joined_and_said(inex_eval):
    lines = IN_CONTEXT.splitlines(keepends=True)
    result = inex_eval("".join(lines[:2]) + "2 Q0 d9 1 1 R 5 10\n" + "".join(lines[2:]), "-r")
    assert result.exit_code == 0
    assert values(result)["num_ret"] == "4"
    assert "topic '1' is in several blocks, again on line 4: they are joined" in result.stderr


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (FOCUSED + "\n", "run:5: expected columns, found a blank line"),
        ("\n" + FOCUSED, "run:1: expected columns, found a blank line"),
        ("1 Q0 d1 1 4 R\n", "run:1: expected 7 or 8 columns"),
        ("9 Q0 d1 1 4 R 0 9\n", "no topic in common"),
        ("", "found an empty file"),
    ],
)
def test_what_the_tool_refuses_or_we_refuse_is_one_line(inex_eval, run, said):
    result = inex_eval(run, "-f")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.output
    assert said in result.stderr


@pytest.mark.parametrize("mode", ["f", "r", "b"])
def test_the_official_output_of_a_topic_without_relevance_is_printed_byte_for_byte(shared_data, monkeypatch, mode):
    monkeypatch.chdir(shared_data / "inex_eval")
    result = CliRunner().invoke(main, ["inex-eval", f"-{mode}", "-q", "norel.qrels", "norel.run"])
    assert result.exit_code == 0
    assert result.stdout == (shared_data / "inex_eval" / f"norel.{mode}.out").read_text()
    assert "1 topics without relevance count (first 3), so that some means are NaN" in result.stderr


def test_a_run_without_a_common_document_has_the_tools_zeros_and_a_remark_beside_them(inex_eval):
    result = inex_eval("1 Q0 other 1 1 R 0 29\n", "-f")
    assert (result.exit_code, values(result)["MAiP"]) == (0, "0.0")
    assert "no document in common" in result.stderr
    assert inex_eval("1 Q0 d1 1 1 R 0 29\n", "-f").stderr == ""


def test_the_levels_of_ip_are_computed_in_floating_point(inex_eval):
    """29 of 100 characters: floor(100 · 0.29) is 28 in floating point, so level .29 is not reached."""
    found = values(inex_eval("1 Q0 d1 1 1 R 0 29\n", "-f", qrels="1 Q0 d1 100 100 0 0:100\n"))
    assert (found["ircl_prn.0.28"], found["ircl_prn.0.29"]) == ("1.0", "0.0")


@pytest.mark.parametrize(("flags", "found"), [(["-f", "-r"], "; found -f and -r"), ([], "")])
def test_exactly_one_mode_is_asked_for(inex_eval, flags, found):
    refused = inex_eval(FOCUSED, *flags)
    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == f"Error: one of -t, -f, -r, -b, -i says what is scored{found}"
