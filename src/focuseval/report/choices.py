"""What a reader can choose in the page: any pair of runs, any measure, and parts of the topics.

A page chooses, sorts and draws; it counts, tests and words nothing. So every number of every pair is here as
`focuseval.inference` says it, printed digits as whole numbers of ten-thousandths, and every sentence as a template of
`focuseval.inference.sentences`. Parts of the topics are those of a tag, and those whose answer is short or long, in one
piece or many, early or late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.inference.comparison import Comparison
from focuseval.inference.intervals import FEWEST, judge_slices
from focuseval.inference.paired import CANNOT_TELL
from focuseval.inference.paired_tests import NOISE, paired_differences
from focuseval.inference.sentences import TEMPLATES, listed, shown_p
from focuseval.report.evidence import Evidence
from focuseval.report.first_screen import UNDECIDED

Floats = NDArray[np.float64]

MOST_INTERVALS = 20_000  # of slices, all pairs and measures together, beyond those of A and B: at about 20 bytes each
MOST_TAGS = 12
MOST_ZEROS = 4_000  # sentences on topics that score 0, at about 90 bytes each

FIELDS = (
    "difference", "low", "high", "p", "corrected", "code", "won", "lost", "detectable", "needed", "fewest", "most",
    "gains", "gaining", "reason",
)  # fmt: skip
"""What stands in a pair's list, in this order; see `page_pairs`."""


def choices_of(evidence: Evidence) -> dict[str, Any]:
    """Return what can be chosen among the drawn runs: every run's values under every measure, and how pairs compare.

    ``values``: measures × runs × topics, None where a topic is not in the mean. ``means``: measures × runs, each with
    mean, low and high. ``standings``: measures × runs, the interval of the rank, and letters. ``compared``: for each
    measure the numbers of the topics that are compared, None where all of them are. ``noise``: values whose difference
    is at most this share of the pair's largest value differ by rounding alone. ``comparisons``: what `page_pairs`
    returns, None for a single run. ``undecided``: headline and reason where no topic is compared. ``cuts``: how much of
    a list each measure reads. ``zeros``: of every run, topic → why it scores 0 under the measure that decides; of many
    runs, only of A and B.

    ``slices``: parts of the topics: group, name, topics, and ``judged``: under every measure four numbers of every
    pair, one after the other, of A − B alone where there would be too many: low and high of the difference and the
    corrected p (see `page_pairs`), and 1, −1 or 0 where the first run is better, worse, or nothing can be told; None
    for a slice of fewer than ``fewest`` topics. ``slices_said``: which of them tell A and B apart under the measure
    that decides, in a sentence; ``slices_told``: whether any does; ``slices_note``: which are not judged for which
    pairs.
    """
    scores, drawn, (a, b) = evidence.scores, list(evidence.drawn), evidence.places
    values = scores.values[drawn].transpose(2, 0, 1)
    pairs = None
    compared: list[list[int] | None] = [None] * len(scores.measures)
    if b is not None:
        pairs = page_pairs(evidence.comparisons, drawn, evidence.other_comparisons)
        number = {topic: place for place, topic in enumerate(scores.topics)}
        for measure, found in enumerate(evidence.comparisons):
            if found is not None and len(found.topics) < len(scores.topics):
                compared[measure] = [number[topic] for topic in found.topics]
    slices, leads, note = _slices(evidence, values, compared)
    told = range(len(drawn)) if sum(len(seen.zeros) for seen in evidence.observed) <= MOST_ZEROS else (a, b)
    return {
        "runs": tuple(evidence.labels[run] for run in drawn),
        "measures": scores.measures,
        "decides": scores.deciding,
        "a": a,
        "b": b,
        "baseline": None if evidence.baseline is None else drawn.index(evidence.baseline),
        "topics": scores.topics,
        "titles": tuple(evidence.title(topic) for topic in scores.topics),
        "tags": tuple(scores.tags.get(topic, ()) for topic in scores.topics),
        "values": _plain(values),
        "means": _plain(evidence.intervals[:, drawn, :3]),
        "compared": tuple(compared),
        "noise": NOISE,
        "comparisons": pairs,
        "undecided": UNDECIDED,
        "cuts": tuple(asked.cut for asked in evidence.asked),
        "slices": slices,
        "slices_said": _slices_sentence(evidence, slices, leads),
        "slices_told": any(leads),
        "slices_note": note,
        "standings": tuple([found.standing(run) if found else "" for run in drawn] for found in evidence.comparisons),
        "zeros": tuple(dict(seen.zeros) if place in told else {} for place, seen in enumerate(evidence.observed)),
        "fewest": FEWEST,
    }


