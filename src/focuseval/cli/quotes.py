"""``focuseval quotes``: quotations in generated answers against their sources."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import FiniteRange, collection_options, open_collection, results_options
from focuseval.cli.output import NO, Command, progress_bar, write_results
from focuseval.errors import InputError
from focuseval.evaluation.quotes import verify_quotes


@click.command(cls=Command, opens=NO, phases=("checking quotations",))
@click.argument("file", metavar="ANSWERS")
@collection_options
@click.option("--similarity", type=FiniteRange(0.5, 1), default=0.9, help="Least share of an altered quotation found.")
@click.option("--shortest", type=click.IntRange(1), default=20, help="Fewest characters of quotations in running text.")
@click.option(
    "--strict", is_flag=True, help="Exit with 1 unless there are quotations, and each is verbatim in what it cites."
)
@results_options
def quotes(file: str, **options: Any) -> None:
    r"""Check quotations and citations in generated answers: whether they are in the source, and as they are quoted.

    ANSWERS are lines of JSON: an answer with quotations in its text (in quotation marks, or block quotes) and its
    sources, or with a list of quotes. A mark such as [1] must lead to the source that holds the text.

    \b
      {"id": "a1", "answer": "It is “the slow rise and fall of the sea” [1].", "sources": ["water/tide"]}
      {"id": "a2", "quotes": [{"quote": "two low bulges", "doc": "water/tide"}]}

    \b
    verbatim    in the cited document as it is quoted (any document if none is cited)
    altered     in the cited document with other words
    spliced     put together from separate places
    elsewhere   in a document other than the cited one
    nowhere     in no document

    \b
    Examples:
      focuseval quotes answers.jsonl --docs articles/
      focuseval quotes answers.jsonl --index wiki.idx --format csv -o quotes.csv
      focuseval quotes answers.jsonl --docs articles/ --strict
    """
    with progress_bar():
        documents = open_collection(options)
        if documents is None:
            raise click.UsageError("the sources are missing; give them with --docs or --index")
        checked = verify_quotes(file, documents, similarity=options["similarity"], shortest=options["shortest"])
    as_rows = options["layout"] == "csv"  # for programs, the quotations without the counts
    write_results(options, checked.to_json, lambda: [checked.rows()] if as_rows else checked.tables())
    wrong = len(checked.checks) - checked.counts["verbatim"]
    if options["strict"] and not checked.checks:
        raise InputError("expected quotations, found none", at=file)
    if options["strict"] and wrong:
        raise InputError(f"{wrong:,} of {len(checked.checks):,} quotations are not verbatim", at=file)
