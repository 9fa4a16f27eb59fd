"""Judgements over the PLOS articles, made by a rule, and the runs of retrieval systems over them.

No assessor has read these articles. A paragraph that holds a word at least twice is highlighted for it, from the
sentence of its first occurrence to the end of the sentence of its last one, as a reader would mark it.
What is studied is how measures and recall bases order systems, and for that the rule gives what it has to: passages of
real XML articles with their links, italics and formulas, and topics that differ in size. The systems are BM25 over
elements with different parameters, each on its own a plausible entry of a campaign.
"""

import re
from functools import cache
from itertools import product

import focuseval as fe
from focuseval.formats.frames import gold_from_frame
from focuseval.placing import place_gold
from reproductions.data import folder

WORDS = (
    "accuracy", "algorithm", "assembly", "binding", "children", "clustering", "correlation", "entropy", "genomes",
    "glucose", "infected", "likelihood", "malaria", "mortality", "mutations", "network", "neurons", "participants",
    "populations", "sequences", "species", "specimens", "survival", "temperature", "transition",
)  # fmt: skip
"""Subjects that 5 to 20 of the 121 articles write about."""
LEAST = (1, 5, 10, 25, 50, 100)
"""Words that an element has to hold to be returned."""
LENGTH = (0.1, 0.5, 0.9)
"""How much BM25 lowers long elements (b)."""
MIXED = (0.0, 0.5)
"""Share of the article's score."""


@cache
def index() -> fe.Index:
    """Return the articles."""
    return fe.open_documents(folder("plos"))


@cache
def gold() -> fe.Gold:
    """Return a topic for every word."""
    spans = []
    for row, name in enumerate(index().ids.to_pylist()):
        text, elements = index().text(row).lower(), index().elements(row)
        for tag, start, end in zip(elements.tags, elements.start.tolist(), elements.end.tolist(), strict=True):
            found = highlights(text[start:end]) if tag == "p" else {}
            spans += [{"topic": w, "doc": name, "start": start + a, "end": start + b} for w, (a, b) in found.items()]
    return place_gold(gold_from_frame(sorted(spans, key=lambda span: str(span["topic"]))), index())


def highlights(paragraph: str) -> dict[str, tuple[int, int]]:
    """Return what is highlighted in a paragraph for each word that it holds at least twice.

    >>> highlights("first. malaria is old. so is malaria today. last.")
    {'malaria': (7, 43)}
    """
    found: dict[str, list[int]] = {}
    for word in re.finditer(r"[a-z]+", paragraph):
        if word[0] in WORDS:
            found.setdefault(word[0], []).append(word.start())
    ends = [stop.end() for stop in re.finditer(r"[.?!](?=\s)", paragraph)]
    return {word: _sentences(paragraph, ends, places) for word, places in found.items() if len(places) > 1}


def _sentences(paragraph: str, ends: list[int], places: list[int]) -> tuple[int, int]:
    before = max((end for end in ends if end <= places[0]), default=0)
    after = min((end for end in ends if end > places[-1]), default=len(paragraph))
    return before + len(paragraph[before:]) - len(paragraph[before:].lstrip()), after


@cache
def systems(task: str) -> tuple[fe.Run, ...]:
    """Return the runs of 36 systems for a task."""
    queries = {word: word for word in WORDS}
    return tuple(
        fe.retrieve(
            index(), queries, task=task, min_words=least, b=b, mix=mix, limit=500, run_id=f"w{least}-b{b}-m{mix}"
        )
        for least, b, mix in product(LEAST, LENGTH, MIXED)
    )
