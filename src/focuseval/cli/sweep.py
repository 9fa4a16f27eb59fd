"""``focuseval sweep``: which chunking serves best, and at what cost."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, is_page, progress_bar, say_written, write_results
from focuseval.cli.retrieve import vector_options
from focuseval.engine.storage import location
from focuseval.engine.workers import cores
from focuseval.inference.settings import settings_of
from focuseval.report.page import render_html
from focuseval.retrieval.sweeping import sweep as sweep_chunkings

CUT = "How to cut: words:100, sentences:5 …; see 'focuseval chunk --help'."
RETRIEVER = "bm25 (the default), dense and hybrid, as in 'focuseval retrieve'; or your run for each SPEC."
EMBEDDER = "What makes vectors, as in 'focuseval retrieve'; several are all tried."
OWN = (
    *("topics", "tokenizer", "clusters", "language", "limit"),
    *("model", "key", "query_prefix", "passage_prefix", "normalise", "dimensions", "vector_cache"),
)
"""Options that are arguments of `sweep_chunkings`."""

SEVERAL = ("--chunks", "--retriever", "--embedder")  # options behind which several values may stand


class SweepCommand(Command):
    """A command with options of several values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat such an option before each of its values: ``--chunks A B`` is ``--chunks A --chunks B``."""
        words: list[str] = []
        option = ""
        for word in args:
            if word.startswith("-"):
                option = word if word in SEVERAL else ""
            elif option and words[-1] != option:  # the second value or a later one
                words.append(option)
            words.append(word)
        return super().parse_args(ctx, words)


@click.command(cls=SweepCommand, opens=READS, phases=("reading", "cutting and searching", "comparing", "drawing"))
@click.argument("gold")
@shared.gold_options
@click.option("--chunks", multiple=True, required=True, metavar="SPEC…", help=CUT)
@click.option("--retriever", multiple=True, metavar="NAME…|RUN…", help=RETRIEVER)
@click.option("--embedder", multiple=True, metavar="EMBEDDER…", help=EMBEDDER)
@vector_options
@shared.measure_option("A measure such as spanR@2000c or IoU@5; may be repeated, the first decides.")
@shared.tokenizer_option
@click.option("--topics", metavar="FILE", help="The questions, where the gold does not hold them.")
@click.option("--language", metavar="NAME", help="Stemmer and stop words of bm25: by default english.")
@click.option("--limit", type=click.IntRange(1), help="Most results of bm25; by default what the largest budget needs.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Processes, a chunking each; by default all cores.")
@shared.cluster_option
@shared.significance_options()
@shared.layout_option()
@click.option("--title", default="", show_default=False, help="The title of the page.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file; one that ends in .html becomes a report.")
def sweep(gold: str, **options: Any) -> None:
    r"""Compare chunkings and retrievers: cut the documents as each SPEC says, retrieve for GOLD's questions, and score.

    The first line says what to use. Then a row for every pair of chunking and retriever, best first: whether it is
    worse than the best, by a paired test with Holm's correction; recall within budgets of text, IoU; the ceilings of
    the chunking, which are its scores if exactly the chunks that hold relevant text were retrieved; its cost: chunks,
    characters, and tokens with --tokenizer. Of several retrievers also vectors, milliseconds, what chunking and
    retriever do each by itself and whether they depend on each other, and which pairs are on the frontier: nothing that
    stores less is as good, as far as the questions tell. '-o sweep.html' writes a report that also draws quality
    against cost and shows what each found in the text.

    \b
    Examples:
      focuseval sweep gold.jsonl --docs docs/ --chunks characters:400 words:100/50 sentences:5
      focuseval sweep gold.jsonl --docs docs/ --chunks sentences:3 sentences:5/3 -o sweep.html
      focuseval sweep gold.jsonl --docs docs/ --chunks tokens:256 --tokenizer tiktoken:cl100k_base
      focuseval sweep gold.jsonl --docs docs/ --chunks sentences:5 recursive:400 --retriever bm25 dense hybrid
                      --embedder http://localhost:11434/v1#bge-m3
      focuseval sweep gold.jsonl --docs docs/ --chunks a.jsonl b.jsonl --retriever run-a.txt run-b.txt
      focuseval sweep beir/scifact/ --chunks words:100 sentences:5
    """
    if not (options["docs"] or options["index"]) and (location(gold) / "qrels").is_dir():  # of BEIR
        options["docs"] = gold
    if not (options["docs"] or options["index"] or shared.is_project(gold)):
        raise click.UsageError("A sweep cuts documents: give them with --docs or --index.")
    with shared.cluster_workers(options["cluster"]) as workers, progress_bar() as move:
        judged, index = shared.read_judged(gold, options)
        move.phase("cutting and searching")
        how = {name: options[name] for name in OWN if options[name] is not None}
        how |= {"embedder": options["embedder"] or None, "settings": settings_of(**shared.given(options))}
        how |= {"jobs": min(options["jobs"] or cores(), len(options["chunks"])), "workers": workers, "progress": move}
        chunks, retriever = options["chunks"], options["retriever"] or "bm25"
        swept = sweep_chunkings(judged, index, chunks, retriever, options["measures"], **how)
        move.phase("comparing")
        said, output = swept.sentence(), options["output"] or ""
        move.phase("drawing")
        drawn = render_html(swept.report(options["title"])) if is_page(output) else ""
    page = (lambda: drawn) if drawn else None
    write_results(options, swept.to_json, lambda: [swept.table()], swept.scores.signature, page)
    echo_lines(swept.remarks())
    if output:
        say_written(output, said)
