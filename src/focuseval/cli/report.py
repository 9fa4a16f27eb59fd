"""``focuseval report``: one HTML file that answers, and explains."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.estimate import estimate_both, read_both, sample_options
from focuseval.cli.output import READS, Command, Meter, echo_lines, progress_bar, say_written, write_text
from focuseval.cli.score import plan_files, read_topics_of, write_repairs_of
from focuseval.errors import FormatError, counted
from focuseval.formats.content import write_whole
from focuseval.inference.settings import settings_of
from focuseval.report.build import Report, evidence_on, report_on
from focuseval.report.charts.chart import WIDTHS
from focuseval.report.evidence import Evidence
from focuseval.report.page import draw_all, render

WIDE = "With --format latex, all tables and measures, not the one that fits a page."
PAGES = "Also embed up to N pages of PDFs as they look, found and missed text marked on them; 20 without N."
ESTIMATE = (
    "Also draw what people would find over all topics: GOLD is people's, of some of them, MODEL a model's of all."
)
PHASES = ("reading", "scoring", "reading lists", "comparing", "embedding texts", "drawing")


@click.command(cls=Command, opens=READS, phases=PHASES)
@click.argument("gold")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", metavar="FILE", help="Write to this file, such as report.html.")
@shared.baseline_option
@shared.evaluation_options(
    "A measure such as MAgP; may be repeated, the first one decides (without -m, the profile's).",
    "The topics: what each of them asks, and their structure for --cas strict.",
)
@click.option("--title", default="", show_default=False, help="The page's title.")
@shared.layout_option("html", "json", "markdown", "latex", "csv", what="One page, everything as JSON, or the tables.")
@click.option("--wide", is_flag=True, help=WIDE)
@click.option("--figures", metavar="DIR", help="Also write every graph as SVG and PDF into this folder.")
@click.option("--figure-width", type=click.Choice(list(WIDTHS)), default="page", help="85 mm or 175 mm.")
@click.option("--serif", is_flag=True, help="Letters of the figures with serifs.")
@click.option("--fidelity", is_flag=True, help="Also test the measures on simulated runs; needs the collection.")
@click.option("--estimate", metavar="MODEL", help=ESTIMATE)
@sample_options
@click.option("--text-limit", type=shared.FiniteRange(0), default=2.5, help="Megabytes of compressed text in the page.")
@click.option("--pages", type=click.IntRange(0), is_flag=False, flag_value=20, default=0, metavar="[N]", help=PAGES)
@click.option("--serve", is_flag=True, help="Show the report from a server on this machine, with nothing left out.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of --serve; else a free one.")
@shared.jobs_option
@shared.cluster_option
@shared.significance_options(draws="10000; 1000 with --test bootstrap --tails 1")
def report(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Report on RUNs: which is better, on which topics, and what each found and missed in the text.

    The page is one file that opens from disk without a network. Any two runs and any measure can be chosen in it. With
    the collection (--index or --docs) it shows ranked lists side by side and the text, up to the measure's cut-off.
    Differences are judged as in 'focuseval compare', with the same numbers.

    \b
    Examples:
      focuseval report gold.jsonl old.jsonl new.jsonl --docs docs/ --baseline old.jsonl -o report.html
      focuseval report assessments/ run*.xml --index wiki.idx --profile inex2006 --task focused -o report.html
      focuseval report qrels.txt run*.txt -m AP -m nDCG@10 --format latex --figures figures/ --figure-width column
      focuseval report judging/ run*.xml --adjudicated --task focused -o report.html
      focuseval report people.jsonl run*.jsonl --docs docs/ --estimate model.jsonl --random -o report.html
      focuseval report sea run*.jsonl --estimate llama3.1:8b -o report.html
      focuseval report gold.jsonl run*.jsonl --docs docs/ --serve
      focuseval report gold.jsonl run*.jsonl --index reports.idx --pages 40 -o report.html
    """
    if not (options["output"] or options["serve"] or options["figures"]) and options["layout"] == "html":
        raise click.UsageError("Name the page with -o, such as -o report.html, or show it with --serve.")
    if options["pages"] and options["serve"]:
        raise click.UsageError("--pages embeds pictures into a file: name it with -o, without --serve.")
    asked = shared.with_baseline(runs, options["baseline"])
    with shared.cluster_workers(options["cluster"]) as workers, progress_bar() as move:
        topics = read_topics_of(options)
        planned = plan_files(gold, asked, options, move, topics=topics, workers=workers)
        how = {name: options[name] for name in ("baseline", "clusters", "fidelity")} | {"topics": topics or ()}
        how["watch"] = partial(move.through, now="reading lists")
        evidence = evidence_on(planned, settings_of(**shared.given(options)), **how)
        write_repairs_of(evidence.scores, options)
        if (model := options["estimate"]) is not None:
            named = shared.is_project(gold) and not Path(model).exists()
            decides = evidence.evaluation.plan.measures[evidence.evaluation.scores.deciding]
            golds = read_both(gold, model, options, named=named)
            found = estimate_both(golds, asked, [decides], options)
            echo_lines(line for line in found.noticed if line not in evidence.scores.remarks())
            evidence = replace(evidence, estimates=found)
        move.phase("comparing")
        _ = evidence.comparisons
        made = None if options["serve"] else _made(evidence, options, move)
    if made is None:
        echo_lines(evidence.scores.remarks())
        _serve(evidence, options)
        return
    result, text, figures = made
    if figures:
        folder = Path(options["figures"])
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"cannot be written: {error.strerror}", at=options["figures"]) from None
        for name, drawn in figures.items():
            write_whole(folder / name, [drawn])
        click.echo(f"{counted(len(result.charts), 'figure')} in {folder}, as SVG and PDF", err=True)
    if text:
        write_text(text, options["output"])
        if options["output"]:
            say_written(options["output"], result.first.verdict.headline)
    echo_lines(evidence.scores.remarks())


def _made(evidence: Evidence, options: dict[str, Any], move: Meter) -> tuple[Report, str, dict[str, bytes]]:
    """Return the report, the text that is written or printed, and the files of the figures."""
    move.phase("embedding texts")
    budget = int(options["text_limit"] * 1_000_000)
    result = report_on(evidence, title=options["title"], budget=budget, pages=options["pages"])
    move.phase("drawing")
    figures = dict[str, bytes]()
    if options["figures"]:
        figures = draw_all(result.charts, WIDTHS[options["figure_width"]], serif=options["serif"])
    written = options["output"] or options["layout"] != "html"
    return result, render(result, options["layout"], wide=options["wide"]) if written else "", figures


def _serve(evidence: Evidence, options: dict[str, Any]) -> None:
    """Serve the report on this machine until Ctrl-C."""
    from focuseval.assessment.web.serve import Server, bind, names_of  # noqa: PLC0415  only --serve needs Flask
    from focuseval.report.serve import create_app  # noqa: PLC0415  as above

    listening = bind(port=options["port"] or 0)
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    app = create_app(evidence, token, names_of("127.0.0.1", port), title=options["title"])
    server = Server(app, listening)
    server.start()
    click.echo(f"Report: http://127.0.0.1:{port}/?token={token}\nStop with Ctrl-C.", err=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        server.close()
