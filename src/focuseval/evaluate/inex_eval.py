"""The official 2008–10 tool's report, line by line and with its habits (MEASURES.md §15).

File order is the ranking, means are over answered topics, gP past the last article repeats the last value, recall
levels of iP are computed in floating point, rates under ``all`` are means of topic values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from focuseval.evaluate.task_rules import refuse_invalid
from focuseval.match import Matched, Policies, match
from focuseval.match.policies import inex_eval
from focuseval.measures.article_score import article_scores
from focuseval.measures.characters import average_interpolated_precision, harmonic, interpolated_curve
from focuseval.measures.documents import relevant_upto
from focuseval.measures.generalised import (
    average_generalised_precision,
    generalised_precision,
    interpolate,
    recall_credit,
)
from focuseval.measures.topicwise import count, ratio
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from focuseval.match import Prepared
    from focuseval.run import Run

RANKS = (1, 2, 3, 5, 10, 25, 50)
TASKS = {
    "t": "thorough",
    "f": "focused",
    "r": "relevant-in-context",
    "i": "relevant-in-context",
    "b": "best-in-context",
}
SCORES = {"r": "f", "i": "t2i", "b": "bep"}


@dataclass(frozen=True)
class Options:
    """The flags of the official tool."""

    mode: str
    """One of t, f, r, b, i."""
    irr: int = 300
    n: int = 500
    beta: float = 0.25
    complete: bool = False
    """``-c``: means over all topics, not only the answered ones."""
    queries: bool = False
    """``-q``: every topic's values too."""

    @property
    def listed(self) -> bool:
        """Whether a ranked list of text is scored, rather than ranked articles."""
        return self.mode in "tf"


def report(run: Run, prepared: Prepared, options: Options, say: Callable[[str], None] | None = None) -> str:
    """Return the report on one run; `say` is told what the tool would have printed zeros for without a word."""
    matched = match(run, prepared, policies(options))
    if say is not None and matched.unjudged == len(matched):
        say(
            f"{run.file or run.run_id}: no document in common with {prepared.gold.file or 'the qrels'}, so everything "
            "is 0; check that both name documents in the same way"
        )
    if options.mode != "t":
        refuse_invalid(matched, TASKS[options.mode], official=True)
    lines = [f"{name}\t{topic}\t{value}" for name, topic, value in _lines(matched, options)]
    head = f"<eval run-id={quoteattr(run.run_id)} file={quoteattr(run.file)}>"
    return "\n".join([head, *lines, "</eval>"]) + "\n"


def policies(options: Options) -> Policies:
    """Return the tool's policies."""
    missing = "zero" if options.complete else "skip"
    return inex_eval(Policies()).but(missing=missing, beta=options.beta)


def _lines(m: Matched, options: Options) -> Iterator[tuple[str, str, str]]:
    """Yield name, topic or ``all``, value."""
    counted = np.ones(m.topics, np.bool_) if options.complete else m.answered
    counts, rates = sizes(m, options), values(m, options)
    if options.queries:
        for topic in np.flatnonzero(counted):
            name = m.prepared.topics[topic]
            yield from ((label, name, str(column[topic])) for label, column in counts.items())
            yield from ((_single(label), name, java(column[topic])) for label, column in rates.items())
    yield "num_q", "all", str(int(counted.sum()))
    summed = counted if options.listed else np.ones(m.topics, np.bool_)
    yield from ((label, "all", str(int(column[summed].sum()))) for label, column in counts.items())
    yield from ((label, "all", java(_mean(column[counted]))) for label, column in rates.items())


def _single(label: str) -> str:
    """Return the name of a mean's topic value: AiP for MAiP."""
    return {"MAiP": "AiP", "MAgP": "AgP"}.get(label, label)


def _mean(column: NDArray[Any]) -> float:
    """Add one by one, as the tool does: another order changes the last digit."""
    return sum(column.tolist()) / len(column) if len(column) else 0.0


def sizes(m: Matched, options: Options) -> dict[str, NDArray[np.int64]]:
    """Return the counts of every topic: distinct articles, and characters (none retrieved for entry points)."""
    entry = options.mode == "b"
    nothing = np.zeros(m.topics, np.int64)
    return {
        "num_ret": np.diff(m.a_bounds),
        "num_rel": m.prepared.numrel,
        "num_rel_ret": relevant_upto(m, None),
        "ret_size": nothing if entry else count(m.cost, m.bounds),
        "rel_size": m.prepared.trel_of_topic,
        "rel_ret_size": nothing if entry else count(m.new_rsize, m.bounds),
    }


def values(m: Matched, options: Options) -> dict[str, NDArray[np.float64]]:
    """Return the rates of every topic, in the tool's order."""
    counts = sizes(m, options)
    found: dict[str, NDArray[np.float64]] = {}
    for name, part, shown, whole in (
        ("art", "num_rel_ret", "num_ret", "num_rel"),
        ("char", "rel_ret_size", "ret_size", "rel_size"),
    ):
        precision, recall = ratio(counts[part], counts[shown]), ratio(counts[part], counts[whole])
        found |= {f"{name}_prec": precision, f"{name}_rec": recall, f"{name}_f1": harmonic(precision, recall)}
    return found | (_list_values(m) if options.listed else _article_values(m, options))


def _list_values(m: Matched) -> dict[str, NDArray[np.float64]]:
    curve = interpolated_curve(m)[1]
    found = {f"iP[{level / 100:.2f}]": curve[:, level] for level in (0, 1, 5, 10)}
    found["MAiP"] = average_interpolated_precision(m)
    return found | {f"ircl_prn.{level / 100:.2f}": curve[:, level] for level in range(101)}


def _article_values(m: Matched, options: Options) -> dict[str, NDArray[np.float64]]:
    score: dict[str, Any] = {
        "score": SCORES[options.mode], "beta": options.beta, "irr": options.irr, "n": options.n
    }  # fmt: skip
    average = average_generalised_precision(m, gain="documents", credit="document", form="average", **score)
    found = {"MAgP": np.nan_to_num(average)}
    found |= {f"gP[{k}]": np.nan_to_num(generalised_precision(m, at=k, **score)) for k in RANKS}
    found |= {f"gR[{k}]": ratio(relevant_upto(m, k), m.prepared.numrel) for k in RANKS}
    s = article_scores(m, **score)
    best = interpolate(s, recall_credit(m, "documents", "document")[s.row], m.prepared.numrel, steps=10)
    return found | {f"ircl_prn.{level / 10:.2f}": best[:, level] for level in range(11)}


def java(value: float) -> str:
    """Print a double as the tool's language does.

    >>> java(0.75), java(1.0), java(0.00025)
    ('0.75', '1.0', '2.5E-4')
    """
    value = float(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(text for p in range(18) if float(text := f"{value:.{p}e}") == value)
    digits, power = shortest.split("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(power)}"
