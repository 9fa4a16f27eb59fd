"""``focuseval estimate``: people and a model together."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from focuseval.assessment.golds import Whose
from focuseval.assessment.project import open_project
from focuseval.assessment.sampling import sampled_golds
from focuseval.cli.options import (
    WHOSE,
    FiniteRange,
    cluster_by_option,
    evaluation_options,
    is_project,
    open_collection,
    read_judged,
    results_options,
)
from focuseval.cli.output import READS, Command, echo_lines, write_results
from focuseval.cli.score import POLICIES, read_topics_of, write_repairs_of
from focuseval.evaluation.estimating import estimate as estimate_runs

OWN = ("clusters", "weight", "assisted")
"""Options that are arguments of `estimate_runs`."""


@click.command(cls=Command, opens=READS)
@click.argument("files", nargs=-1, required=True, metavar="PEOPLE MODEL RUN...")
@evaluation_options()
@click.option("--model", metavar="NAME", help="The first file is a project, and this its model; people have a sample.")
@cluster_by_option
@click.option("--anytime", is_flag=True, help="Intervals that may be looked at after every topic; 1.6 times as wide.")
@click.option("--plan", is_flag=True, help="Say how many more topics would tell runs apart; implies --anytime.")
@click.option("--within", type=FiniteRange(0, min_open=True), help="With --plan: the difference that matters.")
@click.option("--weight", type=FiniteRange(0, 10), help="The model's weight, if not the best: 0 is people alone.")
@click.option("--random", "declared", is_flag=True, help="People's topics are a random sample of all.")
@click.option("--assisted", is_flag=True, help="Use judgements that began with a model's suggestions, too.")
@results_options
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
    sample: tuple[str, ...] | None = None
    if options["model"]:
        whose = Whose(**{name: options[name] for name in WHOSE})
        with (
            closing(open_project(files[0], index=open_collection(options))) as opened,
            opened.store.database.translated("nothing was read"),
        ):
            golds = sampled_golds(opened, whose, options["model"], declared=options["declared"])
        echo_lines(golds.remarks)
        people, model, sample, index = golds.people, golds.model, golds.sample, opened.documents.index
    elif is_project(files[1]):
        raise click.UsageError(
            f"{files[1]} is a project; name its model: 'focuseval estimate PROJECT RUN... --model NAME'"
        )
    else:
        people, index = read_judged(files[0], options)
        model, _ = read_judged(files[1], options | dict.fromkeys(WHOSE))
    found = estimate_runs(
        people, model, files[1 if options["model"] else 2 :], options["measures"] or None, index=index,
        topics=read_topics_of(options), random=options["declared"], sample=sample,
        anytime=options["anytime"] or options["plan"], **{name: options[name] for name in OWN},
        **{name: options[name] for name in POLICIES if name in options},
    )  # fmt: skip
    echo_lines(found.noticed)
    write_repairs_of(found.scores[0], options)
    plans, within = found.plan(options["within"]) if options["plan"] else [], options["within"]
    values = found.to_json() | ({"plan": [one._asdict() for one in plans]} if options["plan"] else {})
    write_results(options, lambda: values, lambda: found.tables(plans, within), found.signature)
