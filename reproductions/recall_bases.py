"""Tables 1 and 2 of the INEX 2006 measures paper: which recall bases order systems alike.

The paper correlates (Kendall's τ) the order of the campaign's systems under two recall bases. Neither its runs nor its
assessments are at hand, so the systems and judgements of `reproductions.plos_gold` take their place: what can be
compared are the conclusions, not the digits. The paper calls orders with τ above .9 equivalent, and those below .8
noticeably different.

What was tried before: with whole paragraphs highlighted, instead of sentences, almost nothing changes the order (τ from
.99 to 1 for nxCG in both tables). For table 2 the base was read in two ways, and both are shown; without links left
out, the first gives τ of .94, .92, .92 and .92.
"""

from collections.abc import Iterator

import numpy as np

import focuseval as fe
from focuseval.data.tables import Table, words
from focuseval.inference.correlation import correlate
from reproductions.plos_gold import gold, index, systems
from reproductions.published import compared, verdict

SOURCE = "Lalmas et al. (2007), INEX 2006 evaluation measures, table {}"
LINKS = ("xref", "ext-link")
"""The link types of these articles."""
RANKS = (5, 10, 25, 50)
FILTERED = {"nxCG@5": 0.9292135, "nxCG@10": 0.933427, "nxCG@25": 0.8989332, "nxCG@50": 0.8748597, "MAep": 0.9484281}
IDEAL = {"nxCG@5": 0.8185393, "nxCG@10": 0.8025281, "nxCG@25": 0.844944, "nxCG@50": 0.8420758}


def tau(one: np.ndarray, other: np.ndarray) -> float:
    """Return Kendall's τ between two rows of means of the same systems."""
    return float(correlate(np.stack([one, other]))[0, 1])


def said(value: float) -> str:
    """Return the paper's words for a correlation.

    >>> said(0.91), said(0.83), said(0.5)
    ('equivalent', 'small differences', 'noticeable differences')
    """
    if value > 0.9:
        return "equivalent"
    return "small differences" if value >= 0.8 else "noticeable differences"


def scored(task: str, measures: list[str], **policies: object) -> fe.Scores:
    """Return the scores of all systems for a task."""
    return fe.evaluate(gold(), list(systems(task)), measures, task=task, index=index(), **policies)


def filtered() -> Iterator[tuple[str, ...]]:
    """Yield, for every measure of table 1, τ between the full base and the one without links."""
    for task, names in (("focused", [f"nxCG@{rank}" for rank in RANKS]), ("thorough", ["MAep"])):
        full, without = scored(task, names), scored(task, names, drop_tags=LINKS)
        for column, name in enumerate(names):
            ours, published = tau(full.mean[:, column], without.mean[:, column]), FILTERED[name]
            yield f"{name}, {task}", f"{published:.3f}", said(published), f"{ours:.3f}", said(ours)


def ideal() -> Iterator[tuple[str, ...]]:
    """Yield, for every measure of table 2, τ between gains against the ideal base and against the full one."""
    names = [f"{name}@{rank}" for name in ("nxCG", "nxCG(ideal=all)", "nxCG(ideal=full)") for rank in RANKS]
    scores = scored("focused", names, drop_tags=LINKS)
    against_ideal, any_relevant, list_only = np.split(scores.mean, 3, axis=1)
    for column, rank in enumerate(RANKS):
        usual, published = against_ideal[:, column], IDEAL[f"nxCG@{rank}"]
        ours, other = tau(usual, any_relevant[:, column]), tau(usual, list_only[:, column])
        yield f"nxCG@{rank}", f"{published:.3f}", said(published), f"{ours:.3f}", said(ours), f"{other:.3f}"


def conclusion(first: list[tuple[str, ...]], second: list[tuple[str, ...]]) -> Table:
    """Return the mean τ of nxCG in both tables, and which choice changes the order more."""
    rows = []
    for who, column in (("published", 1), ("ours", 3)):
        links, base = (np.mean([float(row[column]) for row in rows]) for rows in (first[: len(RANKS)], second))
        rows.append((who, f"{links:.3f}", f"{base:.3f}", "the ideal base" if base < links else "the links"))
    same = verdict(rows[0][-1], rows[1][-1])
    body = [(*row, mark) for row, mark in zip(rows, ("", same), strict=True)]
    heads = ("", "τ with and without links", "τ ideal and full base", "what changes the order more", "verdict")
    return Table("Both tables: the mean τ of nxCG", words(*heads), tuple(body))


def tables() -> list[Table]:
    """Return both tables and what follows from them."""
    other = "other systems and judgements"
    first = [(*row, verdict(row[2], row[4], other)) for row in filtered()]
    second = [(*row, verdict(row[2], row[4], other)) for row in ideal()]
    who = (
        f"Ours: {len(systems('focused'))} BM25 systems, {len(gold().topics)} topics, {len(index())} PLOS articles; "
        f"links are {' and '.join(LINKS)}. The verdict compares the words for τ (above .9, below .8), not the digits."
    )
    note = (
        "Ours: nxCG(ideal=all), where a result gains what it is worth in the full base, whether ideal or not. The last "
        "τ is that of nxCG(ideal=full), which changes the list that gains are divided by, and not what a result gains."
    )
    heads = ("measure", "τ published", "that is", "τ ours", "that is")
    return [
        compared(f"{SOURCE.format(1)}: full and filtered base", (*heads, "verdict"), first, (who,)),
        compared(f"{SOURCE.format(2)}: ideal and full base", (*heads, "list only", "verdict"), second, (note,)),
        conclusion(first, second),
    ]
