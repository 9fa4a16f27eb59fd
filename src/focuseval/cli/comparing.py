"""From the options of ``focuseval compare`` to the text that it prints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from focuseval.cli.significance_options import given, with_baseline

if TYPE_CHECKING:
    from focuseval.evaluation.evaluation import Evaluation


def compare_files(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> str:
    """Score the runs once under every measure and variant, compare them, and return the text to print."""
    from focuseval.cli.printing import json_text, tables_text  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.scoring import score_files  # noqa: PLC0415  as above

    measures: list[str] = []
    groups: list[tuple[str, tuple[str, ...]]] = []

    def with_variants(planned: Evaluation) -> Evaluation:
        from focuseval.evaluation.comparing import variants  # noqa: PLC0415  help must not wait for it
        from focuseval.measures import parse  # noqa: PLC0415  as above

        measures[:] = dict.fromkeys(asked.key for asked in planned.plan.measures)
        for axis in options["axes"]:
            groups.extend(variants(axis, measures, planned.prepared.gold.scale))
        names = dict.fromkeys(name for _, group in groups for name in group if name not in measures)
        asked = (*planned.plan.measures, *map(parse, names))
        return replace(planned, plan=replace(planned.plan, measures=asked))

    scores = score_files(gold, with_baseline(runs, options["baseline"]), options, with_variants)
    from focuseval.evaluation.comparing import comparison_tables, comparisons_json, correlation_table, correlations  # noqa: PLC0415  help must not wait for it

    found = [scores.compare(measure, baseline=options["baseline"], **given(options)) for measure in measures]
    agreeing = correlations(scores, groups, options["coefficient"])
    if options["layout"] == "json":
        both = {"signature": scores.signature, "gold_sha256": scores.gold_sha256}
        return json_text(both | comparisons_json(found, agreeing))
    shown = [*comparison_tables(found, every_pair=options["pairs"]), *map(correlation_table, agreeing)]
    return tables_text(shown, options, scores.signature)
