"""`focuseval demo` goes through the whole loop and leaves a page that needs nothing else."""

import re
import shlex
from contextlib import chdir
from html import unescape
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.data.tables import Table, words
from focuseval.example import ROOT
from focuseval.example.demo import NEXT, TASKS, Loop, Section
from focuseval.report.page import templates


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "sea"
    return folder, CliRunner().invoke(main, ["demo", str(folder)], catch_exceptions=False)


def test_the_demo_ends_well_and_says_where_the_report_is(shown):
    folder, result = shown
    assert result.exit_code == 0
    assert f"Report: {folder / 'report.html'}" in result.output
    assert (folder / "report.html").stat().st_size > 4000


def test_the_demo_can_be_repeated_in_the_same_folder(shown):
    folder, first = shown
    again = CliRunner().invoke(main, ["demo", str(folder)], catch_exceptions=False)
    assert again.output == first.output


def test_a_folder_that_cannot_be_written_gets_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(main, ["demo", str(tmp_path / "file" / "sea")])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "choose another folder" in result.stderr


@pytest.mark.parametrize("task", TASKS)
def test_the_careful_system_wins_and_the_hasty_one_loses(shown, task):
    means = Loop(shown[0]).scores(task, TASKS[task][1]).mean
    careful, coarse, hasty = means[:, 0]
    assert careful > coarse > hasty


def test_all_next_commands_work(shown, monkeypatch):
    monkeypatch.chdir(shown[0])
    for line in NEXT:
        arguments = [part for word in line.split()[1:] for part in expanded(word, shown[0])]
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        expected = 1 if "runs/thorough/careful.xml --task focused" in line else 0
        assert result.exit_code == expected, (line, result.output)


def test_every_section_names_a_command_that_works(shown):
    content = (shown[0] / "loop.html").read_text(encoding="utf-8")
    named = [unescape(line) for line in re.findall(r"<code>(focuseval .*?)</code>", content)]
    assert len(named) == 11
    for line in named:
        arguments = [part for word in shlex.split(line)[1:] for part in expanded(word, shown[0])]
        with chdir(shown[0]):
            result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, (line, result.output)


def test_scores_never_stand_without_their_signature(shown):
    content = (shown[0] / "loop.html").read_text(encoding="utf-8")
    assert content.count("focuseval:") >= len(TASKS) + 1


def expanded(word, folder):
    return sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else [word]


def test_the_page_refers_to_nothing_outside_itself(shown):
    content = (shown[0] / "loop.html").read_text(encoding="utf-8")
    assert "http://" not in content
    assert "https://" not in content
    assert "src=" not in content


def test_markup_in_a_cell_is_shown_and_not_obeyed():
    table = Table("", words("<i>"), (("<script>alert(1)</script>",),))
    content = (
        templates(ROOT).get_template("loop.html").render(title="<t>", lead="<l>", parts=[Section("<b>", "&", table)])
    )
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, _: found.append(tag)
    parser.feed(content)
    assert not {"script", "b", "i", "t", "l"} & set(found)
    assert "&lt;script&gt;" in content
