"""focuseval's measures in ir_measures, and with them in PyTerrier's ``Experiment``.

::

    import ir_measures
    from focuseval.bridges.ir_measures import register

    register()
    ir_measures.calc_aggregate([ir_measures.parse_measure("spanR@5")], qrels, run)

Qrels and runs are what ir_measures takes, with spans: columns ``start`` and ``end`` (code points, half-open), or, where
a format has no room for them, document ids such as ``d1#40-120``. Given to the provider itself, they may also be a
`focuseval.Gold` and a `focuseval.Run`. Names are ours, written as ir_measures writes them: words are
quoted (``MAgP(score='t2i')``), so are budgets (``spanR@'2000c'``), and a hyphen becomes an underscore (``EPRUM_P@5``).
Measures that ir_measures has by the same name (AP, P, nDCG …) stay its own.

``python -m focuseval.bridges.ir_measures QRELS RUN MEASURE…`` is ir_measures' own command with these measures.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from focuseval.data.gold import UNKNOWN, Gold
from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats.frames import gold_from_frame, run_from_frame, to_table
from focuseval.measures import Measure
from focuseval.measures.catalogue import MEASURES

Row = dict[str, Any]

NAME = "focuseval"

_SPAN = re.compile(r"(.+)#([0-9]+)-([0-9]+)")


def register(**options: Any) -> Any:
    """Add focuseval's measures and provider to ir_measures, and return the provider.

    Parameters
    ----------
    options
        What `focuseval.evaluate` takes besides gold, runs and measures: ``task``, ``profile``, ``index``, policies. A
        second call replaces those of the first.
    """
    try:
        theirs: Any = import_module("ir_measures")
    except ImportError:
        raise MissingDataError("ir_measures is not installed; python -m pip install ir_measures") from None
    for measure in offered():
        if (name := measure.name.replace("-", "_")) not in theirs.measures.registry:
            info = theirs.measures.ParamInfo
            given = {p.name: info(default=p.default, desc=p.summary) for p in measure.parameters}
            given |= {"cutoff": info(required=measure.at_required, desc="what follows @")} if measure.at else {}
            fields = {"NAME": name, "__name__": name, "__doc__": measure.summary, "OURS": measure.name}
            made = type(name, (theirs.Measure,), fields | {"SUPPORTED_PARAMS": given})
            theirs.measures.register(made(), name=name)
    provider = _provider(theirs, options)
    others = [own for own in theirs.DefaultPipeline.providers if getattr(own, "NAME", "") != NAME]
    theirs.DefaultPipeline.providers[:] = [*others, theirs.providers.register(provider)]
    return provider


def offered() -> list[Measure]:
    """Return the measures that ir_measures can name: not its own, those of all chunks, nor one with another mean."""
    own = {"P", "R", "AP", "RR", "nDCG", "Rprec", "Success", "IPrec", "Bpref", "infAP", "SetP", "SetF", "SetAP"}
    others = {*own, "RBP", "ERR", "Judged", "ceiling"}
    return [measure for measure in MEASURES if measure.name not in others and not measure.geometric]


def our_name(measure: Any) -> str:
    """Return our name of one of their measures: ``MAgP(score='t2i')`` is ``MAgP(score=t2i)``."""
    given = ", ".join(f"{name}={value}" for name, value in measure.params.items() if name != "cutoff")
    at = f"@{measure.params['cutoff']}" if "cutoff" in measure.params else ""
    return f"{measure.OURS}({given}){at}" if given else f"{measure.OURS}{at}"


def _provider(theirs: Any, options: dict[str, Any]) -> Any:
    """Return a provider that scores under these options; its class is made here, because its base class is theirs."""

    class Evaluator(theirs.Evaluator):  # type: ignore[misc, unused-ignore]  # untyped where it is not installed
        """Scores runs against one gold; a topic without relevant text is left out, as in focuseval."""

        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            super().__init__(list(measures), ())
            self.gold = as_gold(qrels)

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            names = {our_name(measure): measure for measure in self.measures}
            scores = evaluate(self.gold, as_run(run), list(names), **options)
            for topic, values in next(iter(scores.per_topic().values())).items():
                for name, value in values.items():
                    yield theirs.Metric(query_id=topic, measure=names[name], value=value)

    class Provider(theirs.Provider):  # type: ignore[misc, unused-ignore]  # as above
        """Computes focuseval's measures."""

        NAME = NAME

        def supports(self, measure: Any) -> bool:
            measure.validate_params()
            return hasattr(measure, "OURS")

        def run_inputs(self, measures: Iterable[Any]) -> list[str]:  # noqa: ARG002  the same for all
            return ["query_id", "doc_id", "score"]

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Evaluator:
            return Evaluator(measures, qrels)

    return Provider()


def as_gold(qrels: Any) -> Gold:
    """Return qrels as gold: a row with a relevance above 0 is a highlighted span, others are judged not relevant.

    Rows with a path judge elements (`focuseval.bridges.ir_datasets`), and are left out.

    >>> as_gold({"q1": {"d1#40-120": 1, "d2": 0}}).passages.end.tolist()
    [120]
    """
    if isinstance(qrels, Gold):
        return qrels
    rows = [_placed(row) for row in rows_of(qrels, "relevance") if not row.get("path")]
    for number, row in enumerate(rows, 1):
        if row["relevance"] <= 0:
            row["start"] = row["end"] = UNKNOWN
        elif row["start"] < 0:
            what = f"expected a span for the relevant document {row['doc_id']}, found none"
            raise FormatError(what, at=f"<qrels>:{number}", remedy="give columns start and end, or ids as d1#40-120")
    return gold_from_frame(rows)


def as_run(results: Any) -> Run:
    """Return scored documents as a run, ranked by descending score.

    >>> as_run({"q1": {"d1#0-9": 0.5, "d1#9-20": 0.7}}).start.tolist()
    [9, 0]
    """
    if isinstance(results, Run):
        return results
    rows = [_placed(row) for row in rows_of(results, "score")]
    names = ("query_id", "doc_id", "score", "start", "end")
    return run_from_frame([{name: row[name] for name in names} for row in rows])


def rows_of(given: Any, value: str) -> list[Row]:
    """Return the rows of what ir_measures takes: a dictionary of dictionaries, a frame, or named tuples."""
    if isinstance(given, dict):
        return [{"query_id": q, "doc_id": d, value: number} for q, own in given.items() for d, number in own.items()]
    rows: list[Row] = to_table(given).to_pylist() if hasattr(given, "columns") else [row._asdict() for row in given]
    return rows


def _placed(row: Row) -> Row:
    """Return a row with a start and an end; −1 where it has none."""
    found = _SPAN.fullmatch(str(row["doc_id"])) if row.get("start") is None else None
    if found:
        return {**row, "doc_id": found[1], "start": int(found[2]), "end": int(found[3])}
    return {"start": UNKNOWN, "end": UNKNOWN, **row}


if __name__ == "__main__":
    register()
    sys.exit(import_module("ir_measures.__main__").main_cli())
