"""The same sentences from what a page embeds of every pair as from Python."""

import json
from itertools import permutations

import numpy as np
import pytest

from focuseval.inference.comparison import compare_all
from focuseval.inference.paired import wins_sentence
from focuseval.inference.sentences import equals_p, listed, signed
from focuseval.inference.settings import Settings
from focuseval.report.choices import FIELDS, page_pairs


def said_by_page(data, measure, pair_of, runs, measures):
    """What a page says of two runs, composed from nothing but the embedded data."""
    part, (a, b) = data["measures"][measure], pair_of
    first, second = min(a, b), max(a, b)
    place = first * len(runs) - first * (first + 1) // 2 + second - first - 1
    pair = dict(zip(data["fields"], part["pairs"][place], strict=True))
    if a > b:
        pair["difference"], pair["code"] = -pair["difference"], -pair["code"]
        pair["low"], pair["high"] = -pair["high"], -pair["low"]
        pair["won"], pair["lost"] = pair["lost"], pair["won"]

    def filled(name, **values):
        text = data["templates"][name]
        text = text if isinstance(text, str) else text[values["n"] != 1]
        return text.format(**{key: f"{v:,}" if isinstance(v, int) else v for key, v in values.items()})

    def p(value):
        return value if isinstance(value, str) else f"{value / 10000:.4f}"

    topics, tied = filled("topics", n=part["topics"]), part["topics"] - pair["won"] - pair["lost"]
    sizes = {name: signed(pair[name] / 10000) for name in ("difference", "low", "high")}
    corrected = "" if pair["corrected"] is None else filled("corrected", p=p(pair["corrected"]))
    reason = "" if pair["reason"] is None else filled("reason", reason=data["reasons"][pair["reason"]])
    numbers = filled("numbers", **sizes, p=equals_p(p(pair["p"])), corrected=corrected, reason=reason)
    span = filled("to", fewest=pair["fewest"], most="–" if pair["most"] is None else pair["most"])
    needed = filled("never") if pair["needed"] is None else filled("needed", n=pair["needed"], span=span)
    shown = "" if pair["needed"] is None else filled("no power", needed=needed)
    if part["topics"] == 1:
        shown = filled("one topic")
    elif pair["detectable"] is not None:
        shown = filled("power", detectable=f"{pair['detectable'] / 10000:.4f}", needed=needed)
    test = filled("test", method=part["methods"][0])
    means = {"mean_a": part["means"][a], "mean_b": part["means"][b]}
    whole = filled("means", measure=measures[measure], **means, topics=topics, numbers=numbers, power=shown, test=test,
                   tied=filled("tied", n=tied) if tied else "")  # fmt: skip
    name = "same" if not pair["won"] + pair["lost"] else {2: "better", -2: "worse"}.get(pair["code"], "cannot tell")
    sides = [(side, n) for side, n in (("A", pair["won"]), ("B", pair["lost"]), ("neither", tied)) if n]
    counts = [filled("side" if i else "first side", side=side, n=n) for i, (side, n) in enumerate(sides)]
    wins = filled("wins", counts=listed(counts), topics=topics).replace("neither is", "Neither is")
    if pair["code"] == 0:
        wins += " " + filled("level")
    elif pair["gains"]:
        names = listed([str(place) for place in pair["gaining"]]) if pair["gaining"] else ""
        sides = {"n": pair["gains"], "side": "A" if pair["code"] > 0 else "B"}
        wins += " " + filled("gains" if names else "many gains", names=names, **sides)
    name = "even" if name == "cannot tell" and not pair["code"] else name
    first, second = (b, a) if name == "cannot tell" and pair["code"] < 0 else (a, b)
    return filled(name, a=runs[first], b=runs[second]), whole, wins


@pytest.mark.parametrize("settings", [Settings(), Settings("bootstrap", tails=1, resamples=500), Settings("t")])
@pytest.mark.parametrize("topics", [1, 4, 10, 40])
def test_a_page_can_say_of_any_pair_and_measure_what_python_says(settings, topics):
    rng = np.random.default_rng(topics)
    values = np.round(rng.random((3, 4, topics)), 2)
    values[1, 3] = values[1, 2]
    values[2] += np.array([[0.9], [0.5], [0.001], [0.0]])
    measures, runs = ("AP", "RR", "P"), ("one", "two", "three", "four")
    found = compare_all(measures, runs, tuple(map(str, range(topics))), values, settings)
    data = json.loads(json.dumps(page_pairs(found, range(4))))
    assert tuple(data["fields"]) == FIELDS
    for measure, comparison in enumerate(found):
        for a, b in permutations(range(4), 2):
            verdict, pair = comparison.verdict_of(a, b), comparison.against(a, b)
            headline, reason, wins = said_by_page(data, measure, (a, b), runs, measures)
            assert (headline, reason) == (verdict.headline, verdict.reason)
            assert wins == wins_sentence(pair)


def test_a_page_offers_pairs_outside_of_a_baselines_family_from_other_comparisons():
    values = np.random.default_rng(3).random((1, 3, 9))
    topics = tuple(map(str, range(9)))
    held, every = (compare_all(("AP",), tuple("abc"), topics, values, baseline=base) for base in (0, None))
    alone = page_pairs(held, [0, 1, 2])["measures"][0]
    assert [pair is None for pair in alone["pairs"]] == [False, False, True]
    both = page_pairs(held, [0, 1, 2], every)["measures"][0]
    assert both["methods"] == [held[0].method, every[0].method]
    assert both["pairs"][:2] == alone["pairs"][:2]
    assert both["pairs"][2] == page_pairs(every, [0, 1, 2])["measures"][0]["pairs"][2]
    assert page_pairs([None], [0, 1])["measures"] == [None]
