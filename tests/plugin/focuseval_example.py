"""A package of one's own: a measure, a format, a chunker and a retriever that focuseval finds once it is installed."""

from dataclasses import replace

import numpy as np

from focuseval import Measure
from focuseval.formats import Format
from focuseval.formats.frames import run_from_frame


def useful_share(m, at):
    """Return the share of the first `at` results that hold highlighted text."""
    useful = (m.rsize > 0) & (m.rank <= at)
    return np.bincount(m.topic, useful, m.topics) / at


USEFUL = Measure(
    "useful",
    useful_share,
    "Share of the first results that hold highlighted text.",
    "doe2026useful",
    needs=("spans",),
    at=("rank",),
    at_required=True,
    perfect=False,
    example="Two of the first five chunks hold highlighted text: useful@5 = 0.4.",
)


def read_tabs(source):
    """Read a run: a line for each result, best first, with topic, document, start and end, separated by tabs."""
    rows = []
    for line in source.data.decode().splitlines():
        topic, doc, start, end = line.split("\t")
        rows.append({"topic": topic, "doc": doc, "start": int(start), "end": int(end)})
    return replace(run_from_frame(rows), run_id=source.stem, file=source.name)


TABS = Format(
    "tabs",
    "run",
    "topic, document, start and end, separated by tabs",
    "focuseval_example",
    lambda head: head.split(b"\n")[0].count(b"\t") == 3,
    function="read_tabs",
)


class Paragraphs:
    """Cuts at empty lines; ``paragraphs:2`` puts two paragraphs into each chunk."""

    def __init__(self, how):
        self.together = int(how or 1)

    def split_text(self, text):
        parts = text.split("\n\n")
        return ["\n\n".join(parts[at : at + self.together]) for at in range(0, len(parts), self.together)]


def common_words(units, questions):
    """Rank units by how many words of the question they hold."""
    held = [set(text.lower().split()) for text in units.texts()]
    scores = {topic: [len(own & set(query.lower().split())) for own in held] for topic, query in questions.items()}
    return units.run(scores)
