"""From the options of ``focuseval simulate`` to a run on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any


def simulate_file(gold: str, options: dict[str, Any]) -> str:
    """Make the run, write it, and return a sentence that says what was made."""
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.formats import write_run  # noqa: PLC0415  as above
    from focuseval.simulate import simulate  # noqa: PLC0415  as above
    from focuseval.simulate.degraded import Dial  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    dial = Dial(options["noise"], options["depth"], options["size_bias"], options["results"], options["seed"])
    run = simulate(judged, options["kind"], index, dial=dial)
    if options["task"]:
        run = _lawful(run, options["task"], index)
    layout = options["layout"] or _fitting(run, options["output"])
    write_run(run, options["output"], layout, index=index)
    topics = len(set(run.topic.tolist()))
    return f"{len(run):,} results for {topics:,} topics, kind {options['kind']}, format {layout}"


def _fitting(run: Any, output: str) -> str:
    """Return the format of a run where nobody names one: JSON lines by the file's ending, else what fits its places."""
    from focuseval.formats.catalogue import find_format  # noqa: PLC0415  as above

    if output.lower().endswith(find_format("run-jsonl").suffixes):
        return "run-jsonl"
    return "inex-xml" if run.path is not None else "inex-fol"


def _lawful(run: Any, task: str, index: Any) -> Any:
    """Return the run as the task allows it."""
    from focuseval.task import repair  # noqa: PLC0415  only asked for by name

    repaired, _ = repair(run, task, index)
    return replace(repaired, task=task)
