"""``focuseval simulate``: runs made from the gold itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from focuseval.cli.options import FiniteRange, drop_tags_option, gold_options, profile_option, read_judged, task_option
from focuseval.cli.output import READS, Command, progress_bar, say_written
from focuseval.errors import counted
from focuseval.formats.catalogue import find_format
from focuseval.formats.convert import write_run
from focuseval.measures.checks import repair
from focuseval.measures.profiles import Policies, profile_named
from focuseval.measures.tasks import find_task
from focuseval.studies.simulation import RECALL_BASE_KINDS, TASKS, Dial
from focuseval.studies.simulation import simulate as simulate_run


@click.command(cls=Command, opens=READS, phases=("simulating", "writing"))
@click.argument("gold")
@click.option("--kind", required=True, help="full, ideal, reversed, leaves; S-R …; random, degraded; see above.")
@click.option("-o", "--output", required=True, metavar="RUN", help="The run to write; - for the standard output.")
@click.option("--to", "layout", metavar="FORMAT", help="Format; by default run-jsonl for .jsonl, else what fits.")
@gold_options
@drop_tags_option
@task_option("Make the run valid for this task; with --kind degraded and noise 0, its best run")
@profile_option("The campaign whose recall base full, ideal, reversed, leaves and degraded are made of")
@click.option("--quant", metavar="NAME", help="Gains of that base, such as sog; else the profile's or the year's.")
@click.option("--noise", type=FiniteRange(0, 1), default=0.3, help="degraded: 0 is the task's best run, 1 is random.")
@click.option("--depth", type=FiniteRange(), default=0.0, help="degraded: above 0 favours deep elements.")
@click.option("--size-bias", type=FiniteRange(), default=0.0, help="degraded: above 0 favours large ones.")
@click.option("--results", type=click.IntRange(1), default=1500, help="degraded, random: per topic.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed; equal seeds give equal runs.")
def simulate(gold: str, **options: Any) -> None:
    r"""Make a run from GOLD in a controlled way, to see what a measure does with it.

    \b
    full, ideal, reversed, leaves   elements of the recall base: all, the ideal ones, these reversed, its leaves
    S-R, S_L-R, S_LD-R_SI …         perfect passages (S), smallest elements around them (S_L), whole documents
                                    (S_LD), largest (S_S) or smallest (S_ST) elements inside; articles by relevant
                                    text (R), the first two swapped (R_S), a wrong document on top (R_I), both (R_SI)
    random, degraded                elements of the judged articles, from the best run for the task to chance

    \b
    Examples:
      focuseval simulate gold.jsonl --index wiki.idx --kind ideal -o ideal.xml
      focuseval simulate gold.jsonl --index wiki.idx --kind S_L-R_I -o run.txt
      focuseval simulate gold.jsonl --index wiki.idx --kind ideal --profile inex2006 -o ideal.xml
      focuseval simulate assessments-2004/ --kind reversed --quant sog -o reverse_irb.xml
      focuseval simulate judging/ --assessor ann --kind ideal -o ideal.xml
      focuseval simulate gold.jsonl --index wiki.idx --kind degraded --noise 0.5 --seed 7 -o run.xml --task focused
    """
    task, kind = find_task(options["task"]).name if options["task"] else None, options["kind"]
    with progress_bar() as move:
        judged, index = read_judged(gold, options)
        policies, quant = Policies(drop_tags=options["drop_tags"] or ()), options["quant"]
        if options["profile"]:  # for the task that is named, or the kind's own
            profile = profile_named(options["profile"])
            own = TASKS.get(kind, "thorough")
            named = profile.task(task or (own if own in profile.tasks else None))
            policies = policies.but(**profile.policies_of(named))
            quant = quant or profile.quant
        turned = {name: options[name] for name in ("noise", "depth", "results", "seed")}
        dial = Dial(**turned, size=options["size_bias"], task=task or "thorough")
        run = simulate_run(judged, kind, index, dial=dial, quant=quant or "auto", without=policies.left_out())
        tags = options["drop_tags"] and "+".join(options["drop_tags"])
        shown = (("profile", options["profile"]), ("quant", options["quant"]), ("drop_tags", tags))
        more = [f"{name}={value}" for name, value in shown if value]
        if more and kind in (*RECALL_BASE_KINDS, "degraded"):  # beside the dial's own parameters
            name, _, dialled = run.run_id.removesuffix(")").partition("(")
            run = replace(run, run_id=f"{name}({','.join([*filter(None, [dialled]), *more])})")
        if options["task"]:
            repaired, _ = repair(run, options["task"], index)
            run = replace(repaired, task=options["task"])
        lines = options["output"].lower().endswith(find_format("run-jsonl").suffixes)
        layout = options["layout"] or ("run-jsonl" if lines else "inex-xml" if run.path is not None else "inex-fol")
        move.writes(options["output"])
        write_run(run, options["output"], layout, index=index)
    results, topics = counted(len(run), "result"), counted(len(set(run.topic.tolist())), "topic")
    say_written(options["output"], f"{results} for {topics}, kind {kind}, format {layout}")
