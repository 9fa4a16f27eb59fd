"""The command ``focuseval``: the table of its commands, and the one place where an error becomes a line."""

from __future__ import annotations

import ast
import codecs
import errno
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from focuseval.errors import FocusevalError, UsageError

os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
# Columns are made once and read once: making room for huge pages costs the kernel more than they give back. Ten million
# lines on a machine that is busy for a while: 1.3 s in the kernel in place of 2.2 s, the same in the program.

SECTIONS = {
    "Start": ("demo",),
    "Collections and files": ("doctor", "index", "stats", "topics", "validate", "convert"),
    "Retrieval": ("chunk", "retrieve", "search", "fuse"),
    "Evaluation": ("score", "compare", "sweep", "report", "estimate", "gate", "history", "quotes", "inex-eval"),
    "Test collections": ("draft", "pool", "assess", "project", "judge", "publish"),
    "Measures themselves": ("simulate", "fidelity"),
    "What there is": ("measures", "profiles", "formats"),
}  # the commands in the order of the help page

OFFERS = {
    "chunk": ("tokenizer",),
    "compare": ("alpha", "test"),
    "convert": ("docs", "index", "lossy", "order", "to"),
    "estimate": ("assisted", "random"),
    "gate": ("min_effect",),
    "index": ("force", "keep_going"),
    "retrieve": ("language", "retriever", "unit"),
    "score": ("cas", "empty_topics", "task", "topics"),
}
OFFERED_BY = {argument: command for command, arguments in OFFERS.items() for argument in arguments}
"""Arguments of functions that messages advise, and a command that has them as an option, for those that have not."""

ARGUMENTS = re.compile(rf"""\b({"|".join(OFFERED_BY)})=(?:True\b|"([^"]*)"|(?=[\s,;:.)]|$))""")
"""How a message names an argument of a function, with or without a value."""

VECTORS = ("retrieve", "search", "sweep")
"""The commands whose products of vectors are worth several threads.

All others have none or short ones. A second thread of OpenBLAS waits busily from the moment it is made: a third of the
processor time of a small `score`; between short products, as in `compare`, it costs 40 % more.
"""

COMMANDS = tuple(name for names in SECTIONS.values() for name in names)

INTERRUPTED = 130  # the exit code after Ctrl-C, as shells have it


def with_blocks(command: click.Command) -> click.Command:
    r"""Let ``\b`` in raw docstrings keep a block's lines as they stand: click looks for the character, not for two."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_blocks(inner)
    return command


def module_of(name: str) -> Any:
    """Import the module of a command, before which OpenBLAS must know how many threads it may start."""
    if name not in VECTORS:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return import_module(f"focuseval.cli.{name.replace('-', '_')}")


class Commands(click.Group):
    """A group whose commands live in modules of the same name; every expected error becomes one line here."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names in their own order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """Return one command; ``inex-eval`` is the variable ``inex_eval`` of ``inex_eval.py``."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(module_of(cmd_name), cmd_name.replace("-", "_"))
        return with_blocks(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  as above
        """Write the commands in sections, each with its summary."""
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:9}", summary(name)) for name in names])

    def main(self, *args: Any, **more: Any) -> Any:
        """Run click's own; also where help is printed, output that cannot be written is one line and exit code 1."""
        if sys.stdout is None:  # closed: what is printed must fail, not be lost in silence
            sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
        if sys.stdin is None:  # as above: reading must fail
            sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), encoding="utf-8")
        with errors_as_lines():
            if sys.argv[1:] and sys.argv[1] in COMMANDS:
                module_of(sys.argv[1])  # as deep as click's calls are, CPython may get and give back a piece of its
                # stack at every call that NumPy's modules make: a tenth of the time of a small `score`
            return super().main(*args, **more)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; click would make other words of Ctrl-C than these."""
        with errors_as_lines(ctx):
            return super().invoke(ctx)


def summary(name: str) -> str:
    """Return the first sentence of a command's help, from its source: importing all commands takes seconds."""
    module = name.replace("-", "_")
    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8"))
    command = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == module)
    return " ".join((ast.get_docstring(command) or "").partition("\n\n")[0].split()).removesuffix(".")


def as_options(message: object, command: click.Command | None = None) -> str:
    """Return a message that speaks of a function's arguments in the words of the command line.

    What the command at hand does not offer is advised as the command that does.

    >>> as_options('no text; give docs= or index=, or cas="vague" with keep_going=True')
    'no text; give --docs or --index, or --cas vague with --keep-going'
    >>> as_options("lossy=True leaves them out", click.Command("fuse"))
    "write run-jsonl first: 'focuseval convert --lossy' leaves them out"
    """
    commands = command.commands.values() if isinstance(command, click.Group) else [command] if command else []
    offered = {option for one in commands for param in one.params for option in param.opts}

    def option(found: re.Match[str]) -> str:
        name = f"--{found[1].replace('_', '-')}"
        said = f"{name} {found[2]}" if found[2] else name
        if not command or name in offered:
            return said
        first = "write run-jsonl first: " if found[1] == "lossy" else ""
        return f"{first}'focuseval {OFFERED_BY[found[1]]} {said}'"

    return ARGUMENTS.sub(option, str(message))


@contextmanager
def errors_as_lines(ctx: click.Context | None = None) -> Iterator[None]:
    """End with one line and an exit code where an error is raised on purpose, or by the system, and after Ctrl-C."""
    code = 1
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # a full disk must be found while it can still be reported
    except FocusevalError as error:
        code = 2 if isinstance(error, UsageError) else 1
        click.echo(as_options(error, main.get_command(ctx, ctx.invoked_subcommand or "") if ctx else None), err=True)
    except OSError as error:
        forget_output()
        if error.errno != errno.EPIPE:  # the reader of a pipe has gone: end quietly
            remedy = "; make room" if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} else ""
            click.echo(f"{error.filename or 'standard output'}: {error.strerror or error}{remedy}", err=True)
    except UnicodeEncodeError as error:  # of an argument, which Python reads whatever its bytes are
        found = str(error.object)[:40].encode("utf-8", "backslashreplace").decode()
        click.echo(f"expected characters of Unicode, found {found!r}; give names and options in UTF-8", err=True)
    except KeyboardInterrupt:
        code = 2 if ctx and ctx.invoked_subcommand == "gate" else INTERRUPTED  # of a gate, 1 would be a verdict
        click.echo("interrupted", err=True)
    else:
        return
    sys.exit(code)


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

PLAIN = {"─": "-", "–": "-", "—": "-", "−": "-", "→": "->", "≤": "<=", "≥": ">=", "×": "x", "…": "...", "·": "."}
"""What stands for characters that a console cannot show; a question mark for all others."""


def plainer(error: Any) -> tuple[str, int]:
    """Return what is written in place of characters that an encoding does not have, and where to go on."""
    found = error.object[error.start : error.end]  # what Python makes of a name's bytes that are not UTF-8 is spelt out
    spelt = (f"\\x{ord(char) - 0xDC00:02x}" if "\udc80" <= char <= "\udcff" else "?" for char in found)
    return "".join(PLAIN.get(char, other) for char, other in zip(found, spelt, strict=True)), error.end


def run() -> None:
    """Run the command under its own name, however Python was started.

    Files and pipes get UTF-8, a console what it can show, unless ``PYTHONIOENCODING`` says otherwise.
    """
    codecs.register_error("plainer", plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            own = stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if own else "utf-8", errors="plainer")
    main(prog_name="focuseval")
