"""The command ``focuseval``: the table of its commands, and the one place where an error becomes a line."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import Any

import click

from focuseval.errors import FocusevalError, UsageError

os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
# Columns are made once and read once: making room for huge pages costs the kernel more than they give back. Ten million
# lines on a machine that is busy for a while: 1.3 s in the kernel in place of 2.2 s, the same in the program.

SECTIONS = {
    "Start": {"demo": "Walk through the whole loop on the embedded example"},
    "Collections and files": {
        "index": "Index documents: every element's path and span, in code points of the text",
        "stats": "Describe an index, a gold, a run or topics",
        "topics": "Show the topics of a file or a folder: kind, title, target, terms",
        "validate": "Check RUNs against a task: unknown places, ranks, scores, duplicates, overlap, limits, grouping",
        "convert": "Convert a run or a gold; IN and OUT may be - (standard input, standard output), and IN an "
        "assessment project",
    },
    "Retrieval": {
        "chunk": "Cut DOCS into chunks as SPEC says, and write each with its offsets and its text, for any retriever",
        "retrieve": "Make a run: rank the elements, documents or passages of INDEX for every topic of TOPICS by BM25",
        "search": "Search INDEX for one QUERY: document, path, score, and a snippet with the words marked",
    },
    "Evaluation": {
        "score": "Score RUNs against GOLD",
        "compare": "Compare RUNs over the topics of GOLD: means with intervals, the significance matrix, rank "
        "correlations",
        "sweep": "Compare chunkings: cut the documents as each SPEC says, retrieve for the questions of GOLD, and "
        "score",
        "report": "Report on RUNs: which is better, on which topics, and what each found and missed in the text",
        "gate": "Judge RUN against a baseline over the topics of GOLD",
        "history": "Draw a line per run and measure through the score files in DIR",
        "quotes": "Check quotations and citations in generated answers: whether they are in the source, and as they "
        "are quoted",
        "inex-eval": "Score RUNs as the official INEX tool of 2008–10 did: with its flags, its output and its rules",
    },
    "Test collections": {
        "pool": "Pool RUNs: the documents that assessors are to judge, those that more runs returned first",
        "assess": "Assess pooled documents in the browser: highlight what is relevant, get a recall base",
        "project": "Work on an assessment project: judgements in and out, users, runs, agreement, progress, checks, "
        "backups",
        "judge": "Let a language model assess: ask it for verbatim quotes of what is relevant, and verify every one",
    },
    "Measures themselves": {
        "simulate": "Make a run from GOLD in a controlled way, to see what a measure does with it",
        "fidelity": "Test measures on runs simulated from GOLD, whose right order is known",
    },
    "What there is": {
        "measures": "List all measures by family, or explain one: definition, formula, parameters, bounds, citation, "
        "an example",
        "profiles": "List all campaign profiles, or show one: tasks, measures and policies",
        "formats": "List the formats, or explain one with a sample",
    },
}
"""The commands in the order of the help page, with the first sentence of their help: the page imports no command."""

COMMANDS = tuple(name for summaries in SECTIONS.values() for name in summaries)

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def with_blocks(command: click.Command) -> click.Command:
    r"""Let ``\b`` in raw docstrings keep a block's lines as they stand: click looks for the character, not for two."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_blocks(inner)
    return command


class Commands(click.Group):
    """A group whose commands live in modules of the same name; every expected error becomes one line here."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names in their own order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """Import the module of one command; ``inex-eval`` is the variable ``inex_eval`` of ``inex_eval.py``."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"focuseval.cli.{name}"), name)
        return with_blocks(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  as above
        """Write the commands in sections, each with its summary."""
        for heading, summaries in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:9}", summary) for name, summary in summaries.items()])

    def main(self, *args: Any, **more: Any) -> Any:
        """Run click's own; also where help is printed, output that cannot be written is one line and exit code 1."""
        if (
            sys.stdout is None
        ):  # closed: what is printed must fail, not be lost in silence; who prints nothing may go on
            sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
        try:
            try:
                return super().main(*args, **more)
            finally:
                sys.stdout.flush()
        except OSError as error:
            _print_system_error(error)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(1)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an error raised on purpose, or by the system, ends it with one line and an exit code."""
        code = 1
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # a full disk must be found while it can still be reported
        except FocusevalError as error:
            code = 2 if isinstance(error, UsageError) else 1
            click.echo(str(error), err=True)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # click ends quietly where the reader of a pipe has gone
            _print_system_error(error)
        except KeyboardInterrupt:
            code = 2 if ctx.invoked_subcommand == "gate" else INTERRUPTED  # of a gate, 1 would be a verdict
            click.echo("interrupted", err=True)
        raise click.exceptions.Exit(code)


def _print_system_error(error: OSError) -> None:
    """Say in one line what the system refused."""
    forget_output()
    remedy = "; make room" if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} else ""
    click.echo(f"{error.filename or 'standard output'}: {error.strerror or error}{remedy}", err=True)


def forget_output() -> None:
    """Discard what could not be written to the standard output, else Python tries again when it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a test's output has no file
        return


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@click.version_option(package_name="focuseval")
def main() -> None:
    r"""Evaluate focused retrieval: elements, passages and chunks against highlighted text.

    \b
    Start here:
      focuseval demo                         the whole loop on the embedded example
      focuseval COMMAND --help               every command has examples
    """


with_blocks(main)


def run() -> None:
    """Run the command under its own name, however Python was started."""
    main(prog_name="focuseval")
