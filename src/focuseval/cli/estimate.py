"""``focuseval estimate``: people and a model together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, progress_bar, write_results
from focuseval.cli.score import POLICIES, read_topics_of, write_repairs_of
from focuseval.evaluation.estimating import estimate as estimate_runs

OWN = ("clusters", "weight", "assisted")  # options that are arguments of `estimate_runs`
WEIGHT = "The model's weight, if not the best: 0 is people alone."
INTERVAL = "Of means between two bounds: score holds near the bounds, too; t is the estimate ± t standard errors."


sample_options = shared.combined(
    click.option("--random", "declared", is_flag=True, help="People's topics are a random sample of all."),
    click.option("--assisted", is_flag=True, help="Use judgements that began with a model's suggestions, too."),
)
"""What people's topics are, beside a model's."""


@click.command(cls=Command, opens=READS, phases=("reading", "scoring under both golds"))
@click.argument("files", nargs=-1, required=True, metavar="PEOPLE MODEL RUN...")
@shared.evaluation_options()
@click.option("--model", metavar="NAME", help="The first file is a project, and this its model; people have a sample.")
@shared.cluster_by_option
@click.option("--anytime", is_flag=True, help="Intervals that may be looked at after every topic; 1.6 times as wide.")
@click.option("--interval", type=click.Choice(["score", "t"]), default="score", help=INTERVAL)
@click.option("--plan", is_flag=True, help="Say how many more topics would tell runs apart; implies --anytime.")
@click.option("--within", type=shared.FiniteRange(0, min_open=True), help="With --plan: the difference that matters.")
@click.option("--weight", type=shared.FiniteRange(0, 10), help=WEIGHT)
@sample_options
@shared.results_options
def estimate(files: tuple[str, ...], **options: Any) -> None:
    r"""Estimate what RUNs would score if people had judged all topics.

    PEOPLE is a gold of some topics, a random sample; MODEL one of all, such as a language model's. Every run is scored
    under both. Where the model is good, the interval is narrower than that of people alone; where it is not, it is as
    right. Prints the estimate, people alone, the model alone with its bias, and what the model was worth; and every
    pair of runs. Fewer than 10 topics by people have no interval.

    With --model, 'focuseval estimate PROJECT RUN...' takes both from a project: people's sample as far as it is
    finished in the order of 'focuseval project sample', and the model's judgements of all topics.

    \b
    Examples:
      focuseval estimate people.jsonl model.jsonl a.jsonl b.jsonl -m spanR@5 --docs docs/ --random
      focuseval estimate sea a.jsonl b.jsonl -m spanR@5 --model llama3.1:8b
      focuseval estimate sea a.jsonl b.jsonl -m spanR@5 --model llama3.1:8b --plan --within 0.05
    """
    if len(files) < (2 if options["model"] else 3):
        wanted = "PROJECT RUN..." if options["model"] else "PEOPLE MODEL RUN..."
        raise click.UsageError(f"Expected {wanted}, found {len(files)} of them.")
    if not options["model"] and shared.is_project(files[1]):
        remedy = "name its model: 'focuseval estimate PROJECT RUN... --model NAME'"
        raise click.UsageError(f"{files[1]} is a project; {remedy}")
    with progress_bar() as move:
        people, runs = files[0], files[1 if options["model"] else 2 :]
        golds = read_both(people, options["model"] or files[1], options, named=bool(options["model"]))
        move.phase("scoring under both golds")
        how = {"anytime": options["anytime"] or options["plan"], "interval": options["interval"]}
        found = estimate_both(golds, runs, options["measures"] or None, options, **how)
        echo_lines(found.noticed)
        write_repairs_of(found.scores[0], options)
    plans = found.plan(options["within"]) if options["plan"] else []
    values = found.to_json() | ({"plan": [one._asdict() for one in plans]} if options["plan"] else {})
    write_results(options, lambda: values, lambda: found.tables(plans), found.signature)


def read_both(people: str, model: str, options: dict[str, Any], *, named: bool) -> dict[str, Any]:
    """Return both golds, people's sample and the collection; of a project, where the model is `named`, its own."""
    if not named:
        judged, index = shared.read_judged(people, options)
        other, _ = shared.read_judged(model, options | dict.fromkeys(shared.WHOSE))
        return {"people": judged, "model": other, "sample": None, "index": index}
    from focuseval.assessment.golds import Whose  # noqa: PLC0415  a third of what a report loads, for projects alone
    from focuseval.assessment.project import open_project  # noqa: PLC0415  as above
    from focuseval.assessment.sampling import sampled_golds  # noqa: PLC0415  as above

    whose = Whose(**{name: options[name] for name in shared.WHOSE})
    index = shared.open_collection(options)
    with closing(open_project(people, index=index)) as opened, opened.store.database.translated("nothing was read"):
        golds = sampled_golds(opened, whose, model, declared=options["declared"])
    echo_lines(golds.remarks)
    return {"people": golds.people, "model": golds.model, "sample": golds.sample, "index": opened.documents.index}


def estimate_both(
    golds: dict[str, Any], runs: Sequence[str], measures: Any, options: dict[str, Any], **how: Any
) -> Any:
    """Estimate runs from both golds, under the policies that the options name."""
    how |= {name: options[name] for name in (*OWN, *POLICIES) if name in options}
    how |= {"topics": read_topics_of(options), "random": options["declared"]}
    return estimate_runs(golds.pop("people"), golds.pop("model"), runs, measures, **golds, **how)
