"""``focuseval retrieve``: a collection and topics → a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from focuseval.cli.options import cache_option, cluster_option, cluster_workers, combined, key_option, task_option
from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.engine.workers import cores
from focuseval.errors import counted
from focuseval.formats.catalogue import find_format
from focuseval.formats.chunks import read_chunks
from focuseval.formats.convert import write_run
from focuseval.formats.embedded import open_documents
from focuseval.retrieval.retrieving import retrieve as retrieve_run
from focuseval.retrieval.settings import RETRIEVERS, RetrievalSettings
from focuseval.retrieval.vectors import VECTOR_OPTIONS

SETTINGS = (*RetrievalSettings.__dataclass_fields__, *VECTOR_OPTIONS)
"""Options that are fields of `RetrievalSettings` or `VectorSettings`."""

READING = "reading words"  # what a bar says while the words of a collection are read
_RETRIEVER = f"{', '.join(RETRIEVERS)}, or another package's; by default bm25."
_EMBEDDER = "http://HOST:PORT/v1#MODEL, sentence-transformers:NAME or model2vec:NAME."
_VECTORS = "Vectors that you have: a .npy with a row for each chunk or unit, in their order."
_CACHE = "Where vectors are kept, so that no text is embedded twice (FOCUSEVAL_VECTORS)."
model_options = combined(
    click.option("--model", metavar="NAME", help="Model of an --embedder that is a server."),
    key_option,
    click.option("--vector-cache", metavar="DIR", help=_CACHE),
)  # which model makes vectors; what ``chunk`` shares, too

vector_options = combined(
    model_options,
    click.option("--query-prefix", metavar="TEXT", help="What stands before every question that is embedded."),
    click.option("--passage-prefix", metavar="TEXT", help="What stands before every text that is embedded."),
    click.option("--normalise/--no-normalise", default=None, help="Rank by the cosine (the default) or inner product."),
    click.option("--dimensions", type=click.IntRange(1), help="Use the first so many numbers of vectors (Matryoshka)."),
)  # how texts become vectors; what ``retrieve``, ``search`` and ``sweep`` share

retrieval_options = combined(
    click.option("--retriever", metavar="NAME", help=_RETRIEVER),
    task_option("What the list is made for"),
    click.option("--unit", metavar="UNIT", help="element, document, page, passage:WORDS[/STEP], or a SPEC of 'chunk'."),
    click.option("--tags", metavar="TAG,…", help="Elements with these tags only."),
    click.option("--min-words", type=click.IntRange(0), help="Fewest words of an element; by default 10."),
    click.option("--k1", type=float, help="BM25's k1: how soon more occurrences of a word add little; by default 1.2."),
    click.option("--b", type=float, help="BM25's b: how much long units are penalised, from 0 to 1; by default 0.75."),
    click.option("--mix", type=float, help="Share of the document's score, from 0 to 1."),
    click.option("--idf", metavar="WHAT", help="Whether idf counts documents or units."),
    click.option("--language", metavar="NAME", help="Snowball's stemmer and stop words, or none; by default english."),
    click.option("--cas", metavar="HOW", help="Structured titles: strict, vague, SV, VS or ignore; by default ignore."),
    click.option("-j", "--jobs", type=click.IntRange(1), help="Processes that read words; by default all cores."),
    click.option("--embedder", metavar="EMBEDDER", help=f"What makes vectors: {_EMBEDDER}"),
    vector_options,
    click.option("--depth", type=click.IntRange(1), help="Results of each ranking that hybrid fuses; by default 1000."),
)  # what ``retrieve`` and ``search`` share


@click.command(cls=Command, opens=NO, phases=(READING, "searching", "writing"))
@click.argument("index")
@click.argument("topics")
@click.option("-o", "--output", required=True, metavar="RUN", help="The run to write; - for the standard output.")
@retrieval_options
@click.option("--limit", type=int, help="Most results of a topic; by default 1500, the limit of most tasks.")
@click.option("--chunks", metavar="FILE", help="In place of --unit: chunks of your own, as 'chunk' writes them.")
@click.option("--vectors", metavar="NPY", help=_VECTORS)
@click.option("--query-vectors", metavar="NPY", help="The same for the topics, in their order.")
@click.option("--run-id", metavar="ID", help="Name of the run; by default what it returns, and for which task.")
@click.option("--to", "layout", metavar="FORMAT", help="Format; by default run-jsonl for .jsonl, else inex-xml.")
@cluster_option
@cache_option
def retrieve(index: str, topics: str, **options: Any) -> None:
    r"""Make a run: rank the elements, documents or passages of INDEX for every topic of TOPICS.

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
    Retriever
    bm25       words, as BM25 weighs them
    dense      vectors of --embedder, or yours with --vectors and --query-vectors: exact search, by the cosine
    hybrid     both: the first --depth units of each, fused by reciprocal ranks (k = 60) as by 'focuseval fuse'

    \b
    Query words:  w wanted, +w counts twice, -w lowers the score, "two words" adds the phrase
    --cas         structured titles (NEXI): ignore takes the title, strict (SS) returns only what the structure
                  asks for, vague (VV) prefers it; SV is strict about the target only, VS about the rest only

    \b
    Examples:
      focuseval retrieve wiki.idx topics.xml -o elements.xml
      focuseval retrieve wiki.idx topics.xml -o context.xml --task relevant-in-context
      focuseval retrieve wiki.idx topics.xml -o strict.xml --cas strict --tags sec,p
      focuseval retrieve notes/ questions.tsv -o passages.jsonl --unit passage:80/40 --language german
      focuseval retrieve notes/ questions.tsv -o dense.jsonl --retriever dense --embedder http://localhost:11434/v1#bge-m3
      focuseval retrieve s3://archive/all.idx topics.xml -o s3://archive/run.xml --cache /var/cache/focuseval
    """
    layout = options["layout"] or ("run-jsonl" if options["output"].lower().endswith(".jsonl") else "inex-xml")
    says = find_format(layout, "run").says
    with cluster_workers(options["cluster"]) as workers, progress_bar() as move:
        collection = open_documents(index)
        how = {name: options[name] for name in (*SETTINGS, "run_id")} | {"workers": workers, "progress": move}
        how["chunks"] = None if options["chunks"] is None else read_chunks(options["chunks"], collection)
        run = retrieve_run(collection, topics, **how | {"jobs": options["jobs"] or cores()})
        move.writes(options["output"])
        whole = options["unit"] == "document" and "element" not in says
        if whole:  # a format of whole documents needs no paths
            run = replace(run, path=None, start=None, end=None)
        left_out = write_run(run, options["output"], layout, index=collection, lossy=whole)
    echo_lines(f"warning: {remark}" for remark in run.remarks)
    echo_lines(f"{options['output']}: {remark}" for remark in left_out)
    size = f"{counted(len(run), 'result')} for {counted(len(run.topics), 'topic')}"
    click.echo(f"{options['output']}: {size}, {run.attributes['description']}", err=True)
