"""``focuseval inex-eval``: a drop-in for the official tool of 2008–10."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import click

from focuseval.cli.options import FiniteRange, collection_options, open_collection, refuse_unknown, unknown_option
from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.errors import FocusevalError
from focuseval.evaluation.inex_eval import Options, refuse_blank_lines, report
from focuseval.formats.catalogue import detect_source
from focuseval.formats.content import Source, open_source, open_sources
from focuseval.formats.files import read_gold, read_run
from focuseval.measures.prepared import prepare

COLUMNS = ("inex-2008", "inex-fol", "inex-text", "trec-run")  # formats whose lines are columns


@click.command("inex-eval", cls=Command, opens=NO, phases=("scoring",))
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-t", "mode_t", is_flag=True, help="Thorough: iP and MAiP; overlap is allowed.")
@click.option("-f", "mode_f", is_flag=True, help="Focused: iP and MAiP; overlap rejects the run.")
@click.option("-r", "mode_r", is_flag=True, help="Relevant in context: MAgP with F.")
@click.option("-b", "mode_b", is_flag=True, help="Best in context: MAgP with the distance from the entry point.")
@click.option("-i", "mode_i", is_flag=True, help="Relevant in context: MAgP with tolerance to irrelevance.")
@click.option("-irr", type=click.IntRange(1, 10**9), default=300, help="Irrelevant characters tolerated.")
@click.option("-n", type=click.IntRange(1, 10**9), default=500, help="Distance worth nothing.")
@click.option("-beta", type=FiniteRange(0, 10**9), default=0.25, help="Weight of recall in F.")
@click.option("-c", "complete", is_flag=True, help="Means over all topics, not only the answered ones.")
@click.option("-q", "queries", is_flag=True, help="Print every topic's values too.")
@collection_options
@unknown_option
def inex_eval(qrels: str, runs: tuple[str, ...], *, allow_unknown: bool, **flags: Any) -> None:
    r"""Score RUNs as the official INEX tool of 2008–10 did: with its flags, its output and its rules.

    \b
    Examples:
      focuseval inex-eval -f qrels.txt run.fol
      focuseval inex-eval -r -beta 0.25 -q qrels.txt run1.fol run2.fol
    """
    modes = [letter for letter in "tfrbi" if flags.pop(f"mode_{letter}")]
    if len(modes) != 1:
        found = f"; found {' and '.join(f'-{letter}' for letter in modes)}" if modes else ""
        raise click.UsageError(f"one of -t, -f, -r, -b, -i says what is scored{found}")
    mode, remark = modes[0], partial(click.echo, err=True)
    documents = open_collection({name: flags.pop(name) for name in ("index", "docs")})
    sources = open_sources(qrels)
    gold = read_gold(_columns(sources[0], "gold") if len(sources) == 1 else qrels, index=documents)
    if not allow_unknown:
        refuse_unknown(gold)
    prepared = prepare(gold, documents)
    refused: list[FocusevalError] = []
    for file in runs:
        try:
            with progress_bar():
                run = read_run(_columns(open_source(file), "run"), index=documents)
                text = report(run, prepared, Options(mode, **flags), remark)
            click.echo(text, nl=False)
        except FocusevalError as error:  # one invalid run must not cost the report on those after it
            refused.append(error)
    echo_lines(refused[:-1])
    if refused:
        raise refused[-1]


def _columns(source: Source, kind: Literal["gold", "run"]) -> Source:
    """Return an open file; one of columns may have no blank line."""
    if detect_source(source, kind).name in COLUMNS:
        refuse_blank_lines(source)
    return source
