"""From the options of ``focuseval report`` to a page, tables, figures, or a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.significance_options import given, with_baseline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.report.evidence import Evidence
    from focuseval.report.report import Report


def report_files(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Read, score, observe; then serve, or write what is asked for."""
    from focuseval.report.build import report_on  # noqa: PLC0415  help must not wait for it
    from focuseval.report.tables import render  # noqa: PLC0415  as above

    if not (options["output"] or options["serve"] or options["figures"]) and options["layout"] == "html":
        raise click.UsageError("Name the page with -o, such as -o report.html, or show it with --serve.")
    evidence = evidence_of(gold, runs, options)
    if options["serve"]:
        _say_remarks(evidence)
        serve(evidence, options)
        return
    made = report_on(evidence, title=options["title"], budget=int(options["text_limit"] * 1_000_000))
    if options["figures"]:
        write_figures(made, options["figures"])
    if options["output"] or options["layout"] != "html":
        from focuseval.cli.printing import say_written, write_text  # noqa: PLC0415  help must not wait for it

        write_text(render(made, options["layout"]), options["output"])
        if options["output"]:
            say_written(options["output"], made.first.verdict.headline)
    _say_remarks(evidence)


def _say_remarks(evidence: Evidence) -> None:
    for remark in evidence.scores.remarks():
        click.echo(remark, err=True)


def evidence_of(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> Evidence:
    """Read what the options name; a baseline that is a file of its own becomes one of the runs."""
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.repairing import write_repairs_of  # noqa: PLC0415  as above
    from focuseval.inference.settings import settings_of  # noqa: PLC0415  as above
    from focuseval.report.build import gather_evidence  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    evidence = gather_evidence(
        judged,
        list(with_baseline(runs, options["baseline"])),
        options["measures"] or None,
        index=index,
        task=options["task"],
        profile=options["profile"],
        baseline=options["baseline"],
        settings=settings_of(**given(options)),
        fidelity=options["fidelity"],
        topics=_topics(options["topics"]),
        watch=_watch,
        **{
            name: options[name]
            for name in ("run_format", "missing", "cutoff", "cas", "repair", "drop_tags", "tokenizer")
        },
    )
    write_repairs_of(evidence.scores, options)
    return evidence


def _topics(path: str | None) -> Any:
    if path is None:
        return ()
    from focuseval.formats.embedded import read_questions  # noqa: PLC0415  only asked for by name

    return read_questions(path)


def _watch(runs: list[int]) -> Iterable[int]:
    """Go through the runs; on a terminal, with a bar."""
    if not sys.stderr.isatty() or len(runs) < 3:
        return runs
    from rich.console import Console  # noqa: PLC0415  only a terminal needs it
    from rich.progress import track  # noqa: PLC0415  as above

    return track(runs, "Looking at runs", console=Console(stderr=True), transient=True)


def write_figures(made: Report, folder: str) -> None:
    """Write every graph as an SVG file."""
    from focuseval.errors import FormatError  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.output import write_whole  # noqa: PLC0415  as above
    from focuseval.report.figures import draw_all  # noqa: PLC0415  as above

    drawn = draw_all(made.charts)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", at=folder) from None
    for name, svg in drawn.items():
        write_whole(Path(folder) / name, [svg.encode()])
    click.echo(f"{len(drawn)} figures in {folder}", err=True)


def serve(evidence: Evidence, options: dict[str, Any]) -> None:
    """Serve the report on this machine until Ctrl-C."""
    from focuseval.assessment.web.serve import Server, bind, names_of  # noqa: PLC0415  help must not wait for it
    from focuseval.report.serve import create_app, fresh_token  # noqa: PLC0415  as above

    listening = bind(port=options["port"])
    port, token = listening.getsockname()[1], fresh_token()
    app = create_app(evidence, token, names_of("127.0.0.1", port), title=options["title"])
    server = Server(app, listening)
    server.start()
    click.echo(f"Report: http://127.0.0.1:{port}/?token={token}\nStop with Ctrl-C.", err=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        server.close()
