"""``focuseval score``: runs against a gold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, Meter, echo_lines, progress_bar, write_results
from focuseval.data.tables import Table, render, table_file
from focuseval.engine.storage import is_url, local_path
from focuseval.engine.workers import cores
from focuseval.evaluation.evaluation import Evaluation, curves_csv, plan_evaluation
from focuseval.evaluation.score_file import table_for_programs, tag_table, to_trec
from focuseval.evaluation.scores import Scores
from focuseval.formats.content import write_whole
from focuseval.formats.files import ahead

FORMATS = ("table", "json", "csv", "trec", "markdown", "latex", "github")
POLICIES = (
    *("task", "profile", "repair", "run_format", "order", "compat"),
    *("missing", "empty_topics", "cutoff", "cas", "drop_tags", "tokenizer", "refusals"),
)
"""Options that are arguments of `plan_evaluation`."""

COMPAT = "Follow another tool's rules, or print its numbers beside ours and why they differ."
SMALL = 1 << 26  # bytes of runs up to which starting other processes does not pay


@click.command(cls=Command, opens=READS, phases=("reading", "scoring"))
@click.argument("gold")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@shared.evaluation_options()
@click.option("--per-topic", is_flag=True, help="Also print every topic's value.")
@click.option("--by-tag", is_flag=True, help="Also print the means over the topics of each tag of the gold.")
@shared.layout_option(*FORMATS)
@shared.output_option
@click.option("--curves", metavar="FILE", help="Write the measures' curves as CSV: measure, run, topic, x, y.")
@shared.jobs_option
@shared.cluster_option
@shared.cache_option
@click.option("--compat", type=click.Choice(["inex_eval", "legalbenchrag", "chroma"]), help=COMPAT)
@click.option("--chunks", metavar="FILE|SPEC", help="All chunks, for ceiling(…), or how to cut them: 'chunk --help'.")
def score(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Score RUNs against GOLD.

    Prints means with the number of topics, of missing and excluded topics and of unjudged results that they read.

    \b
    Examples:
      focuseval score qrels.txt run1.txt run2.txt -m AP -m nDCG@10
      focuseval score assessments/ run.xml --profile inex2006 --task focused
      focuseval score gold.jsonl run.jsonl --docs docs/ --profile rag --format json -o scores.json
      focuseval score judging/ run.xml --adjudicated --task focused
      focuseval score judging/ run.xml --merge union --task focused
      focuseval score gold.jsonl run.jsonl --docs docs/ -m spanR@5 --by-tag --repairs repairs.csv
      focuseval score gold.jsonl run.jsonl -o scores.parquet           run, topic, measure, value; or scores.csv
      focuseval score gold.json run.jsonl --compat legalbenchrag -m spanR@8
      focuseval score s3://lab/qrels.txt s3://lab/runs/a.txt s3://lab/runs/b.txt -m AP --cluster tcp://scheduler:8786
    """
    scores = score_files(gold, runs, options)
    if options["curves"]:  # first, so that scores are not printed where the curves cannot be written
        write_whole(options["curves"], [curves_csv(scores)])
    layout, per_topic, by_tag = options["layout"], options["per_topic"], options["by_tag"]
    if by_tag and per_topic and layout not in {"json", "github"}:
        raise click.UsageError("--per-topic and --by-tag go together with --format json or github; give one of them")
    merged, note, which = dict[str, Any](), tuple[str, ...](), {"per_topic": per_topic, "by_tag": by_tag}
    judged = scores.evaluation.prepared.gold if scores.evaluation is not None else None
    if judged is not None and any("merged" in attributes for attributes in judged.attributes.values()):
        from focuseval.assessment.adjudication import counts_text, merged_counts  # noqa: PLC0415  only a project needs it

        if counts := merged_counts(judged):
            merged, note = {"judged": counts}, (counts_text(counts),)

    def tables() -> list[Table]:
        found = [tag_table(scores)] if by_tag else [scores.table(per_topic=True)] if per_topic else scores.tables()
        return [*found[:-1], replace(found[-1], notes=(*found[-1].notes, *note))]

    as_csv = partial(table_for_programs, scores, **which)
    ending = (options["output"] or "").lower().rpartition(".")[2] if layout == "table" else ""
    if ending == "parquet":
        write_whole(options["output"], [table_file(scores.to_arrow(), options["output"])])
    elif ending == "csv":
        write_whole(options["output"], [render([as_csv()], "csv").encode("utf-8-sig")])
    else:
        texts: dict[str, Callable[[], str]] = {"csv": lambda: render([as_csv()], "csv")}
        texts |= {"trec": partial(to_trec, scores, **which), "github": partial(summary, scores, **which)}
        write_results(options, lambda: scores.to_json(**which) | merged, tables, scores.signature, texts.get(layout))


