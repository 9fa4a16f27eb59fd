"""``focuseval inex-eval``: a drop-in for the official tool of 2008–10."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import refuse_unknown, unknown_option
from focuseval.cli.options import FiniteRange, collection_options, open_collection
from focuseval.cli.outputs import NO, Command


@click.command("inex-eval", cls=Command, opens=NO)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-t", "mode_t", is_flag=True, help="Thorough: iP and MAiP; overlap is allowed.")
@click.option("-f", "mode_f", is_flag=True, help="Focused: iP and MAiP; overlap rejects the run.")
@click.option("-r", "mode_r", is_flag=True, help="Relevant in context: MAgP with F.")
@click.option("-b", "mode_b", is_flag=True, help="Best in context: MAgP with the distance from the entry point.")
@click.option("-i", "mode_i", is_flag=True, help="Relevant in context: MAgP with tolerance to irrelevance.")
@click.option(
    "-irr", type=click.IntRange(1, 10**9), default=300, show_default=True, help="Irrelevant characters tolerated."
)
@click.option("-n", type=click.IntRange(1, 10**9), default=500, show_default=True, help="Distance worth nothing.")
@click.option("-beta", type=FiniteRange(0, 10**9), default=0.25, show_default=True, help="Weight of recall in F.")
@click.option("-c", "complete", is_flag=True, help="Means over all topics, not only the answered ones.")
@click.option("-q", "queries", is_flag=True, help="Print every topic's values too.")
@collection_options
@unknown_option
def inex_eval(
    qrels: str, runs: tuple[str, ...], index: str | None, docs: str | None, *, allow_unknown: bool, **flags: Any
) -> None:
    r"""Score RUNs as the official INEX tool of 2008–10 did: with its flags, its output and its rules.

    \b
    Examples:
      focuseval inex-eval -f qrels.txt run.fol
      focuseval inex-eval -r -beta 0.25 -q qrels.txt run1.fol run2.fol
    """
    from focuseval.errors import FocusevalError  # noqa: PLC0415  help must not wait for it
    from focuseval.evaluation.inex_eval import Options, report  # noqa: PLC0415  as above
    from focuseval.measures.matching.prepared import prepare  # noqa: PLC0415  as above

    mode = _mode({letter: flags.pop(f"mode_{letter}") for letter in "tfrbi"})
    documents = open_collection({"index": index, "docs": docs})
    gold = _read(qrels, "gold", documents)
    if not allow_unknown:
        refuse_unknown(gold)
    prepared = prepare(gold, documents)
    refused: list[FocusevalError] = []
    for run in runs:
        try:
            click.echo(report(_read(run, "run", documents), prepared, Options(mode, **flags), _say), nl=False)
        except FocusevalError as error:  # one invalid run must not cost the report on those after it
            refused.append(error)
    for earlier in refused[:-1]:
        click.echo(str(earlier), err=True)
    if refused:
        raise refused[-1]


def _read(path: str, kind: Any, documents: Any) -> Any:
    """Return a gold or a run; a file of columns may have no blank line."""
    from focuseval.evaluation.inex_eval import refuse_blank_lines  # noqa: PLC0415  help must not wait for it
    from focuseval.formats import detect_source, open_source, read_gold, read_run  # noqa: PLC0415  as above
    from focuseval.formats.source import open_sources  # noqa: PLC0415  as above

    source = open_sources(path) if kind == "gold" else (open_source(path),)
    if len(source) == 1 and detect_source(source[0], kind).name in COLUMNS:
        refuse_blank_lines(source[0])
    only: Any = source[0] if len(source) == 1 else path
    return read_gold(only, index=documents) if kind == "gold" else read_run(only, index=documents)


COLUMNS = ("inex-2008", "inex-fol", "inex-text", "trec-run")
"""Formats whose lines are columns."""


def _say(remark: str) -> None:
    click.echo(remark, err=True)


def _mode(given: dict[str, bool]) -> str:
    """Return the letter of the one mode that was given."""
    chosen = [letter for letter, flag in given.items() if flag]
    if len(chosen) != 1:
        found = f"; found {' and '.join(f'-{letter}' for letter in chosen)}" if chosen else ""
        raise click.UsageError(f"one of -t, -f, -r, -b, -i says what is scored{found}")
    return chosen[0]
