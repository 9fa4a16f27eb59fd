"""What a command writes: tables, JSON, files and progress bars, and never over what it reads.

Every command is a `Command`, which looks at its parameters before it does anything. A parameter is known by its name;
a test holds that each parameter that names a file stands in `READ` or in `WRITTEN`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from glob import glob
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import click
from click.core import ParameterSource

from focuseval.cli.commands import as_options
from focuseval.cli.options import CONFIGURATION, Decorator, combined, configured
from focuseval.collection.document_files import CONTAINERS, DOCUMENTS, PACKED
from focuseval.data.remarks import Remark
from focuseval.data.tables import UNLIMITED, Table, render
from focuseval.engine import native
from focuseval.engine.storage import location
from focuseval.errors import UsageError
from focuseval.formats.content import write_whole

READ = (
    "gold", "run", "runs", "qrels", "source", "file", "files", "index", "docs", "topics", "chunks", "baseline", "pool",
    "retriever", "spec", "tokenizer", "top_up", "users", "stability", "folder", "project", "restore", "prompt",
    "add_runs", "guidelines", "against", "backup", "trials", "anchor", "vectors", "query_vectors", "estimate",
)  # fmt: skip
"""Parameters that name what is read."""

WRITTEN = (
    "output", "target", "repaired", "export", "archive", "repairs", "curves", "junit", "markdown", "figures", "ledger",
)  # fmt: skip
"""Parameters that name what is written."""

ENDINGS = {"docs": (*DOCUMENTS, *CONTAINERS, *PACKED), "folder": (".json",)}
"""How the files end that are read where such a parameter names a folder; all files for others."""

METER = "focuseval.meter"
HIDE = "Show no progress on the standard error."
SOON, EVERY = 0.5, 30.0
"""Seconds after which a terminal shows a bar, and after which elsewhere a line says how far a command is."""
NO, READS, WRITES = "no", "reads", "writes"  # what a command does to an assessment project that it is given


class Command(click.Command):
    """A command that refuses to write over what it reads, and says how it `opens` an assessment project.

    That is `NO`, `READS` or `WRITES`; where it depends on an option, the parameter's name → one of these. Each of them
    is tested beside a running server. `progress_bar` shows the `phases` that may take long, ``--quiet`` does not.
    """

    def __init__(self, *args: Any, opens: str | Mapping[str, str], phases: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.opens, self.phases = opens, phases
        if phases:
            hide: dict[str, Any] = {"is_flag": True, "expose_value": False, "help": HIDE}
            hide["callback"] = lambda context, _, quiet: quiet and context.meta.update({METER: Meter(phases)})
            self.params.append(click.Option(["--quiet"], **hide))  # a meter that nobody shows

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> click.Context:
        """Read the options; what the command line does not give may stand in ``pyproject.toml``."""
        path = [*(parent.command_path.split()[1:] if parent else ()), str(info_name)]
        return super().make_context(info_name, args, parent, default_map=configured(self, path), **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; the file of a wrong one that it gave is named."""
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            if ctx.get_parameter_source(str(error.param and error.param.name)) is ParameterSource.DEFAULT_MAP:
                raise click.UsageError(f"{CONFIGURATION}: {error.format_message()}", ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Refuse an output that is an input, or another output: by name, by link, or inside a folder that is read."""
        taken = []
        for name, value in (ctx.default_map or {}).items():
            if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP and ctx.params[name] is not None:
                option = next(max(option.opts, key=len) for option in self.params if option.name == name)
                values = value if isinstance(value, list) else [value]
                taken += [option if item is True else f"{option} {item}" for item in values]
        if taken:
            click.echo(f"{CONFIGURATION}: {' '.join(taken)}", err=True)
        read, written = list(_paths(ctx.params, READ)), list(_paths(ctx.params, WRITTEN))
        for _, path in read:  # read beside SQLite, a database would lose its locks
            file = Path(path)
            if file.name.startswith("assess.db") and (file.parent / "project.json").is_file():
                raise click.UsageError(f"{path} is the database of a project; name the project, {file.parent}")
        for number, (option, path) in enumerate(written):
            for name, source in read:
                if path != "-" and (relation := _destroyed(path, source, option, name)):
                    what = f"{path} {relation}, and would be written over"
                    raise click.UsageError(f"{what}; give the output another name")
            if any(_same(path, other) for _, other in written[:number]):
                raise click.UsageError(f"{path} would be written twice; give each output a name of its own")
        _say_other_library()
        return super().invoke(ctx)


@cache
def _say_other_library() -> None:
    """Say once, in this process and in none of its workers, that a compiled library is not used."""
    if command := native.rebuilding():
        echo_lines([Remark("other library", details=(command,))])


class Verbs(click.Group):
    """A group of commands on one project; its help lists them in their own order, with the first sentence of each."""

    def verb(self, name: str, opens: str, *shared: Decorator) -> Callable[[Callable[..., Any]], Command]:
        """Return a decorator that adds a command: PROJECT is its first argument, shared options are its last."""

        def decorate(function: Callable[..., Any]) -> Command:
            command = click.command(name, cls=Command, opens=opens)(click.argument("project")(function))
            command.params += click.command("shared")(combined(*shared)(lambda: None)).params
            self.add_command(command)
            return command

        return decorate

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names in their own order."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  as above
        """Write names and first sentences."""
        with formatter.section("Verbs"):
            rows = [(name, (verb.help or "").partition("\n\n")[0]) for name, verb in self.commands.items()]
            formatter.write_dl([(name, " ".join(text.split()).removesuffix(".")) for name, text in rows])


def _paths(options: dict[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of every parameter that names a file; devices and pipes are no files."""
    for name in names:
        value = options.get(name)
        if name == "trials":
            value = tuple(file for trial in value or () for file in trial_files(trial))
        for item in value if isinstance(value, tuple) else (value,):
            path = str(item).removeprefix("tokenizers:")
            device = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112, PTH113  paths with loops and NULs are only asked about
            if isinstance(item, str | Path) and path and not device:
                yield name, path


def trial_files(trial: str) -> list[str]:
    """Return the files that ``--trials NAME=FILES`` names by a pattern, as the shell understands it."""
    return sorted(glob(trial.partition("=")[2]))  # noqa: PTH207  absolute or not


def _same(one: str, other: str) -> bool:
    """Say whether two names are of one file, be it through links or spelling; a file need not be there yet."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return _real(one) == _real(other)


def _real(path: str) -> str:
    """Return a path without links; one that goes round in circles stays as it is."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _destroyed(path: str, read: str, option: str, name: str) -> str:
    """Say how writing a path would destroy what is read: the file, one in the folder, or a folder around it."""
    if _same(path, read):
        return "is read"
    if _inside(path, read):
        owned = name != "project" and any((Path(read) / own).is_file() for own in ("documents.arrow", "assess.db"))
        exists = Path(path).is_file() and (name not in ENDINGS or Path(path).suffix.lower() in ENDINGS[name])
        return f"lies in {read}, which is read" if owned or exists else ""
    return f"holds {read}, which is read" if option != "figures" and _inside(read, path) else ""


def _inside(path: str, folder: str) -> bool:
    """Say whether a path lies in a folder."""
    return Path(folder).is_dir() and Path(_real(folder)) in Path(_real(path)).parents


def json_text(value: object) -> str:
    """Return plain values as JSON, one of them on a line."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def write_results(
    options: dict[str, Any], values: Callable[[], object], tables: Callable[[], Iterable[Table]], signature: str = "",
    text: Callable[[], str] | None = None,
) -> None:  # fmt: skip
    """Print results, or write them to ``--output``: a text of their own, plain values as JSON, or tables.

    Tables in a file that ends in ``.html`` are a page.
    """
    layout, output = options["layout"], options.get("output")
    if text is not None:
        written = text()
    elif layout == "json":
        written = json_text(values())
    else:
        layout = "html" if layout == "table" and output and is_page(output) else layout
        written = render(tables(), layout, signature=signature, width=UNLIMITED if output else None)
    write_text(written, output)


def is_page(output: str) -> bool:
    """Say whether a file is named as a page is."""
    return output.lower().endswith((".html", ".htm"))


def write_text(text: str, output: str | None) -> None:
    """Print text, or write it to a file that appears whole or not at all; as a page, nothing but a page."""
    if output is None:
        click.echo(text, nl=False)
        return
    if is_page(output) and not text[:9].lower().startswith("<!doctype"):
        remedy = "leave --format out, or give the file another ending"
        raise UsageError(f"{output}: a page shows tables, found another --format; {remedy}")
    write_whole(output, [text.encode("utf-8", "replace")])


def echo_lines(lines: Iterable[object]) -> None:
    """Print lines on the standard error, in the words of the command line."""
    at_hand = click.get_current_context(silent=True)
    for line in lines:
        click.echo(as_options(line, at_hand.command if at_hand else None), err=True)


def say_written(path: str | Path, what: str) -> None:
    """Say on the standard error what was written: path, size, and what it is."""
    place = location(path)
    if str(path) != "-" and place.exists():
        files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
        click.echo(f"{path}: {in_bytes(sum(file.stat().st_size for file in files))}, {what}", err=True)


def in_bytes(number: int) -> str:
    """Return a size as people read it.

    >>> in_bytes(17), in_bytes(1_234), in_bytes(45_600_000)
    ('17 bytes', '1.2 kB', '45.6 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"


class Meter:
    """What a command is doing, and how far it is: phases one after the other, each as much of the whole as another."""

    def __init__(self, phases: tuple[str, ...]) -> None:
        self.phases, self.at, self.now, self.begun = phases, 0, phases[0], monotonic()
        self.ended, self.watcher = Event(), Thread(target=lambda: None)
        self.done: float = 0
        self.total: float | None = None

    def __call__(self, done: float, total: float | None, now: str = "", /) -> None:
        """Take how much of a phase is done, of how much in all if that is known, and its name if it is another one."""
        if now in self.phases:
            self.at = self.phases.index(now)
        self.done, self.total, self.now = done, total, now or self.phases[self.at]

    def phase(self, now: str) -> None:
        """Go on to the phase of this name."""
        self(0, None, now)

    def through(self, items: Sequence[Any], now: str) -> Iterator[Any]:
        """Go through things in the phase of this name, and say how far."""
        for number, item in enumerate(items):
            self(number, len(items), now)
            yield item

    def writes(self, output: str) -> None:
        """Go on to writing; where that is the standard output, no bar may stand between its lines."""
        self.phase("writing")
        if output == "-":
            self.end()

    def end(self) -> None:
        """Show nothing any more."""
        self.ended.set()
        if self.watcher.is_alive():
            self.watcher.join()

    @property
    def share(self) -> float | None:
        """How much of the whole is done; None where nobody knows."""
        if not self.total:
            return self.at / len(self.phases) if len(self.phases) > 1 else None
        return (self.at + min(1.0, self.done / self.total)) / len(self.phases)

    def __str__(self) -> str:
        done = "" if self.share is None else f", {self.share:.0%} done"
        return f"{self.now}{done} after {monotonic() - self.begun:.0f} s"


@contextmanager
def progress_bar(unit: str = "share") -> Iterator[Meter]:
    """Give the command's `Meter`, and show it: on a terminal as a bar, elsewhere as a line every `EVERY` seconds.

    Beside the bar stands how much is done: a ``share`` in percent; of a single phase maybe a ``number`` of things. A
    bar inside of another one is that one. Nothing may go to the standard output before it ends.
    """
    context = click.get_current_context()
    if (shown := context.meta.get(METER)) is not None:
        yield shown
        return
    meter = Meter(getattr(context.command, "phases", ()))
    meter.watcher = Thread(target=_watch, args=(meter, unit, sys.stderr), daemon=True)
    meter.watcher.start()
    context.meta[METER] = meter
    try:
        yield meter
    finally:
        del context.meta[METER]
        meter.end()


def _watch(meter: Meter, unit: str, stream: Any) -> None:
    """Show a meter until the end."""
    if not stream.isatty():
        while not meter.ended.wait(EVERY):
            click.echo(str(meter), file=stream)
        return
    if meter.ended.wait(SOON):
        return
    from rich import progress  # noqa: PLC0415  rich takes .1 s to load, and only what takes long on a terminal needs it
    from rich.console import Console  # noqa: PLC0415  as above

    description, drawn, _, left = progress.Progress.get_default_columns()
    amount = progress.TaskProgressColumn() if unit == "share" else progress.MofNCompleteColumn()
    columns = (description, drawn, amount, progress.TimeElapsedColumn(), left)
    # what is said meanwhile on the standard error stands above the bar
    with progress.Progress(*columns, console=Console(file=stream), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(meter.now, total=None)
        while True:
            over = meter.ended.wait(0.1)
            done, total = (meter.done, meter.total) if unit != "share" else (meter.share or 0, meter.share and 1)
            bar.update(task, completed=done, total=total, description=meter.now, refresh=over)
            if over:
                return
