"""Options of ``focuseval assess`` in 0.2.0 work for one more version, and name the verb that does it now."""

import click
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.cli.assess import FORMER
from focuseval.example import ROOT
from strategies.projects import begin_project, command, judged_project, judgements

RUN, OTHER = sorted((ROOT / "runs" / "focused").iterdir())[:2]

NOTES = {
    "--export out.jsonl --to gold-jsonl --merge union --imported": "export P out.jsonl",
    "--import more.jsonl": "import P more.jsonl",
    "--archive out.zip --imported": "archive P out.zip",
    "--split pool --among ann,bob": "split P pool",
    f"--add-run {RUN} --add-run {OTHER} --preview": f"add-run P {RUN} {OTHER}",
    "--users people --add-user ann": "users add P ann",
    "--users people --add-user lea --lead": "users add P lea",
    "--users people --invite ann": "users invite P ann",
    "--log-out ann": "users log-out P ann",
    "--agreement": "agreement P",
    f"--agreement --stability {RUN} --stability {OTHER}": f"agreement P {RUN} {OTHER}",
    f"--stability {RUN} --stability {OTHER} -m charR": f"stability P {RUN} {OTHER}",
    "--progress": "progress P",
    "--check": "check P",
    "--guidelines how.md": "guidelines P how.md",
    "--reanchor": "reanchor P",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judgements(tmp_path, "more", (10, 20))
    (tmp_path / "how.md").write_text("# How\n")
    return judged_project(tmp_path)


@pytest.mark.parametrize("line", NOTES)
def test_an_option_of_0_2_0_names_the_verb_that_does_it_now(project, line):
    done = CliRunner().invoke(main, ["assess", str(project), *line.split()], input="secret\nsecret\n")
    assert done.exit_code == 0, done.output
    notes = [text for text in done.stderr.splitlines() if text.startswith("note: ")]
    words = NOTES[line].replace("P", str(project), 1)
    assert len(notes) == 1
    assert notes[0].endswith(f" is now 'focuseval project {words}'")


def test_a_note_is_one_line_with_the_old_way_and_the_new_one(project):
    told = command("assess", project, "--check")
    note = f"note: 'focuseval assess {project} --check' is now 'focuseval project check {project}'"
    assert told.splitlines()[0] == note


RUNS = (str(RUN), str(OTHER))
SAME = {
    "progress": (["--progress"], []),
    "check": (["--check"], []),
    "agreement": (["--agreement", "-m", "charR"], ["-m", "charR"]),
    "agreement of runs": (["--agreement", *(word for run in RUNS for word in ("--stability", run))], [*RUNS]),
    "stability": ([word for run in RUNS for word in ("--stability", run)], [*RUNS]),
    "add-run": (["--add-run", RUNS[0], "--preview", "--depth", "3"], [RUNS[0], "--preview", "--depth", "3"]),
    "export": (["--export", "-", "--to", "gold-jsonl", "--assessor", "one"],
               ["-", "--to", "gold-jsonl", "--assessor", "one"]),
}  # fmt: skip


@pytest.mark.parametrize("verb", SAME)
def test_an_option_and_its_verb_print_the_same(project, verb):
    options, arguments = SAME[verb]
    before = CliRunner().invoke(main, ["assess", str(project), *options])
    now = CliRunner().invoke(main, ["project", verb.partition(" ")[0], str(project), *arguments])
    assert (before.exit_code, now.exit_code) == (0, 0), now.output
    assert before.stdout == now.stdout
    assert "note: " not in now.stderr


def test_several_options_are_done_in_one_call(project):
    told = command("assess", project, "--import", "more.jsonl", "--export", "all.jsonl", "--progress")
    assert told.count("note: ") == 3
    assert "more" in told


def test_the_help_shows_none_of_them():
    page = command("assess", "--help")
    assert {option.opts[0] for option, _ in FORMER.values()}.isdisjoint(page.split())
    shown = [one for one in main.get_command(None, "assess").params if isinstance(one, click.Option) and not one.hidden]
    assert len(shown) <= 15


@pytest.mark.parametrize(
    ("line", "told"),
    [("--users people --add-user", "requires an argument"), ("--anonymous --check", "--anonymous goes with --archive"),
     ("--against x --progress", "--against goes with --check"), ("--split words", "is not one of")],
)  # fmt: skip
def test_wrong_usage_of_an_option_of_0_2_0_is_refused(project, line, told):
    assert told in command("assess", project, *line.split(), code=2)


def test_what_a_verb_cannot_do_without_is_named(project):
    assert "expected --users FILE" in command("assess", project, "--add-user", "bob", code=1)
    assert "expected --among NAMES" in command("assess", project, "--split", "pool", code=1)


def test_a_project_is_made_and_topped_up_without_a_server(tmp_path):
    begin_project(tmp_path)
    given = ("--docs", ROOT / "articles", "--topics", ROOT / "topics.xml", "--pool", tmp_path / "pool.jsonl")
    assert command("assess", tmp_path / "new", *given, "--no-serve") == ""
    assert command("assess", tmp_path / "new", "--pool", tmp_path / "pool.jsonl", "--no-serve") == ""
    assert "no defect" in command("project", "check", tmp_path / "new")
