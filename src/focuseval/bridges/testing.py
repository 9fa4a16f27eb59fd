"""For a test suite of your own: fail when retrieval got worse."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # every pytest loads this module
    from focuseval.inference.regression import GateVerdict


def assert_no_regression(
    baseline: str | Path,
    gold: Any,
    run: Any,
    measures: str | Iterable[str],
    *,
    min_effect: float = 0.0,
    max_lost: int | str | None = None,
    decide: str = "one",
    strict: bool = False,
    alpha: float = 0.05,
    baseline_run: str | None = None,
    **options: Any,
) -> list[GateVerdict]:
    """Raise AssertionError if `run` scores significantly worse than the baseline; return the verdicts otherwise.

    Parameters
    ----------
    baseline
        A file written by ``focuseval score … --per-topic --format json``.
    gold, run
        Paths, frames or values, as `focuseval.evaluate` takes them.
    measures
        One measure's name, or several, of which the first decides; with ``decide="all"`` all, corrected by Holm.
    min_effect, alpha
        The smallest mean drop that matters, and the level of significance.
    max_lost, strict
        How many topics may lose `min_effect` or more (``3``, ``"75%"``), and whether to fail where nothing can be told.
    baseline_run
        Which run of the baseline, when the file holds several.
    options
        Passed to `focuseval.evaluate`: ``index=``, ``docs=``, ``task=``, ``profile=`` …
    """
    from focuseval.evaluation.evaluation import evaluate  # noqa: PLC0415  importing this module must cost nothing
    from focuseval.evaluation.gate import as_text, judge, read_baseline  # noqa: PLC0415  as above
    from focuseval.inference.regression import GateRule  # noqa: PLC0415  as above

    names = [measures] if isinstance(measures, str) else list(measures)
    scores = evaluate(gold, [run], names, **options)
    rule = GateRule(alpha=alpha, min_effect=min_effect, max_lost=max_lost, decide=decide, strict=strict)
    verdicts = judge(read_baseline(baseline, baseline_run), scores, names, rule)
    if worse := [verdict for verdict in verdicts if verdict.fails]:
        raise AssertionError(as_text(worse))
    return verdicts
