"""Whole campaigns made by chance: documents, a gold of highlights, and runs of known quality."""

import random

from building import gold_of, run_of

WORDS = (
    "sea",
    "tide",
    "moon",
    "chart",
    "lamp",
    "fog",
    "bell",
    "pilot",
    "rock",
    "buoy",
    "log",
    "star",
    "wind",
    "sail",
    "rope",
)


def campaign(*, topics=4, runs=2, documents=30, length=1500, depth=10, seed=7):
    """Return gold, runs and texts; the first run is the best, the last one the worst."""
    chance = random.Random(seed)
    texts = {f"d{n:04}": _text(chance, length) for n in range(documents)}
    judged = {f"{401 + t}": _judgements(chance, texts) for t in range(topics)}
    made = [
        run_of(
            {topic: _results(chance, texts, judged[topic], depth, 0.9 - 0.7 * n / runs) for topic in judged},
            f"run-{n:02}",
        )
        for n in range(runs)
    ]
    return gold_of(judged), made, texts


def _text(chance, length):
    sentences, size = [], 0
    while size < length:
        sentence = " ".join(chance.choices(WORDS, k=chance.randrange(6, 14))).capitalize() + "."
        sentences.append(sentence + ("\n\n" if chance.random() < 0.2 else " "))
        size += len(sentences[-1])
    return "".join(sentences)[:length]


def _judgements(chance, texts):
    judged = {}
    for name in chance.sample(sorted(texts), 6):
        length = len(texts[name])
        start = chance.randrange(length // 2)
        end = start + chance.randrange(50, length // 2)
        relevant = len(judged) < 4
        judged[name] = {"length": length, "spans": [(start, end)] if relevant else [], "bep": start if relevant else -1}
    return judged


def _results(chance, texts, judged, depth, quality):
    """Articles in order of luck; where quality wins, a relevant article with a span near the highlighted one."""
    relevant = [name for name in judged if judged[name]["spans"]]
    others = [name for name in chance.sample(sorted(texts), min(len(texts), depth)) if name not in relevant]
    names = [name for name in relevant if chance.random() < quality] + others
    names.sort(key=lambda name: chance.random() - (quality if name in relevant else 0))
    return [(name, *_span(chance, len(texts[name]), judged.get(name))) for name in names[:depth]]


def _span(chance, length, judged):
    if judged and judged["spans"]:
        start, end = judged["spans"][0]
        return max(0, start - chance.randrange(80)), min(length, end + chance.randrange(-40, 80))
    start = chance.randrange(length - 100)
    return start, start + 100
