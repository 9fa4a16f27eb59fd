"""From the options of ``focuseval chunk`` and ``sweep`` to chunks on disk, tables or a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import cluster_workers
from focuseval.cli.significance_options import given
from focuseval.cli.watching import watched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.retrieval.sweeps.result import Sweep


def chunk_files(docs: str, spec: str, output: str, tokenizer: str | None, layout: str) -> Iterator[str]:
    """Cut documents, write the chunks, and yield what a reader should know of them."""
    from focuseval.collection.chunks import extent  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.chunks import (  # noqa: PLC0415  help must not wait for it
        chunk,
        opened,
        write_chunks,
    )

    index = opened(docs)
    chunks = chunk(index, spec, tokenizer=tokenizer)
    write_chunks(chunks, output, index, layout)
    yield from (f"warning: {remark}" for remark in chunks.remarks)
    yield f"{output}: {chunks.name}, {extent(chunks, index).sentence()}"


def sweep_files(gold: str, options: dict[str, Any]) -> None:
    """Sweep, then write a page, a table or JSON."""
    from focuseval.cli.printing import json_text, say_written, tables_text, write_text  # noqa: PLC0415  help must not wait

    found = _swept(gold, options)
    output = options["output"] or ""
    if output.lower().endswith((".html", ".htm")):
        from focuseval.report.page import render_html  # noqa: PLC0415  only pages need templates

        text = render_html(found.report(options["title"]))
    elif options["layout"] == "json":
        text = json_text(found.to_json())
    else:
        text = tables_text([found.table()], options, found.scores.signature)
    write_text(text, options["output"])
    for remark in found.remarks():
        click.echo(remark, err=True)
    if output:
        say_written(output, found.sentence())


def _swept(gold: str, options: dict[str, Any]) -> Sweep:
    """Read what the options name, and sweep."""
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.inference.settings import settings_of  # noqa: PLC0415  as above
    from focuseval.retrieval.sweeps.sweeping import sweep  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    if index is None:
        raise click.UsageError("Documents have to be cut: give them with --docs or --index.")
    runs = options["retriever"]
    with cluster_workers(options["cluster"]) as workers, watched("cutting") as progress:
        return sweep(
            judged,
            index,
            options["chunks"],
            "bm25" if runs in {(), ("bm25",)} else runs,
            options["measures"],
            topics=options["topics"],
            tokenizer=options["tokenizer"],
            settings=settings_of(**given(options)),
            workers=workers,
            progress=progress,
            **{name: options[name] for name in ("language", "limit") if options[name] is not None},
        )
