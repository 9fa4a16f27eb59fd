"""``focuseval fuse``: several runs → one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from focuseval.cli.options import collection_options, open_collection, run_options
from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.errors import UsageError, counted
from focuseval.formats.catalogue import detect
from focuseval.formats.convert import format_of, write_run
from focuseval.formats.files import read_run
from focuseval.retrieval.fusion import METHODS, NORMS
from focuseval.retrieval.fusion import fuse as fuse_runs

NORM = "Of the others: how scores are made comparable."
WEIGHT = "A run's weight, once for each RUN in their order; by default all are 1."


@click.command(cls=Command, opens=NO, phases=("reading runs", "fusing", "writing"))
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, metavar="RUN", help="The run to write; - for the standard output.")
@click.option("--method", type=click.Choice(METHODS), default=METHODS[0], help="How results are scored.")
@click.option("--k", type=float, default=60, help="Of rrf: the larger, the less the first ranks differ.")
@click.option("--norm", type=click.Choice(NORMS), default=NORMS[0], help=NORM)
@click.option("--weight", "weights", type=float, multiple=True, metavar="W", help=WEIGHT)
@click.option("--limit", type=click.IntRange(1), help="Most results of a topic; by default all.")
@click.option("--run-id", metavar="ID", help="Name of the run; by default the method and the names of the runs.")
@click.option("--to", "layout", metavar="FORMAT", help="Format; by default that of the ending, or of the first RUN.")
@run_options
@collection_options
def fuse(runs: tuple[str, ...], output: str, **options: Any) -> None:
    r"""Fuse RUNs: one ranking from several, by the ranks or by the scores that they give to the same results.

    Results are the same where document and span are. Elements are compared by their paths; where some runs have paths
    and others offsets, give the collection. A run fused with itself keeps its order. Results of a fused run may
    overlap, also where those of each RUN do not: 'focuseval score --task focused --repair' leaves out what does.

    \b
    Method     score                          a run that does not hold a result adds nothing
    rrf        Σ w / (k + rank)               reciprocal rank fusion
    sum        Σ w · s                        CombSUM; s is normalised for each topic of each run
    mnz        Σ w · s × runs that hold it    CombMNZ
    product    Π s^w                          0 unless every run of the topic holds it

    \b
    Norm       min-max: from 0 to 1   z: mean 0, deviation 1   rank: 1 − (rank − 1)/n   none: as they are

    \b
    Examples:
      focuseval fuse bm25.jsonl dense.jsonl -o hybrid.jsonl
      focuseval fuse bm25.txt dense.txt -o sum.txt --method sum --weight 0.3 --weight 0.7
      focuseval fuse elements.xml passages.fol --index wiki.idx -o fused.jsonl
    """
    names = ("method", "k", "norm", "weights", "limit", "run_id")
    layout = options["layout"] or options["run_format"] or detect(runs[0]).name
    with suppress(UsageError):  # of an ending that says nothing
        layout = format_of(output, options["layout"], "run").name
    with progress_bar() as move:
        index = open_collection(options)
        how = {"format": options["run_format"], "index": index, "order": options["order"]}
        read = [read_run(path, **how) for path in move.through(runs, "reading runs")]
        move.phase("fusing")
        made = fuse_runs(read, index=index, **{name: options[name] for name in names})
        move.writes(output)
        documents = made.path is None and made.start is None
        ranks = documents and layout in ("trec-run", "ir-metadata")  # whose ties TREC orders otherwise
        left_out = write_run(made, output, layout, index=index, lossy=ranks)
    echo_lines(made.remarks)
    echo_lines(f"{output}: {remark}" for remark in left_out)
    size = f"{counted(len(made), 'result')} for {counted(len(made.topics), 'topic')}"
    click.echo(f"{output}: {size}, {made.attributes['description']}", err=True)
