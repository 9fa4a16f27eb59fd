"""The command line: one small module per command, loaded only when it is asked for."""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
from importlib import import_module
from typing import Any, NoReturn

import click

os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
# Columns are made once and read once: making room for huge pages costs the kernel more than they give back. Ten million
# lines on a machine that is busy for a while: 1.3 s in the kernel in place of 2.2 s, the same in the program.

SECTIONS = (
    ("Start", ("demo",)),
    ("Collections and files", ("index", "stats", "topics", "validate", "convert")),
    ("Retrieval", ("chunk", "retrieve", "search")),
    ("Evaluation", ("score", "compare", "sweep", "report", "gate", "history", "quotes", "inex-eval")),
    ("Test collections", ("pool", "assess", "judge")),
    ("Measures themselves", ("simulate", "fidelity")),
    ("What there is", ("measures", "profiles", "formats")),
)
"""The commands in the order of the help page; ``inex-eval`` lives in ``inex_eval.py``, in a variable of that name."""

COMMANDS = tuple(name for _, names in SECTIONS for name in names)


def with_blocks(command: click.Command) -> click.Command:
    r"""Let ``\b`` in raw docstrings keep a block's lines as they stand: click looks for the character, not for two."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_blocks(inner)
    return command


def summary(command: click.Command) -> str:
    """Return the first paragraph of a command's help as one line, without its full stop."""
    return " ".join((command.help or "").partition("\n\n")[0].split()).removesuffix(".")


class Commands(click.Group):
    """A group whose commands live in modules of the same name; every expected error becomes one line here."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names in their own order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """Import the module of one command."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"focuseval.cli.{name}"), name)
        return with_blocks(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections, each with the whole first sentence of its help."""
        for heading, names in SECTIONS:
            with formatter.section(heading):
                found = ((name, self.get_command(ctx, name)) for name in names)
                formatter.write_dl([(f"{name:9}", summary(command)) for name, command in found if command])

    def main(self, *args: Any, **more: Any) -> Any:
        """Run click's own; also where help is printed, output that cannot be written is one line and exit code 1."""
        _open_closed_output()
        try:
            try:
                return super().main(*args, **more)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except OSError as error:
            _say_system_error(error)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(1)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an error raised on purpose, or by the system, ends it with one line and an exit code."""
        from focuseval.errors import FocusevalError, UsageError  # noqa: PLC0415  help must not wait for it

        code = 1
        try:
            try:
                return super().invoke(ctx)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()  # a full disk must be found while it can still be said
        except FocusevalError as error:
            code = 2 if isinstance(error, UsageError) else 1
            click.echo(str(error), err=True)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # click ends quietly where the reader of a pipe has gone
            _say_system_error(error)
        except KeyboardInterrupt:
            code = 2 if ctx.invoked_subcommand == "gate" else INTERRUPTED  # of a gate, 1 would be a verdict
            click.echo("interrupted", err=True)
        raise click.exceptions.Exit(code)


INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def _open_closed_output() -> None:
    """Put something that cannot be written to in the place of a standard output that is closed.

    Else what a command prints would be lost in silence; a command that prints nothing does not notice.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def _say_system_error(error: OSError) -> None:
    """Say in one line what the system refused."""
    _forget_output()
    remedy = "; make room" if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} else ""
    click.echo(f"{error.filename or 'standard output'}: {error.strerror or error}{remedy}", err=True)


def _forget_output() -> None:
    """Let what could not be written to the standard output go, else Python tries again when it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a test's output has no file
        return


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="focuseval")
def main() -> None:
    r"""Evaluate focused retrieval: elements, passages and chunks against highlighted text.

    \b
    Start here:
      focuseval demo                         the whole loop on the embedded example
      focuseval COMMAND --help               every command has examples
    """


with_blocks(main)


def run() -> NoReturn:
    """Run the command, and end without taking the interpreter apart: that takes a small `score` a tenth of its time.

    What has registered itself for the end is called all the same; where a thread is still at work, Python waits for it.
    """
    try:
        main(prog_name="focuseval")
    except SystemExit as stop:
        if not isinstance(stop.code, int) or threading.active_count() > 1:
            raise
        atexit._run_exitfuncs()  # noqa: SLF001  Python has no public name for it
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # closed, full, or a daemon's
            raise stop from None
        os._exit(stop.code)
    raise AssertionError("click always exits")