def page_pairs(
    comparisons: Sequence[Comparison | None], offered: Sequence[int], others: Sequence[Comparison | None] | None = None
) -> dict[str, Any]:
    """Return what a page needs to say how any two of the `offered` runs compare under any measure.

    `comparisons` are of the same runs, one for each measure, None where no topic has a value in every run; where they
    are with a baseline, `others` have the other pairs.

    ``templates``: the sentences. ``fields``: the names of what stands in a pair's list. ``reasons``: why no outcome
    could be significant. ``measures``: for each measure None, or ``topics`` (how many are compared), ``means`` (of the
    offered runs over these topics, as printed), ``methods`` (how the pairs were tested: those of the comparison, and of
    the others), ``pairs``: a list for each pair in the order 0–1, 0–2 … 1–2 …, None where it was not compared.

    In a pair's list, differences, their interval and what is detectable are whole numbers of ten-thousandths; so is a
    p, or a text where it is below 0.0001. ``corrected`` is None where it is printed as p is. ``code`` is 2 where the
    first run is better, 1 where its mean is higher and nothing can be told, 0 for equal means; −1 and −2 the other way
    round. ``gains`` is of the run with the higher mean; ``gaining`` has the places of their topics among those that are
    compared, of at most three. ``reason`` is a place in ``reasons``, or None.
    """
    reasons: dict[str, int] = {}
    measures: list[dict[str, Any] | None] = []
    for number, found in enumerate(comparisons):
        rest = None if others is None else others[number]
        if found is None:
            measures.append(None)
            continue
        pairs: list[list[Any] | None] = []
        places = {topic: place for place, topic in enumerate(found.topics)}
        for first, second in combinations(offered, 2):
            tested = found if found.baseline in (None, first, second) else rest
            if tested is None:
                pairs.append(None)
                continue
            pair = tested.against(first, second)
            lead = int(np.sign(pair.difference))
            p, corrected = (_ten_thousandths(shown_p(value, found.settings)) for value in (pair.p, pair.corrected))
            sizes = (pair.difference, pair.low, pair.high, pair.detectable)
            *interval, detectable = (None if size is None else _ten_thousandths(f"{size:.4f}") for size in sizes)
            reason = reasons.setdefault(pair.reason, len(reasons)) if pair.reason else None
            pairs.append(
                [
                    *interval, p, None if corrected == p else corrected,
                    lead if pair.word == CANNOT_TELL else 2 * lead, pair.won, pair.lost,
                    detectable, pair.needed, pair.fewest, pair.most, pair.gains,
                    [places[topic] for topic in pair.gaining], reason,
                ]
            )  # fmt: skip
        means = found.means
        measures.append(
            {
                "topics": len(found.topics),
                "means": [f"{means[run]:.4f}" for run in offered],
                "methods": [one.method for one in (found, rest) if one is not None],
                "pairs": pairs,
            }
        )
    needed = "needed clusters" if any(one and one.clusters for one in comparisons) else "needed"
    templates = TEMPLATES | {"needed": TEMPLATES[needed]}
    return {"templates": templates, "fields": FIELDS, "reasons": list(reasons), "measures": measures}


def _ten_thousandths(shown: str) -> int | str:
    """Return a number that is printed with four digits as a whole number, any other text as it is.

    >>> _ten_thousandths("-0.1250"), _ten_thousandths("2.5e-05")
    (-1250, '2.5e-05')
    """
    digits = shown.replace(".", "").replace("-", "", 1)
    return int(shown.replace(".", "")) if digits.isdigit() and shown[-5:-4] == "." else shown


def _plain(values: Floats) -> list[Any]:
    """Return an array as nested lists; None for NaN."""
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    found: list[Any] = plain.tolist()
    return found


