"""From the options of ``focuseval compare`` to the text that it prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.compare.grid import Grid
    from focuseval.significance.comparison import Comparison


def compare_files(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> str:
    """Score the runs once under every measure and variant, compare them, and return the text to print."""
    from focuseval.formats.run_blocks import ahead  # noqa: PLC0415  help must not wait for it

    sources = ahead(runs, options["run_format"])  # before all that takes a while to load
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.repairing import write_repairs_of  # noqa: PLC0415  as above
    from focuseval.cli.watching import watched  # noqa: PLC0415  as above
    from focuseval.compare import correlations, variants  # noqa: PLC0415  as above
    from focuseval.compare.tables import as_json, correlation_grid  # noqa: PLC0415  as above
    from focuseval.evaluate import evaluate  # noqa: PLC0415  as above
    from focuseval.evaluate.comparing import compare_scores  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    groups = [group for axis in options["axes"] for group in variants(axis, options["measures"], judged.scale)]
    names = list(dict.fromkeys([*options["measures"], *(name for _, group in groups for name in group)]))
    asked = {name: options[name] for name in ("task", "profile", "run_format")}
    with watched(runs) as progress:
        scores = evaluate(judged, sources, names, index=index, progress=progress, **asked)
    for remark in scores.remarks():
        click.echo(remark, err=True)
    write_repairs_of(gold, runs, index, options)
    found = [compare_scores(scores, measure, settings_of(options)) for measure in options["measures"]]
    agreeing = correlations(scores, groups, options["coefficient"])
    if options["layout"] == "json":
        both = {"signature": scores.signature, "gold_sha256": scores.gold_sha256, **as_json(found, agreeing)}
        return json.dumps(both, ensure_ascii=False, indent=1) + "\n"
    grids = [*_grids(found, every_pair=options["pairs"]), *(correlation_grid(c) for c in agreeing)]
    return render(grids, options["layout"], scores.signature)


def settings_of(options: dict[str, Any]) -> Any:
    """Return how differences are judged."""
    from focuseval.significance.comparison import Settings  # noqa: PLC0415  help must not wait for it

    names = ("test", "tails", "resamples", "alpha", "correction", "seed")
    return Settings(**{name: options[name] for name in names})


def _grids(found: list[Comparison], *, every_pair: bool) -> Iterable[Grid]:
    """Means first; then for every measure its stars, its pairs if they are few, and for two runs what decides."""
    from focuseval.compare import tables  # noqa: PLC0415  help must not wait for it

    yield tables.means_grid(found)
    for comparison in found:
        runs = len(comparison.runs)
        if runs > 2 or runs == 1:
            yield tables.star_grid(comparison)
        if runs > 1 and (every_pair or runs <= 6):
            yield tables.pairs_grid(comparison)
        if runs == 2:
            yield tables.deciding_grid(comparison)


def render(grids: Iterable[Grid], layout: str, signature: str) -> str:
    """Return grids one after the other, the signature last."""
    last = {"latex": f"% {signature}\n", "csv": f"# {signature}\n", "markdown": f"`{signature}`\n"}
    return "\n".join(grid.render(layout) for grid in grids) + "\n" + last.get(layout, f"{signature}\n")


def write_text(text: str, output: str | None) -> None:
    """Print text, or write it to a file that appears whole or not at all."""
    if output is None:
        click.echo(text, nl=False)
        return
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    write_whole(output, [text.encode()])
