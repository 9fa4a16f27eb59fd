"""Messages advise only options of the command that prints them; for others they name the command that has them."""

import re

import click
import pytest
from click.testing import CliRunner

import focuseval.example
from focuseval.cli import main
from focuseval.cli.commands import ARGUMENTS, COMMANDS, OFFERED_BY, as_options

EXAMPLE = next(iter(focuseval.example.__path__))
ARTICLES, ELEMENTS = f"{EXAMPLE}/articles", f"{EXAMPLE}/runs/focused/careful.xml"
GOLD = f"{EXAMPLE}/gold/gold.jsonl"
CONVERT = "; write run-jsonl first: 'focuseval convert --lossy' leaves them out"


def options_of(name):
    command = main.get_command(click.Context(main), name)
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    return command, {option for one in commands for param in one.params for option in param.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_message_advises_options_of_the_command_at_hand_or_names_another_command(name):
    command, offered = options_of(name)
    for argument in OFFERED_BY:
        said = as_options(f"no; give {argument}= or more", command)
        option = re.search(r"--[\w-]+", said)[0]
        elsewhere = re.search(r"'focuseval ([\w-]+) --", said)
        assert option in (options_of(elsewhere[1])[1] if elsewhere else offered), said
        assert bool(elsewhere) == (option not in offered)


@pytest.mark.parametrize(("argument", "name"), OFFERED_BY.items())
def test_a_command_that_is_named_for_an_option_has_it(argument, name):
    assert ARGUMENTS.fullmatch(f"{argument}=")
    assert f"--{argument.replace('_', '-')}" in options_of(name)[1]


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (["convert", ELEMENTS, "{out}.trec"], "; --lossy leaves them out"),
        (["fuse", ELEMENTS, ELEMENTS, "-o", "{out}", "--to", "trec-run"], CONVERT),
        (["retrieve", ARTICLES, f"{EXAMPLE}/topics.xml", "-o", "{out}", "--to", "trec-run"], CONVERT),
        (["simulate", GOLD, "--kind", "full", "-o", "{out}", "--to", "trec-run", "--docs", ARTICLES], CONVERT),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_format_that_cannot_express_elements_is_refused_with_advice_that_works(call, advice, tmp_path):
    result = CliRunner().invoke(main, [part.format(out=tmp_path / "out") for part in call])
    assert result.exit_code == 1
    assert "trec-run cannot express" in result.stderr
    assert result.stderr.endswith(f"{advice}\n")


def test_scores_that_contradict_the_ranking_are_advised_upon_by_the_option(tmp_path):
    run = tmp_path / "run.jsonl"
    run.write_text(
        '{"topic": "1", "doc": "a", "rank": 1, "score": 1}\n{"topic": "1", "doc": "b", "rank": 2, "score": 2}\n'
    )
    result = CliRunner().invoke(main, ["convert", str(run), str(tmp_path / "run.trec"), "--order", "file"])
    assert result.exit_code == 1
    assert result.stderr.endswith("; --lossy writes 1/rank in their place\n")
