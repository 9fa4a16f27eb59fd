"""From the options of ``focuseval simulate`` to a run on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from focuseval.errors import counted
from focuseval.studies.simulation import RECALL_BASE_KINDS, TASKS, Dial, simulate

if TYPE_CHECKING:
    from focuseval.data.run import Run


def simulate_file(gold: str, options: dict[str, Any]) -> str:
    """Make the run, write it, and return a sentence that says what was made."""
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.formats import write_run  # noqa: PLC0415  as above

    task = _task(options)
    judged, index = read_judged(gold, options)
    noise, depth, size = options["noise"], options["depth"], options["size_bias"]
    dial = Dial(noise, depth, size, options["results"], options["seed"], task or "thorough")
    run = _named(simulate(judged, options["kind"], index, dial=dial, without=_left_out(task, options)), options)
    if options["task"]:
        run = _lawful(run, options["task"], index)
    layout = options["layout"] or _fitting(run, options["output"])
    write_run(run, options["output"], layout, index=index)
    topics = len(set(run.topic.tolist()))
    return f"{counted(len(run), 'result')} for {counted(topics, 'topic')}, kind {options['kind']}, format {layout}"


def _task(options: dict[str, Any]) -> str | None:
    """Return the task's own name, None where none is named."""
    from focuseval.measures.tasks.tasks import find_task  # noqa: PLC0415  help must not wait for it

    return find_task(options["task"]).name if options["task"] else None


def _named(run: Run, options: dict[str, Any]) -> Run:
    """Return the run with the profile and the tags left out in its name, beside the dial's own parameters."""
    if options["kind"] not in (*RECALL_BASE_KINDS, "degraded"):
        return run
    tags = options["drop_tags"] and "+".join(options["drop_tags"])
    said = [f"{name}={value}" for name, value in (("profile", options["profile"]), ("drop_tags", tags)) if value]
    if not said:
        return run
    kind, _, own = run.run_id.removesuffix(")").partition("(")
    return replace(run, run_id=f"{kind}({','.join([*filter(None, [own]), *said])})")


def _left_out(task: str | None, options: dict[str, Any]) -> tuple[str, ...]:
    """Return the tags that the recall base leaves out: the profile's, for the task that is named or the kind's own."""
    from focuseval.measures.matching.policies import Policies  # noqa: PLC0415  help must not wait for it
    from focuseval.measures.profiles import profile_named  # noqa: PLC0415  as above

    policies = Policies(drop_tags=options["drop_tags"] or ())
    if options["profile"]:
        profile = profile_named(options["profile"])
        own = TASKS.get(options["kind"], "thorough")
        named = task or (own if own in profile.tasks else None)
        policies = policies.but(**profile.policies_of(profile.task(named)))
    return policies.left_out()


def _fitting(run: Any, output: str) -> str:
    """Return the format of a run where nobody names one: JSON lines by the file's ending, else what fits its places."""
    from focuseval.formats.catalogue import find_format  # noqa: PLC0415  as above

    if output.lower().endswith(find_format("run-jsonl").suffixes):
        return "run-jsonl"
    return "inex-xml" if run.path is not None else "inex-fol"


def _lawful(run: Any, task: str, index: Any) -> Any:
    """Return the run as the task allows it."""
    from focuseval.measures.tasks.checks import repair  # noqa: PLC0415  only asked for by name

    repaired, _ = repair(run, task, index)
    return replace(repaired, task=task)
