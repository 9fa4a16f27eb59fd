"""From the options of ``focuseval compare`` to the text that it prints."""

from __future__ import annotations

from typing import Any

import click


def compare_files(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> str:
    """Score the runs once under every measure and variant, compare them, and return the text to print."""
    from focuseval.formats.run_blocks import ahead  # noqa: PLC0415  help must not wait for it

    sources = ahead(runs, options["run_format"])  # before all that takes a while to load
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.printing import json_text, tables_text  # noqa: PLC0415  as above
    from focuseval.cli.repairing import write_repairs_of  # noqa: PLC0415  as above
    from focuseval.cli.watching import watched  # noqa: PLC0415  as above
    from focuseval.compare import correlations, variants  # noqa: PLC0415  as above
    from focuseval.compare.tables import as_json, correlation_table, tables  # noqa: PLC0415  as above
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
    write_repairs_of(scores, options)
    found = [compare_scores(scores, measure, settings_of(options)) for measure in options["measures"]]
    agreeing = correlations(scores, groups, options["coefficient"])
    if options["layout"] == "json":
        both = {"signature": scores.signature, "gold_sha256": scores.gold_sha256}
        return json_text(both | as_json(found, agreeing))
    shown = [*tables(found, every_pair=options["pairs"]), *map(correlation_table, agreeing)]
    return tables_text(shown, options, scores.signature)


def settings_of(options: dict[str, Any]) -> Any:
    """Return how differences are judged."""
    from focuseval.significance.comparison import Settings  # noqa: PLC0415  help must not wait for it

    names = ("test", "tails", "resamples", "alpha", "correction", "seed")
    return Settings(**{name: options[name] for name in names})
