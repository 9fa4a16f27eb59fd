"""The words of every verdict, as templates that Python and the report's page fill with the same numbers.

A template is a text with names in braces; where its words depend on a number ``n`` it is a list of the singular and the
plural. The page embeds `TEMPLATES` and fills them as `fill` does: counts with commas, everything else as it is given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from focuseval.data.tables import ABSENT
from focuseval.inference.paired_tests import paired_differences
from focuseval.inference.settings import Settings


def both(text: str) -> list[str]:
    """Return the singular and the plural of a template in which they stand as ``[one|many]``.

    >>> both("{n} topic[|s] [was|were] judged")
    ['{n} topic was judged', '{n} topics were judged']
    """
    return [re.sub(r"\[(.*?)\|(.*?)\]", rf"\{form}", text) for form in (1, 2)]


TEMPLATES: dict[str, str | list[str]] = {
    "topics": both("{n} topic[|s]"),
    # two runs: A and B
    "better": "{a} is better than {b}.",
    "worse": "{a} is worse than {b}.",
    "cannot tell": "{a} scores higher than {b}, but this may be chance.",
    "even": "{a} and {b} have the same mean.",
    "same": "{a} and {b} score the same on every topic.",
    "means": "{measure} {mean_a} against {mean_b} over {topics}{tied}: {numbers}.{power} {test}",
    "tied": " ({n} tied)",
    "numbers": "{difference} [{low}, {high}], p {p}{corrected}{reason}",
    "corrected": " (corrected {p})",
    "reason": "; cannot tell: {reason}",
    "test": "The test decides: {method}. The interval is of this difference alone.",
    "power": " These topics would show a difference of {detectable} with probability .8; {needed}.",
    "no power": " These topics would not show even the largest possible difference with probability .8; {needed}.",
    "needed": both("to show this one takes about {n} topic[|s]{span}"),
    "needed clusters": both("to show this one takes about {n} cluster[|s]{span}"),
    "to": " ({fewest} to {most})",
    "never": "no number of topics would show this one",
    "one topic": " One topic says nothing about others.",
    "wins": "{counts} of {topics}.",  # of the sides that are better on some topic, or neither
    "first side": "{side} is better on {n}",
    "side": "{side} on {n}",
    "gains": both("Leave out topic[|s] {names}, and the lead of {side} is gone."),
    "many gains": "Leave out the {n} largest gains of {side}, and its lead is gone.",
    "level": "Gains and losses are equal.",
    "other order": "Under {measures} the order is the other way round.",
    "other leader": "Under {measures} another run leads.",
    "more measures": "{n} more of the {all} other measures",
    # one run, and many
    "alone": "{run}: {measure} is {mean} over {topics}.",
    "all the same": "All {n} {runs} score the same on every topic.",
    "best": "{best} is the best of {n} {runs}.",
    "leads": "{best} scores highest, but this may be chance: {names} may be as good.",
    "leads alone": "{best} scores highest, but this may be chance: the other {n} {runs} may be as good.",
    "share": "{names} share the highest mean.",
    "too many": (
        "All pairs of {runs} runs are too many to test: only {these} are compared with each other{tested}. "
        "Nothing corrects p for the choice of them. {advice}"
    ),
    "ahead": "{measure}: {mean}, ahead of {next} by {numbers}.{power}",
    "each": "{measure}: {mean} each over {topics}.",
    "better than": "{subject} better than {names}.",
    # many runs and a baseline
    "better than baseline": "{a} is better than the baseline {b}.",
    "worse than baseline": "Every run is worse than the baseline {b}.",
    "baseline holds": "No run is better than the baseline {b}.",
    "nearest": "The best one, {a}, differs by {numbers} in {measure}.{power} Of {runs} {counts}.",
    # what to use of many, and what two factors do
    "use best": both("Use {run}: the [other one is|{n} others are] worse."),
    "at a cost": " It stores {times} times the {what} of {next}, the next best.",
    "use leader": "Use {run}: it has the highest mean, and nothing that may be as good costs clearly less.",
    "use any": "Use {run}: all score the same on every topic, and none costs clearly less.",
    "use safer": "Use {run}: it has the highest mean, and what costs clearly less may well be worse (p {p} by itself).",
    "use cheaper": "Use {run}: no measurable loss{against}{seen}, {cost}.",
    "use for now": "Use {run} for now: too few topics to measure a loss{against}{seen}, {cost}.",
    "factor": "By {factor} alone, over every {other}: {headline}",
    "interaction": "{a} and {b} depend on each other: which {a} is better changes with the {b} (p {p}).",
    "no interaction": "Nothing shows that {a} and {b} depend on each other (p {p}).",
    # people's sample and a model
    "judged": both("{n} of {all} topics [was|were] judged by people."),
    "few judged": both("{n} topic[|s] by people [is|are] too few for an interval: {fewest} are needed."),
    "worth": both("{run}: as good as {n} topic[|s] judged by people alone."),
    "unsure": (
        "With fewer than {unsure} topics by people, 95 % intervals held the truth in 91 to 99 of 100 simulated samples."
    ),
    "own weight": "A difference has a weight of its own, so it is not the difference of the two estimates.",
    "left topics": both("{n} topic[|s] that people judged [is|are] not in the model's gold and [is|are] left out"),
    "not random": (
        "the intervals hold only if people's topics are a random sample of all: say so with random=True, or draw one "
        "with 'focuseval project sample'"
    ),
    "assisted": "people saw a model's suggestions before they judged: the estimate may lean towards the model",
    "enough": "No more topics are needed.",
    "observed": "the size observed",
    "about": both("About {n} more topic[|s] by people would show a difference of {size} with probability .8."),
    "about to": (
        "About {fewest} to {n} more topics by people would show a difference of {size} with probability .8, judged by "
        "the topics so far."
    ),
    "maybe enough": (
        "It takes about {n} more by people, or more than all {all} topics, to show a difference of {size} with "
        "probability .8, judged by the topics so far."
    ),
    "not enough": "Not even all {all} topics judged by people would show a difference of {size} with probability .8.",
    "flips": both("{n} of {all} pairs of runs [changes its|change their] order"),
}


def fill(name: str, **values: Any) -> str:
    """Return a template with its names filled in; the number ``n`` decides between singular and plural.

    >>> fill("topics", n=1), fill("topics", n=1200)
    ('1 topic', '1,200 topics')
    """
    template = TEMPLATES[name]
    text = template if isinstance(template, str) else template[values["n"] != 1]
    return text.format_map({key: f"{v:,}" if isinstance(v, int) else v for key, v in values.items()})


def advice(
    run: str, best: str, others: int, cost: tuple[float, str], *, alone: bool, measurable: bool, same: bool = False,
    seen: str = "",
) -> str:  # fmt: skip
    """Say what to use: the best, or what cannot be told apart from it and costs less.

    `cost` is the share of what `best` stores, and of what; `alone` says that all `others` are worse, and `best` is then
    the next best; `measurable` says that a loss could have been seen, `same` that all score the same; `seen` is the
    difference that was seen.

    >>> advice("sentences:5", "words:50", 3, (0.4, "chunks"), alone=False, measurable=True)
    'Use sentences:5: no measurable loss against words:50, under half the chunks.'
    >>> advice("sentences:5", "words:50", 1, (0.8, "chunks"), alone=False, measurable=True, seen=" (-0.0120, p 0.41)")
    'Use sentences:5: no measurable loss (-0.0120, p 0.41), 80% of the chunks.'
    >>> advice("sentences:1", "words:50", 1, (2.6, "chunks"), alone=True, measurable=True)
    'Use sentences:1: the other one is worse. It stores 2.6 times the chunks of words:50, the next best.'
    """
    share, what = cost
    if alone:
        more = fill("at a cost", times=f"{share:.1f}", what=what, next=best) if share > 1 else ""
        return fill("use best", run=run, n=others) + more
    if run == best:
        return fill("use any" if same else "use leader", run=run)
    amount = f"under half the {what}" if share < 0.5 else f"{share:.0%} of the {what}"
    against = "" if others == 1 else f" against {best}"
    return fill("use cheaper" if measurable else "use for now", run=run, against=against, seen=seen, cost=amount)


def listed(parts: Sequence[str]) -> str:
    """Put names into a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def named(names: Sequence[str]) -> str:
    """Name two or three; of more, two and how many others there are.

    >>> named(list("abcde"))
    'a, b and 3 more'
    """
    return listed(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2:,} more"])


