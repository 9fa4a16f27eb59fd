"""``focuseval retrieve``: a collection and topics → a run."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import cache_option, cluster_option
from focuseval.cli.outputs import NO, Command
from focuseval.cli.retrieving import retrieval_options


@click.command(cls=Command, opens=NO)
@click.argument("index")
@click.argument("topics")
@click.option("-o", "--output", required=True, metavar="RUN", help="The run to write; - for the standard output.")
@retrieval_options
@click.option(
    "--limit", type=int, help="At most this many results of a topic; by default 1500, the limit of most tasks."
)
@click.option("--run-id", metavar="ID", help="Name of the run; by default what it returns, and for which task.")
@click.option(
    "--to",
    "layout",
    metavar="FORMAT",
    help="Format of the run (see 'focuseval formats'); by default JSON lines for a .jsonl file, else inex-xml.",
)
@cluster_option
@cache_option
def retrieve(index: str, topics: str, **options: Any) -> None:
    r"""Make a run: rank the elements, documents or passages of INDEX for every topic of TOPICS by BM25.

    INDEX is made by 'focuseval index'; a folder, an archive or JSON lines of documents work as well. TOPICS are INEX
    topics, lines of an id, a tab and a query, TREC's or Indri's topics, JSON lines, or a gold that holds its questions,
    such as SQuAD's. The first run reads the words of the collection and keeps them beside the index. A run in inex-xml
    names its parameters: 'focuseval stats RUN'.

    \b
    Unit       default task   mix   idf        returns
    element    focused        0.5   documents  elements with 10 words or more; the default for XML
    passage    spans          0     units      windows of words, 100/50: 100 words every 50; the default for plain text
    document   thorough       0     documents  whole documents

    \b
    Query words:  w wanted, +w counts twice, -w lowers the score, "two words" adds the phrase
    --cas         structured titles (NEXI): ignore takes the title, strict returns only what the structure
                  asks for, vague prefers it

    \b
    Examples:
      focuseval retrieve wiki.idx topics.xml -o elements.xml
      focuseval retrieve wiki.idx topics.xml -o context.xml --task relevant-in-context
      focuseval retrieve wiki.idx topics.xml -o strict.xml --cas strict --tags sec,p
      focuseval retrieve notes/ questions.tsv -o passages.jsonl --unit passage:80/40 --language german
      focuseval retrieve s3://archive/all.idx topics.xml -o s3://archive/run.xml --cache /var/cache/focuseval
    """
    from focuseval.cli.retrieving import retrieve_file  # noqa: PLC0415  help must not wait for it

    for line in retrieve_file(index, topics, options):
        click.echo(line, err=True)
