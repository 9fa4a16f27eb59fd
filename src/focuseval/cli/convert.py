"""``focuseval convert``: between run formats, and between gold formats."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, progress_bar, say_written
from focuseval.data.placement import repairs_of
from focuseval.data.remarks import Remark
from focuseval.errors import MissingDataError
from focuseval.formats.catalogue import detect, find_format
from focuseval.formats.convert import convert_file, format_of
from focuseval.formats.embedded import write_repairs
from focuseval.formats.files import read_gold, read_run
from focuseval.measures.profiles import profile_named


@click.command(cls=Command, opens=READS, phases=("converting",))
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write; see 'focuseval formats'.")
@shared.gold_format_option
@shared.run_options
@shared.collection_options
@shared.whose_options()
@shared.repairs_option
@shared.profile_option("Cut a run's lists where the campaign does")
@click.option("--as", "mapped", type=click.Choice(["elements"]), help="Map passages to the elements that fit best.")
@click.option("--force", is_flag=True, help="Replace a folder of assessments that exists already.")
@click.option("--lossy", is_flag=True, help="Leave out what the target format cannot express, and count it.")
def convert(source: str, target: str, wanted: str | None, **options: Any) -> None:
    r"""Convert a run or a gold; IN and OUT may be - (standard input, standard output), and IN an assessment project.

    Nothing is lost silently: what the target format cannot express is refused, or with --lossy left out and counted.
    With --as elements a passage becomes the element with the highest F-score against it, of equal ones the smaller,
    then the outer one, once in a topic; measures of elements can score it then, with score --repair where they nest.

    \b
    Examples:
      focuseval convert run.xml run.jsonl                        format by the extension of OUT
      focuseval convert run.xml run.fol --index wiki.idx         paths become offsets
      focuseval convert assessments/ qrels.txt --to inex-2008 --index wiki.idx
      focuseval convert run.xml docs.trec --lossy                elements become documents
      focuseval convert run.fol elements.xml --as elements --index wiki.idx
      focuseval convert judging/ gold.jsonl --adjudicated        the judgements of 'focuseval assess'
      focuseval convert questions_df.csv gold.jsonl --docs corpora/ --repairs repairs.csv
      focuseval convert gold.jsonl marked/ --to pdf --docs reports/        highlights in copies of the PDFs
      focuseval convert marked/ gold.jsonl --docs reports/                 highlights made in a PDF viewer
      zcat run.gz | focuseval convert - - --to jsonl
    """
    with progress_bar() as move:
        if target == "-":
            move.end()
        if shared.is_project(source) or shared.is_archive(source):
            from focuseval.assessment.golds import write_judged  # noqa: PLC0415  only a project needs it

            after = format_of(target, wanted, "gold").name
            gold, index = shared.read_judged(source, options, graded=after == "inex-2005")
            remarks = (*gold.remarks, *write_judged(gold, target, after, index, lossy=options["lossy"]))
        else:
            remarks = _convert_file(source, target, wanted, options)
    echo_lines(f"{source}: {remark.sentence}" for remark in remarks)
    lost = any(remark.kind == "left out" for remark in remarks)
    say_written(target, "with something left out, see above" if lost else "nothing left out")


def _convert_file(source: str, target: str, wanted: str | None, options: dict[str, Any]) -> tuple[Remark, ...]:
    """Convert a file or a folder of files, and return the remarks."""
    shared.refuse_assessor(source, options)
    run, gold = options["run_format"], options["gold_format"]
    if run and gold:
        raise click.UsageError("IN is a run or a gold: give --run-format or --gold-format")
    given = find_format(run or gold, "run" if run else "gold") if run or gold else None
    index = shared.open_collection(options)
    if options["repairs"]:
        before = given or detect(source)
        how = {} if before.kind == "gold" else {"order": options["order"]}
        placement = (read_gold if before.kind == "gold" else read_run)(source, before.name, index, **how).placement
        if placement is None:
            raise MissingDataError(f"{source}: --repairs compares texts with the documents; give them with --docs")
        write_repairs(repairs_of([placement.alignment]), options["repairs"])
    cutoff = None
    if options["profile"]:
        profile = profile_named(options["profile"])
        cutoff = profile.policies_of(profile.task(None)).get("cutoff")
    more = {"lossy": options["lossy"], "replace": options["force"], "cutoff": cutoff, "order": options["order"]}
    if options["mapped"]:
        if index is None:
            raise MissingDataError(f"{source}: --as elements needs the collection's elements; give --index or --docs")
        from focuseval.studies.fidelity import fitting_elements  # noqa: PLC0415  few conversions map

        more["change"] = partial(fitting_elements, index=index)
    return convert_file(source, target, wanted, given=given, index=index, **more)
