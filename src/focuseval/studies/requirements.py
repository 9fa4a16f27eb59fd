"""What a measure takes into account: the table of requirements of Kazai and Lalmas (2005), filled by running it.

Size, near misses, overlap, linear output, degrees of relevance and normalisation are *observed* on a little collection
with known answers; what cannot be observed comes from the measure's declaration and is marked so. In the collection,
article ``d`` has a section that is highlighted from end to end (two paragraphs of 100 characters) and paragraphs of 20
and 2,000 characters without relevance; ``e`` a paragraph of 10 characters, highlighted whole, and one without; ``h``
has 50 highlighted characters of 100, ``q`` 50 of 200; ``n`` is not relevant.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa

from focuseval.collection.documents import in_memory
from focuseval.collection.index import Index
from focuseval.collection.parse import Raw, parse_documents
from focuseval.data.gold import UNKNOWN, Gold, GradedElements
from focuseval.data.run import Run
from focuseval.errors import FocusevalError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats.frames import gold_from_frame, run_from_frame
from focuseval.measures.assessed import ONE_SIDED
from focuseval.measures.measure import TRAITS, parse
from focuseval.studies.simulation import simulate

Score = Callable[[Run], float]

DOCUMENTS = {
    "d": f"<a><s><p>{'r' * 100}</p><p>{'r' * 100}</p></s><s><p>{'n' * 20}</p><p>{'n' * 2000}</p></s></a>",
    "e": f"<a><p>{'r' * 10}</p><p>{'n' * 300}</p></a>",
    "h": f"<a>{'r' * 50}{'n' * 50}</a>",
    "q": f"<a>{'r' * 50}{'n' * 150}</a>",
    "n": f"<a><p>{'n' * 20}</p><p>{'n' * 2000}</p></a>",
}
SECTION, ARTICLE = ("d", "/a[1]/s[1]"), ("d", "/a[1]")
PARAGRAPHS = (("d", "/a[1]/s[1]/p[1]"), ("d", "/a[1]/s[1]/p[2]"))
SHORT, HALF, QUARTER = ("e", "/a[1]/p[1]"), ("h", "/a[1]"), ("q", "/a[1]")
_HIGHLIGHTED = {"d": 200, "e": 10, "h": 50, "q": 50}  # of each relevant article, so many of its first characters
_GRADES = {
    SECTION: (3, 3), PARAGRAPHS[0]: (3, 3), PARAGRAPHS[1]: (3, 3), ARTICLE: (3, 1),
    SHORT: (1, 3), ("e", "/a[1]"): (1, 1), HALF: (2, 2), QUARTER: (2, 1),
}  # fmt: skip


@cache
def cases_index() -> Index:
    """Return the articles as an index in memory."""
    block, _ = parse_documents([Raw(name, f"{name}.xml", source.encode()) for name, source in DOCUMENTS.items()])
    return in_memory([block] if block is not None else [], "the constructed cases")


def run_of(*results: tuple[str, str]) -> Run:
    """Return a run for the one topic, results as (document, path)."""
    rows = [{"topic": "1", "doc": document, "path": path} for document, path in results]
    return replace(run_from_frame(rows), run_id="case", file="", task="thorough")


@cache
def cases_gold(*, grades: bool) -> Gold:
    """Return what is relevant: as highlights with entry points, or as grades of elements (with the same highlights)."""
    spans = [{"topic": "1", "doc": name, "start": 0, "end": end} for name, end in _HIGHLIGHTED.items()]
    gold = gold_from_frame([*spans, {"topic": "1", "doc": "n"}])
    entries = np.where(gold.articles.relevance > 0, 0, UNKNOWN)
    gold = replace(gold, articles=replace(gold.articles, bep=entries), file="the constructed cases")
    if not grades:
        return gold
    unknown = np.full(len(_GRADES), UNKNOWN, np.int64)
    elements = GradedElements(
        topic=np.zeros(len(_GRADES), np.int32),
        document=np.array([list(DOCUMENTS).index(name) for name, _ in _GRADES], np.int32),
        path=pa.array([path for _, path in _GRADES], pa.string()).dictionary_encode(),
        exhaustivity=np.array([e for e, _ in _GRADES.values()], np.int8),
        specificity=np.array([s for _, s in _GRADES.values()], np.int8),
        size=unknown, rsize=unknown,
    )  # fmt: skip
    return replace(gold, elements=elements, scale="grades")


_TINY = 1e-9


def element_size(score: Score) -> str:
    """Say yes if a wrong result costs by its length, indirectly if only the share of relevant text matters."""
    # a small and a large paragraph without relevance, in an article without and in one with relevance
    before = [score(run_of(("n", f"/a[1]/p[{n}]"), SECTION)) for n in (1, 2)]
    after = [score(run_of(SECTION, ("d", f"/a[1]/s[2]/p[{n}]"))) for n in (1, 2)]
    if any(abs(small - large) > _TINY for small, large in (before, after)):
        return "yes"
    half, quarter = score(run_of(HALF)), score(run_of(QUARTER))
    return "indirectly" if abs(half - quarter) > _TINY else "no"


def near_misses(score: Score) -> str:
    """Say yes if an element around the right one scores less than it (else ``as a hit``), but more than a wrong one."""
    first = (SECTION, ARTICLE, ("n", "/a[1]"))
    exact, near, wrong = (score(run_of(result, QUARTER, HALF)) for result in first)
    if near <= wrong + _TINY:
        return "no"
    return "yes" if near < exact - _TINY else "as a hit"


def overlap(score: Score) -> str:
    """Say yes, the requirement is met, if paragraphs of a section that was already returned add nothing."""
    alone = score(run_of(SECTION))
    repeated = score(run_of(SECTION, *PARAGRAPHS))
    return "no" if repeated > alone + _TINY else "yes"


def linear_output(score: Score) -> str:
    """Say yes if results are read from the top: a right one is worth less below a list of wrong ones than above it."""
    wrong = (("n", "/a[1]"),) * 1500
    return "yes" if score(run_of(SECTION, *wrong)) > score(run_of(*wrong, SECTION)) + _TINY else "no"


def degrees(score: Score) -> str:
    """Say yes if the same amount of relevant text scores higher where it is a larger share of its element."""
    if score(run_of(HALF)) > score(run_of(QUARTER)) + _TINY:
        return "yes"
    falling = (SHORT, HALF, QUARTER)
    return "yes" if score(run_of(*falling)) > score(run_of(*falling[::-1])) + _TINY else "no"


def normalisation(score: Score) -> str:
    """Say yes if some perfect run reaches exactly 1."""
    scores = [0.0]
    for kind in ("ideal", "full", "S-R", "S_L-R"):
        with suppress(FocusevalError):  # a run that the measure cannot read (passages for elements) is no candidate
            scores.append(score(simulate(cases_gold(grades=False), kind, cases_index())))
    return "yes" if abs(max(scores) - 1) <= _TINY else "no"


OBSERVED = {
    "element size": element_size, "near misses": near_misses, "overlap": overlap, "linear output": linear_output,
    "degrees of relevance": degrees, "normalisation": normalisation,
}  # fmt: skip
"""Requirements that running a measure answers; the declared ones are `focuseval.measures.measure.TRAITS`."""


@dataclass(frozen=True)
class Answer:
    """One cell of the table: the answer, and whether it was seen or only declared."""

    requirement: str
    answer: str
    observed: bool


def requirements(measure: str) -> tuple[Answer, ...]:
    """Return a measure's answers; one that cannot be run on the cases answers ``?`` with its reason."""
    asked = parse(measure)
    graded = asked.given.get("quant") in ("strict", "gen", "sog", *ONE_SIDED)  # all others look at highlights
    gold = cases_gold(grades="grades" in asked.needs or graded)

    def score(run: Run) -> float:
        return float(evaluate(gold, [run], [measure], task="thorough", index=cases_index()).mean[0, 0])

    answers = []
    for name, test in OBSERVED.items():
        try:
            answers.append(Answer(name, test(score), observed=True))
        except FocusevalError as why:
            answers.append(Answer(name, f"? ({why})", observed=True))
    return (*answers, *(Answer(t, "yes" if t in asked.measure.traits else "no", observed=False) for t in TRAITS))