def signed(value: float) -> str:
    """Print a difference with its sign, a minus as long as a plus; what rounds to nothing has a plus.

    >>> signed(-0.25), signed(-0.00001)
    ('−0.2500', '+0.0000')
    """
    shown = f"{value:+.4f}".replace("-", "−")
    return "+0.0000" if shown == "−0.0000" else shown


def change(before: float | None, after: float | None) -> str:
    """Return by how much a mean changed, with its sign; empty where it did not, or where one of the two is unknown.

    >>> change(0.5, 0.75), change(0.3, 0.1 + 0.2), change(None, 0.5)
    ('+0.2500', '', '')
    """
    if before is None or after is None:
        return ""
    difference = float(paired_differences(np.array([[after]]), np.array([[before]]))[0, 0])
    return signed(difference) if difference else ""


def changed_basis(file: str, parts: Sequence[str]) -> str:
    """Say that scores from a file on were computed from something else.

    >>> changed_basis("v2", ["gold", "policies"])
    'v2: the gold and the policies changed here, so values before it are not comparable.'
    """
    what = listed([f"the {part}" for part in parts])
    return f"{file}: {what} changed here, so values before it are not comparable."


def shown_p(value: float, settings: Settings) -> str:
    """Print a p-value; a bootstrap that never met a contrary draw knows no more than 1 / resamples."""
    if value == 0 and settings.test == "bootstrap":
        return f"<{1 / settings.resamples:.2g}"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def equals_p(shown: str) -> str:
    """Return a printed p with the sign of a comparison before it.

    >>> equals_p("0.0312"), equals_p("<0.001")
    ('= 0.0312', '< 0.001')
    """
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def shown_topics(number: float, fewest: float, most: float) -> str:
    """Print a number of topics that are needed, from fewest to most; none would be enough where nothing differs.

    >>> shown_topics(1234.0, 900.0, 1900.0), shown_topics(8.0, 6.0, float("inf")), shown_topics(*[float("inf")] * 3)
    ('1,234 (900 to 1,900)', '8 (6 to –)', '–')
    """
    shown, *ends = (f"{int(value):,}" if np.isfinite(value) else ABSENT for value in (number, fewest, most))
    return shown if shown == ABSENT else f"{shown} ({' to '.join(ends)})"
