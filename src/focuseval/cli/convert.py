"""``focuseval convert``: between run formats, and between gold formats."""

from __future__ import annotations

import click


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write; see 'focuseval formats'.")
@click.option("--run-format", metavar="FORMAT", help="The format of IN, a run, when its content does not tell.")
@click.option("--gold-format", metavar="FORMAT", help="The format of IN, a gold, when its content does not tell.")
@click.option("--index", metavar="INDEX", help="The collection's index: turns paths into offsets.")
@click.option("--docs", metavar="DOCS", help="Documents in place of an index: a folder, a JSONL or an archive.")
@click.option("--lossy", is_flag=True, help="Leave out what the target cannot say, and count it.")
def convert(  # noqa: PLR0917  click passes them by name
    source: str,
    target: str,
    wanted: str | None,
    run_format: str | None,
    gold_format: str | None,
    index: str | None,
    docs: str | None,
    lossy: bool,
) -> None:
    r"""Convert a run or a gold; IN and OUT may be - (standard input, standard output).

    Nothing is lost in silence: what the target format cannot say is a refusal, or with --lossy a remark.

    \b
    Examples:
      focuseval convert run.xml run.jsonl                        by the ending of OUT
      focuseval convert run.xml run.fol --index wiki.idx         paths become offsets
      focuseval convert assessments/ qrels.txt --to inex-2008 --index wiki.idx
      focuseval convert run.xml docs.trec --lossy                elements become documents
      zcat run.gz | focuseval convert - - --to jsonl
    """
    from focuseval.formats import convert_file, find_format  # noqa: PLC0415  help must not wait for it

    given = find_format(run_format, "run") if run_format else find_format(gold_format, "gold") if gold_format else None
    collection = None
    if index or docs:
        from focuseval.collection import open_documents, open_index  # noqa: PLC0415  only when it is asked for

        collection = open_index(index) if index else open_documents(docs or "")
    for remark in convert_file(source, target, wanted, given=given, index=collection, lossy=lossy):
        click.echo(f"{source}: {remark}", err=True)