def summary(scores: Scores, *, per_topic: bool, by_tag: bool) -> str:
    """Return Markdown for the summary of a job on GitHub: the means; what is longer folded, and how they came about."""
    below = [("Topics", [scores.table(per_topic=True)])] if per_topic else []
    below += [("Tags", [tag_table(scores)])] if by_tag else []
    notes = Table("", notes=tuple(map(str, scores.remarks())))
    folded = [(title, render(tables, "markdown")) for title, tables in below]
    folded += [("How this was computed", render([notes], "markdown", signature=scores.signature))]
    parts = (f"<details><summary>{title}</summary>\n\n{text}\n</details>\n" for title, text in folded)
    return "\n".join([render(scores.tables(), "markdown"), *parts])


def score_files(
    gold: str, runs: tuple[str, ...], options: dict[str, Any], also: Callable[[Evaluation], Evaluation] | None = None,
    names: tuple[str, ...] = (),
) -> Scores:  # fmt: skip
    """Read what the options name, plan it (`also` may change the plan) and score; remarks go to the standard error.

    `names` are those of the runs, if they have other ones than their own; the same for trials of one system.
    """
    with shared.cluster_workers(options.get("cluster")) as workers, progress_bar() as move:
        topics = read_topics_of(options)
        planned = plan_files(gold, runs, options, move, topics=topics, names=names, workers=workers)
        move.phase("scoring")
        scores = (also(planned) if also else planned).scores
    echo_lines(scores.remarks())
    write_repairs_of(scores, options)
    return scores


def plan_files(gold: str, runs: tuple[str, ...], options: dict[str, Any], move: Meter, **more: Any) -> Evaluation:
    """Read what the options name, and plan its evaluation."""
    here = options.get("cluster") is None
    sources = ahead(runs, options["run_format"]) if here else list(runs)  # large runs are read while the gold is
    judged, index = shared.read_judged(gold, options)
    chunks = None
    if options.get("chunks") is not None:
        from focuseval.formats.chunks import chunk, read_chunks  # noqa: PLC0415  only ceilings need chunks

        how = options["chunks"]
        chunks = read_chunks(how) if index is None else chunk(index, how, tokenizer=options["tokenizer"])
    how = {name: options.get(name) for name in POLICIES} | more
    how |= {"index": index, "chunks": chunks, "jobs": options.get("jobs") or default_jobs(runs)}
    how["progress"] = lambda share: move(share, 1, "scoring")
    return plan_evaluation(judged, sources, options["measures"] or None, **how)


def default_jobs(runs: tuple[str, ...]) -> int:
    """Return how many processes score runs where nobody says: one for every core where there is much to do."""
    paths = [local_path(run) for run in runs if not is_url(run)]
    size = sum(path.stat().st_size for path in paths if path.is_file())
    return 1 if len(runs) < 2 or (size < SMALL and len(paths) == len(runs)) else cores()


def read_topics_of(options: dict[str, Any]) -> Any:
    """Return the topics that ``--topics`` names, or None."""
    if options["topics"] is None:
        return None
    from focuseval.formats.embedded import read_questions  # noqa: PLC0415  few scores need topics

    return read_questions(options["topics"])


def write_repairs_of(scores: Scores, options: dict[str, Any]) -> None:
    """Write what was moved, respelt, ambiguous or lost in the gold and the runs, if ``--repairs`` names a file."""
    if options["repairs"] and scores.evaluation is not None:
        from focuseval.formats.embedded import write_repairs  # noqa: PLC0415  only --repairs needs it

        write_repairs(scores.evaluation.repairs(), options["repairs"])
