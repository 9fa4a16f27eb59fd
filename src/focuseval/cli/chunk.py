"""``focuseval chunk``: documents → chunks with offsets."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import tokenizer_option
from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.cli.retrieve import model_options
from focuseval.collection.chunks import extent
from focuseval.formats.chunks import chunk as cut_documents
from focuseval.formats.chunks import write_chunks
from focuseval.formats.embedded import open_documents
from focuseval.retrieval.vectors import VectorSettings

LAYOUTS = ("jsonl", "segments")
TO = "Lines of doc, chunk, start, end, text; or segments with ids (doc#number)."


@click.command(cls=Command, opens=NO, phases=("cutting", "writing"))
@click.argument("docs")
@click.argument("spec", metavar="SPEC")
@click.option("-o", "--output", required=True, metavar="CHUNKS", help="The file to write; - for the standard output.")
@tokenizer_option
@click.option("--embedder", metavar="EMBEDDER", help="What makes vectors of sentences, for semantic:PERCENT.")
@model_options
@click.option("--to", "layout", type=click.Choice(LAYOUTS), default=LAYOUTS[0], help=TO)
def chunk(docs: str, spec: str, output: str, tokenizer: str | None, layout: str, **options: Any) -> None:
    r"""Cut DOCS into chunks as SPEC says, and write each with its offsets and its text, for any retriever.

    DOCS is a folder, an archive, JSON lines or an index. Offsets count code points and are half-open. SIZE and STEP
    count what SPEC names; STEP is the distance between beginnings, SIZE if not given. STEP < SIZE makes chunks overlap,
    STEP > SIZE leaves gaps, which are counted. The last chunk of a document is the first that reaches its end.

    \b
    SPEC                            chunks of
    characters:SIZE[/STEP]          code points; never cut between a letter and its marks
    words:SIZE[/STEP]               words, as 'focuseval retrieve --unit passage' counts them
    sentences:SIZE[/STEP]           sentences, which end at punctuation or an empty line
    tokens:SIZE[/STEP]              tokens of --tokenizer
    elements:TAG[,TAG…]             XML elements
    headings:LEVEL                  Markdown sections: a new one at every heading down to this level
    recursive:SIZE                  as much as fits into SIZE characters, cut at empty lines, else lines, else blanks
    semantic:PERCENT                sentences of one subject, by --embedder: cut where neighbours differ most
    pages[:SIZE[/STEP]]             pages of PDFs
    blocks[:SIZE[/STEP]]            blocks (paragraphs, headings) of PDFs, also across pages; no headers and footers
    langchain:CLASS:SIZE[/STEP]     a splitter of langchain-text-splitters, where it is installed
    llamaindex:CLASS:SIZE[/STEP]    a splitter of llama-index-core, where it is installed
    FILE                            JSON lines with doc and start, end or text; segments; a run

    \b
    Examples:
      focuseval chunk docs/ characters:400/300 -o chunks.jsonl
      focuseval chunk docs/ tokens:256 --tokenizer tiktoken:cl100k_base -o chunks.jsonl
      focuseval chunk articles.zip elements:sec -o chunks.jsonl
      focuseval chunk docs/ langchain:RecursiveCharacterTextSplitter:400/320 -o chunks.jsonl
    """
    with progress_bar() as move:
        index, embedder = open_documents(docs), VectorSettings(**options)
        chunks = cut_documents(index, spec, tokenizer=tokenizer, embed=embedder.texts_to_vectors(move))
        move.writes(output)
        write_chunks(chunks, output, index, layout)
    echo_lines(f"warning: {remark}" for remark in chunks.remarks)
    click.echo(f"{output}: {chunks.name}, {extent(chunks, index).sentence()}", err=True)
