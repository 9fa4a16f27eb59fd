"""The official 2008–10 tool's report, line by line and with its habits (MEASURES.md §15).

File order is the ranking, means are over answered topics, gP past the last article repeats the last value, recall
levels of iP are computed in floating point, rates under ``all`` are means of topic values. A topic without relevance
counts where it is answered: with 0, and with NaN where its rates divide by the relevance that it does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.evaluation.scoring import refuse_invalid
from focuseval.formats.content import Source
from focuseval.measures.characters import average_interpolated_precision, interpolated_curve
from focuseval.measures.documents import relevant_upto
from focuseval.measures.generalised import (
    article_scores,
    average_generalised_precision,
    generalised_precision,
    interpolate,
    recall_credit,
)
from focuseval.measures.matching import Matched, match
from focuseval.measures.prepared import Prepared
from focuseval.measures.profiles import Policies, inex_eval
from focuseval.measures.topicwise import count, harmonic, ratio

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

    mode: str  # one of t, f, r, b, i
    irr: int = 300
    n: int = 500
    beta: float = 0.25
    complete: bool = False
    """``-c``: means over all topics, not only the answered ones."""
    queries: bool = False  # ``-q``: every topic's values too

    @property
    def listed(self) -> bool:
        """Whether a ranked list of text is scored, rather than ranked articles."""
        return self.mode in "tf"


def report(run: Run, prepared: Prepared, options: Options, say: Callable[[str], None] | None = None) -> str:
    """Return the report on one run; `say` is told where the tool's habits would surprise."""
    if run.whole_documents and len(run):
        raise FormatError(
            "expected 7 or 8 columns (topic Q0 document rank score run offset length), found 6: whole documents",
            at=run.at(0),
            remedy="'focuseval score' measures documents",
        )
    policies = inex_eval(Policies(), thorough=options.mode == "t")
    policies = policies.but(missing="zero" if options.complete else "skip", beta=options.beta)
    matched = match(run, replace(prepared, all_topics=True), policies)
    if options.mode != "t":
        refuse_invalid(matched.run, TASKS[options.mode], official=True)
    if say is not None:
        for remark in surprises(matched, options):
            say(f"{run.file or run.run_id}: {remark}")
    lines = [f"<eval run-id={quoteattr(run.run_id)} file={quoteattr(run.file)}>"]
    for name, topic, value in _lines(matched, options):  # two tabs behind short names
        lines.append(f"{name}\t{'' if len(name) >= 8 else chr(9)}{topic}\t{value}")
    return "\n".join([*lines, "</eval>"]) + "\n"


def refuse_blank_lines(source: Source) -> None:
    """Refuse a blank line, as the tool does, in a file of columns; other formats say in their own way what is empty."""
    for number, line in enumerate(bytes(source.data).removesuffix(b"\n").split(b"\n"), 1):
        if not line.strip():
            raise FormatError("expected columns, found a blank line", at=source.at(number), remedy="remove it")


def surprises(m: Matched, options: Options) -> Iterator[str]:
    """Yield what a user would want to know of the tool's habits on this run."""
    if m.unjudged == len(m):
        gold = m.prepared.gold.file or "the qrels"
        yield f"no document in common with {gold}, so everything is 0; check that both name documents in the same way"
    if m.run.split_topics:
        topic, line = m.run.split_topics[0]
        yield f"topic {topic!r} is in several blocks, again on line {line}: they are joined (the tool counts twice)"
    bare = (m.answered | options.complete) & (m.prepared.numrel == 0)
    if bare.any():
        name = m.prepared.topics[int(np.flatnonzero(bare)[0])]
        yield (
            f"{int(bare.sum())} topics without relevance count (first {name}), so that some means are NaN, as the tool "
            "has them; 'focuseval score' leaves such topics out"
        )


def _lines(m: Matched, options: Options) -> Iterator[tuple[str, str, str]]:
    """Yield name, topic or ``all``, value: every topic's lines, then those of all."""
    counted = m.answered | options.complete  # the topics that are in the means
    counts, rates = sizes(m, options), values(m, options)
    average = "MAiP" if options.listed else "MAgP"
    if options.queries:
        own = [label for label in rates if not label.startswith("ircl_prn") and label != average]
        for topic in np.flatnonzero(counted):
            name = m.prepared.topics[topic]
            yield from ((label, name, str(column[topic])) for label, column in counts.items())
            yield from ((label, name, java(rates[label][topic])) for label in own)
            yield average[1:], name, java(rates[average][topic])
    yield "num_q", "all", str(int(counted.sum()))
    summed = counted if options.listed else np.ones(m.topics, np.bool_)
    yield from ((label, "all", str(int(column[summed].sum()))) for label, column in counts.items())
    for label, column in rates.items():
        total = sum(column[counted].tolist())  # one by one, as the tool does: another order changes the last digit
        yield label, "all", java(total / counted.sum() if counted.any() else 0.0)


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
    found: dict[str, NDArray[np.float64]] = {}
    if not options.listed:
        how: dict[str, Any] = {"score": SCORES[options.mode], "beta": options.beta, "irr": options.irr, "n": options.n}
        numrel = m.prepared.numrel
        average = average_generalised_precision(m, gain="documents", credit="document", form="average", **how)
        found["MAgP"] = _undefined(np.nan_to_num(average), numrel)
        for k in RANKS:
            found[f"gP[{k}]"] = np.nan_to_num(generalised_precision(m, at=k, **how))
            found[f"gR[{k}]"] = _undefined(ratio(relevant_upto(m, k), numrel), numrel)
        s = article_scores(m, **how)
        best = interpolate(s, recall_credit(m, "documents", "document")[s.row], numrel, steps=10)
        return found | {f"ircl_prn.{level / 10:.2f}": best[:, level] for level in range(11)}
    counts = sizes(m, options)
    for name, part, shown, whole in (
        ("art", "num_rel_ret", "num_ret", "num_rel"),
        ("char", "rel_ret_size", "ret_size", "rel_size"),
    ):
        precision, recall = ratio(counts[part], counts[shown]), ratio(counts[part], counts[whole])
        found |= {f"{name}_prec": precision, f"{name}_rec": recall, f"{name}_f1": harmonic(precision, recall)}
        found[f"{name}_rec"] = _undefined(recall, counts[whole])
    curve = interpolated_curve(m)[1]
    found |= {f"iP[{level / 100:.2f}]": curve[:, level] for level in (0, 1, 5, 10)}
    found["MAiP"] = average_interpolated_precision(m)
    return found | {f"ircl_prn.{level / 100:.2f}": curve[:, level] for level in range(101)}


def _undefined(rate: NDArray[np.float64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a rate as the tool divides: NaN where there is nothing to divide by."""
    return np.where(whole == 0, np.nan, rate)


def java(value: float) -> str:
    """Print a double as the tool's language does.

    >>> java(0.75), java(1.0), java(0.00025), java(float("nan"))
    ('0.75', '1.0', '2.5E-4', 'NaN')
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(text for p in range(18) if float(text := f"{value:.{p}e}") == value)
    digits, power = shortest.split("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(power)}"
