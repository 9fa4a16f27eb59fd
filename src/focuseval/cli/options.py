"""Options that several commands share: the same words everywhere, and one place that opens a collection."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

TASKS = "thorough, focused, relevant-in-context, best-in-context, fetch-browse or spans"
GRIDS = ("table", "markdown", "latex", "csv", "json")
"""How tables of results are printed: the layouts of `focuseval.data.tables`, for which help does not wait, and JSON."""


class FiniteRange(click.FloatRange):
    """A number in a range; infinity and NaN, which compare with nothing, are in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or refuse it."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)


def _only_one(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Refuse an index and documents together: which of them was meant is not for a program to guess."""
    if value and (ctx.params.get("index") or ctx.params.get("docs")):
        raise click.UsageError("--index and --docs both name the collection; give one of them")
    return value


def collection_options(command: Command) -> Command:
    """Add ``--index`` and ``--docs``, of which one may be given."""
    docs = "The documents in place of an index: a folder, JSON lines, an archive, segments, a gold that contains them."
    command = click.option("--docs", metavar="DOCS", callback=_only_one, help=docs)(command)
    index = "Index of the collection, made by 'focuseval index'."
    return click.option("--index", metavar="INDEX", callback=_only_one, help=index)(command)


def open_collection(options: dict[str, Any]) -> Any:
    """Open the index or the documents, whichever is given; None if neither is."""
    if not (options["index"] or options["docs"]):
        return None
    if options["index"]:
        from focuseval.collection.store import open_index  # noqa: PLC0415  only commands that need text pay for it

        return open_index(options["index"])
    from focuseval.formats.embedded import open_documents  # noqa: PLC0415  as above

    return open_documents(options["docs"])


def cluster_option(command: Command) -> Command:
    """Add ``--cluster``; `cluster_workers` gives what it names."""
    text = "Use a Dask cluster: local[:N] for N processes here, tcp://HOST:PORT, or a scheduler file."
    return click.option("--cluster", metavar="WHERE", help=text)(command)


@contextmanager
def cluster_workers(where: str | None) -> Iterator[Any]:
    """Give the workers of the cluster that ``--cluster`` names; None without it, and nothing is loaded."""
    if where is None:
        yield None
        return
    from focuseval.engine.cluster import connected  # noqa: PLC0415  only where it is asked for

    with connected(where, lambda line: click.echo(line, err=True)) as workers:
        yield workers


def _set_cache(_: click.Context, __: click.Parameter, value: str | None) -> None:
    """Name the cache where every process of this command finds it."""
    if value:
        os.environ["FOCUSEVAL_CACHE"] = value


def cache_option(command: Command) -> Command:
    """Add ``--cache``."""
    text = "Keep blocks of an index on object storage here, up to 10 GB (FOCUSEVAL_CACHE, FOCUSEVAL_CACHE_GB)."
    return click.option("--cache", metavar="DIR", callback=_set_cache, expose_value=False, help=text)(command)


def gold_format_option(command: Command) -> Command:
    """Add ``--gold-format``."""
    text = "Format of the gold, where it cannot be detected; see 'focuseval formats'."
    return click.option("--gold-format", metavar="FORMAT", help=text)(command)


def run_format_option(command: Command) -> Command:
    """Add ``--run-format``."""
    text = "Format of the runs, where it cannot be detected; see 'focuseval formats'."
    return click.option("--run-format", metavar="FORMAT", help=text)(command)


def format_options(command: Command) -> Command:
    """Add ``--gold-format`` and ``--run-format``."""
    return gold_format_option(run_format_option(command))


def measure_option(what: str = "A measure such as nxCG@10; may be repeated.", *, required: bool = False) -> Decorator:
    """Return a decorator that adds ``-m``, which may be repeated."""
    return click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", required=required, help=what)


def task_option(what: str = "What the runs were asked for", *, required: bool = False) -> Decorator:
    """Return a decorator that adds ``--task``."""
    return click.option("--task", metavar="TASK", required=required, help=f"{what}: {TASKS}.")


def profile_option(what: str = "Policies and default measures of a campaign") -> Decorator:
    """Return a decorator that adds ``--profile``."""
    return click.option("--profile", metavar="PROFILE", help=f"{what}; see 'focuseval profiles'.")


def _tags(ctx: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Return the tag names of a list with commas; None where none is given."""
    if value is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    if not all(names) or any(set(name) & set(" |:/[]") for name in names):
        raise click.BadParameter(f"expected tag names separated by commas, found {value!r}", ctx, parameter)
    return names


def drop_tags_option(command: Command) -> Command:
    """Add ``--drop-tags``: elements that are not in the recall base."""
    text = "Leave elements of these tags out of the recall base; names separated by commas."
    return click.option("--drop-tags", metavar="TAGS", callback=_tags, help=text)(command)


def layout_option(
    *layouts: str, what: str = "How the results are printed: a table fits the terminal, or 80 columns."
) -> Decorator:
    """Return a decorator that adds ``--format``; the first layout is the default."""
    choice = click.Choice(layouts)
    named = click.option("--format", "layout", type=choice, default=layouts[0], show_default=True, help=what)
    short = click.option("--json", "layout", flag_value="json", help="The same as --format json.")
    return lambda command: named(short(command))


def repair_option(command: Command) -> Command:
    """Add ``--repair``: runs as the task allows them."""
    text = (
        "Repair runs that break the task's rules before they are scored, and say what was changed. (Quotes that "
        "moved are found again in any case; --repairs lists them.)"
    )
    return click.option("--repair", is_flag=True, help=text)(command)


def repairs_option(command: Command) -> Command:
    """Add ``--repairs``: a file for every span that was moved or could not be placed."""
    text = (
        "List every quote and text that is not where its file says, as CSV, or as JSON lines if FILE ends in .jsonl. "
        "(Changes no run; --repair is for runs that break the task's rules.)"
    )
    return click.option("--repairs", metavar="FILE", help=text)(command)


def output_option(command: Command) -> Command:
    """Add ``-o``: a file in place of the standard output."""
    text = "Write to this file instead of the standard output."
    return click.option("-o", "--output", metavar="FILE", help=text)(command)


def tokenizer_option(command: Command) -> Command:
    """Add ``--tokenizer``: what counts tokens."""
    text = "The tokenizer that counts tokens (spanR@500t): tiktoken:NAME, or tokenizers:FILE of a tokenizer.json."
    return click.option("--tokenizer", metavar="TOKENIZER", help=text)(command)


def policy_options(topics: str = "The topics, for --cas strict.") -> Decorator:
    """Return a decorator that adds what is evaluated: ``--missing --cutoff --cas --topics --repair --drop-tags``."""
    options = (
        click.option("--missing", type=click.Choice(["zero", "skip"]), help="Unanswered topics: score 0, or left out."),
        click.option("--cutoff", type=click.IntRange(1), help="Evaluate the first N results of each topic."),
        click.option("--cas", type=click.Choice(["strict", "vague"]), help="How structure in topics is read."),
        click.option("--topics", metavar="FILE", help=topics),
        repair_option,
        drop_tags_option,
        tokenizer_option,
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