def _slices(
    evidence: Evidence, values: Floats, compared: list[list[int] | None]
) -> tuple[tuple[dict[str, Any], ...], list[int], str]:
    """Return the slices, judged for all pairs under as many measures as allowed, the deciding one first.

    With them: under that measure 1 where A is better, −1 where B is, else 0; and which slices are not judged.
    """
    slices, (a, b) = slices_of(evidence), evidence.places
    leads = [0] * len(slices)
    if b is None or not slices:
        return slices, leads, ""
    every = list(combinations(range(values.shape[1]), 2))
    order = sorted(range(len(values)), key=lambda measure: measure != evidence.scores.deciding)
    whole = sorted(order[: max(1, MOST_INTERVALS // (len(every) * len(slices)))])
    for part in slices:
        part["judged"] = []
    for measure, (kept, rows) in enumerate(zip(compared, values, strict=True)):
        first, second = np.transpose(every if measure in whole else [(a, b)])
        differences = paired_differences(rows[first], rows[second])
        counted = set(range(values.shape[2]) if kept is None else kept)
        topics = [[topic for topic in part["topics"] if topic in counted] for part in slices]
        judged = judge_slices(differences, topics, evidence.settings.alpha, evidence.clustering.get("clusters"))
        for number, (part, found) in enumerate(zip(slices, judged, strict=True)):
            shown = None
            if found is not None:
                if measure == evidence.scores.deciding:
                    lead = int(found.lead[every.index((min(a, b), max(a, b)))])
                    leads[number] = lead if a < b else -lead
                printed = ([f"{x:.4f}" for x in end] for end in (found.low, found.high))
                columns = (*printed, [shown_p(p, evidence.settings) for p in found.corrected.tolist()])
                numbers = ([_ten_thousandths(one) for one in column] for column in columns)
                shown = [value for pair in zip(*numbers, found.lead.tolist(), strict=True) for value in pair]
            part["judged"].append(shown)
    if len(whole) == len(values):
        return slices, leads, ""
    runs = [evidence.labels[run] for run in evidence.drawn]
    note = (
        f"Slices of {len(runs):,} runs under {len(values):,} measures have too many intervals for a page. They are "
        f"there for every pair under {listed([evidence.scores.measures[m] for m in whole])}, and for {runs[a]} against "
        f"{runs[b]} under every measure."
    )
    return slices, leads, note


def _slices_sentence(evidence: Evidence, slices: Sequence[dict[str, Any]], leads: Sequence[int]) -> str:
    """Say in which slices A or B is better."""
    if evidence.pair is None:
        return f"means over {len(slices)} parts of the topics"
    said = []
    for sign, run in zip((1, -1), evidence.pair, strict=True):
        told = (part for part, lead in zip(slices, leads, strict=True) if lead == sign)
        names = [f"{part['group']}: {part['name']}" for part in told]
        many = f"{len(names)} of {len(slices)} parts of the topics"
        said += [f"{evidence.labels[run]} is better in {listed(names) if len(names) <= 3 else many}"] if names else []
    return "; ".join(said) or f"in none of {len(slices)} parts of the topics can A and B be told apart"


def slices_of(evidence: Evidence) -> tuple[dict[str, Any], ...]:
    """Return the slices that the gold allows: its tags, most frequent first, and buckets of its highlights.

    ``group``: what the topics were divided by; ``name``; ``topics``: numbers of the counted topics. A group that puts
    all topics into one slice says nothing and is left out.
    """
    tags: dict[str, list[int]] = {}
    for number, topic in enumerate(evidence.scores.topics):
        for tag in evidence.scores.tags.get(topic, ()):
            tags.setdefault(tag, []).append(number)
    parts = [("Tag", *part) for part in sorted(tags.items(), key=lambda item: -len(item[1]))[:MOST_TAGS]]
    parts += [(group, name, np.flatnonzero(here).tolist()) for group, name, here in _buckets(evidence) if here.any()]
    alone = {group for group, _, topics in parts if len(topics) == len(evidence.scores.topics)} - {"Tag"}
    return tuple({"group": g, "name": name, "topics": topics} for g, name, topics in parts if g not in alone)


def _buckets(evidence: Evidence) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield group, name and topics of the parts by length, number and position of what is highlighted."""
    prepared, spans = evidence.prepared, evidence.highlights
    if spans is None:
        return
    topics, topic = len(prepared.topics), prepared.topic[spans.group]
    pieces = np.bincount(topic, minlength=topics)
    if not (pieces > 0).any():
        return
    yield from _thirds("Answer length", prepared.trel_of_topic.astype(np.float64), pieces > 0)
    for here, name in ((pieces == 1, "1"), (pieces == 2, "2"), (pieces > 2, "3 or more")):
        yield "Spans", name, here
    length = prepared.length[spans.group].astype(np.float64)
    known = length > 0
    place = _mean((spans.start + spans.end)[known] / 2 / length[known], topic[known], topics)
    for low, high, name in ((0, 1 / 3, "first third"), (1 / 3, 2 / 3, "middle third"), (2 / 3, np.inf, "last third")):
        yield "Answer in its document", name, (place >= low) & (place < high)
    lengths = _mean(length[known], topic[known], topics)
    yield from _thirds("Document length", lengths, lengths > 0)


def _mean(values: Floats, topic: NDArray[np.integer], topics: int) -> Floats:
    """Return the mean of each topic's values, NaN where it has none."""
    number = np.bincount(topic, minlength=topics)
    total = np.bincount(topic, values, topics)
    mean = np.full(topics, np.nan)
    np.divide(total, number, out=mean, where=number > 0)
    return mean


def _thirds(group: str, values: Floats, counted: NDArray[np.bool_]) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Divide topics into three of about the same number, by characters; fewer where many values are equal."""
    cuts = np.unique(np.quantile(values[counted], [1 / 3, 2 / 3])) if counted.any() else np.zeros(0)
    code = np.searchsorted(cuts, values)
    for number in range(len(cuts) + 1):
        here = counted & (code == number)
        if here.any():
            low, high = values[here].min(), values[here].max()
            size = f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f}–{high:,.0f}"
            yield group, size, here
