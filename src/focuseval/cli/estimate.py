"""``focuseval estimate``: people and a model together."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import WHOSE, FiniteRange, evaluation_options, is_project, read_judged, results_options
from focuseval.cli.output import READS, Command, echo_lines, write_results
from focuseval.cli.score import POLICIES, read_topics_of, write_repairs_of
from focuseval.evaluation.estimating import estimate as estimate_runs


@click.command(cls=Command, opens=READS)
@click.argument("files", nargs=-1, required=True, metavar="PEOPLE MODEL RUN...")
@evaluation_options()
@click.option("--cluster-by", "clusters", metavar="WHAT", help="Topics in clusters, as in 'focuseval compare'.")
@click.option("--anytime", is_flag=True, help="Intervals that may be looked at after every topic; 1.6 times as wide.")
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

    \b
    Examples:
      focuseval estimate people.jsonl model.jsonl a.jsonl b.jsonl -m spanR@5 --docs docs/ --random
    """
    if len(files) < 3:
        raise click.UsageError("Expected PEOPLE MODEL RUN..., found fewer files.")
    if is_project(files[1]):
        raise click.UsageError(
            f"{files[1]} is a project; name its model: 'focuseval estimate PROJECT RUN... --model NAME'"
        )
    people, index = read_judged(files[0], options)
    model, _ = read_judged(files[1], options | dict.fromkeys(WHOSE))
    found = estimate_runs(
        people, model, files[2:], options["measures"] or None, index=index, topics=read_topics_of(options),
        random=options["declared"], **{name: options[name] for name in ("clusters", "anytime", "weight", "assisted")},
        **{name: options[name] for name in POLICIES if name in options},
    )  # fmt: skip
    echo_lines(found.noticed)
    write_repairs_of(found.scores[0], options)
    write_results(options, found.to_json, found.tables, found.signature)
