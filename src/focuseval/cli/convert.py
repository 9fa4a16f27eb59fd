"""``focuseval convert``: between run formats, and between gold formats."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import convert_judged, is_archive, is_project, refuse_assessor, whose_options
from focuseval.cli.options import collection_options, format_options, open_collection, profile_option, repairs_option
from focuseval.cli.outputs import READS, Command


@click.command(cls=Command, opens=READS)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write; see 'focuseval formats'.")
@format_options
@collection_options
@whose_options
@repairs_option
@profile_option("Cut a run's lists where the campaign does")
@click.option("--force", is_flag=True, help="Replace a folder of assessments that exists already.")
@click.option("--lossy", is_flag=True, help="Leave out what the target format cannot express, and count it.")
def convert(source: str, target: str, wanted: str | None, **options: Any) -> None:
    r"""Convert a run or a gold; IN and OUT may be - (standard input, standard output), and IN an assessment project.

    Nothing is lost silently: what the target format cannot express is refused, or with --lossy left out and counted.

    \b
    Examples:
      focuseval convert run.xml run.jsonl                        format by the extension of OUT
      focuseval convert run.xml run.fol --index wiki.idx         paths become offsets
      focuseval convert assessments/ qrels.txt --to inex-2008 --index wiki.idx
      focuseval convert run.xml docs.trec --lossy                elements become documents
      focuseval convert judging/ gold.jsonl --adjudicated        the judgements of 'focuseval assess'
      focuseval convert questions_df.csv gold.jsonl --docs corpora/ --repairs repairs.csv
      zcat run.gz | focuseval convert - - --to jsonl
    """
    from focuseval.cli.printing import say_written  # noqa: PLC0415  help must not wait for it

    do = convert_judged if is_project(source) or is_archive(source) else _convert
    remarks = do(source, target, wanted, options)
    for remark in remarks:
        click.echo(f"{source}: {remark}", err=True)
    lost = any(remark.startswith("left out") for remark in remarks)
    say_written(target, "with something left out, see above" if lost else "nothing left out")


def _convert(source: str, target: str, wanted: str | None, options: dict[str, Any]) -> tuple[str, ...]:
    """Convert a file or a folder of files, and return the remarks."""
    from focuseval.cli.repairing import write_repairs_of_one  # noqa: PLC0415  help must not wait for it
    from focuseval.formats import detect, find_format  # noqa: PLC0415  as above
    from focuseval.formats.convert import convert_file  # noqa: PLC0415  as above

    refuse_assessor(source, options)
    run, gold = options["run_format"], options["gold_format"]
    if run and gold:
        raise click.UsageError("IN is a run or a gold: give --run-format or --gold-format")
    given = find_format(run or gold, "run" if run else "gold") if run or gold else None
    index = open_collection(options)
    if options["repairs"]:
        write_repairs_of_one(source, index, options, given or detect(source))
    more = {"lossy": options["lossy"], "replace": options["force"], "cutoff": _cutoff(options["profile"])}
    return convert_file(source, target, wanted, given=given, index=index, **more)


def _cutoff(profile: str | None) -> int | None:
    """Return how many results of a topic a campaign evaluates; None for all."""
    if profile is None:
        return None
    from focuseval.measures.profiles import profile_named  # noqa: PLC0415  only asked for by name

    found = profile_named(profile)
    cutoff: int | None = found.policies_of(found.task(None)).get("cutoff")
    return cutoff
