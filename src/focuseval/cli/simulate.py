"""``focuseval simulate``: runs made from the gold itself."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import assessor_options
from focuseval.cli.options import (
    FiniteRange,
    collection_options,
    drop_tags_option,
    gold_format_option,
    profile_option,
    task_option,
)
from focuseval.cli.outputs import READS, Command


@click.command(cls=Command, opens=READS)
@click.argument("gold")
@click.option(
    "--kind", required=True, metavar="KIND", help="full, ideal, reversed, leaves; S-R … S_ST-R_SI; random, degraded."
)
@click.option("-o", "--output", required=True, metavar="RUN", help="The run to write; - for the standard output.")
@click.option(
    "--to",
    "layout",
    metavar="FORMAT",
    help="Format of the run (see 'focuseval formats'); by default JSON lines for a .jsonl file, else what fits.",
)
@collection_options
@drop_tags_option
@gold_format_option
@assessor_options
@task_option("Make the run valid for this task; with --kind degraded and noise 0, its best run")
@profile_option("The campaign whose recall base full, ideal, reversed, leaves and degraded are made of")
@click.option(
    "--noise",
    type=FiniteRange(0, 1),
    default=0.3,
    show_default=True,
    help="degraded: 0 is the task's best run, 1 is random.",
)
@click.option(
    "--depth", type=FiniteRange(), default=0.0, show_default=True, help="degraded: above 0 favours deep elements."
)
@click.option(
    "--size-bias", type=FiniteRange(), default=0.0, show_default=True, help="degraded: above 0 favours large ones."
)
@click.option("--results", type=click.IntRange(1), default=1500, show_default=True, help="degraded, random: per topic.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed; equal seeds give equal runs."
)
def simulate(gold: str, **options: Any) -> None:
    r"""Make a run from GOLD in a controlled way, to see what a measure does with it.

    \b
    full, ideal, reversed, leaves   elements of the recall base: all, the ideal ones, these reversed, its leaves
    S-R, S_L-R, S_LD-R_SI …         perfect passages (S), smallest elements around them (S_L), whole documents
                                    (S_LD), largest (S_S) or smallest (S_ST) elements inside; articles by relevant
                                    text (R), the first two swapped (R_S), a wrong document on top (R_I), both (R_SI)
    random, degraded                elements of the judged articles, from the best run for the task to chance

    \b
    Examples:
      focuseval simulate gold.jsonl --index wiki.idx --kind ideal -o ideal.xml
      focuseval simulate gold.jsonl --index wiki.idx --kind S_L-R_I -o run.txt
      focuseval simulate gold.jsonl --index wiki.idx --kind ideal --profile inex2006 -o ideal.xml
      focuseval simulate judging/ --assessor ann --kind ideal -o ideal.xml
      focuseval simulate gold.jsonl --index wiki.idx --kind degraded --noise 0.5 --seed 7 -o run.xml --task focused
    """
    from focuseval.cli.printing import say_written  # noqa: PLC0415  as below
    from focuseval.cli.simulating import simulate_file  # noqa: PLC0415  help must not wait for it

    say_written(options["output"], simulate_file(gold, options))
