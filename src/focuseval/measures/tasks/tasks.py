"""The tasks of INEX and of RAG, and the rules that a run can break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from focuseval.errors import UsageError, did_you_mean

Level: TypeAlias = Literal["error", "warning", "change"]
"""An error makes a run invalid: it is not scored. A warning is scored by a rule that the measures have for it. A change
is what a repair did."""

MOST_RESULTS = 1500
"""INEX's limit for one topic."""


@dataclass(frozen=True)
class Task:
    """One task: its name and what it forbids."""

    name: str
    summary: str
    limit: int | None = MOST_RESULTS
    """Most results of a topic, or None."""
    cut: bool = False
    """Whether lists are cut at the limit before they are scored: results beyond it break no other rule."""
    overlap: bool = True
    """Whether two results of a topic may share text."""
    grouped: bool = False
    """Whether the results of an article must stand together; their scores then need not fall."""
    one_per_article: bool = False
    aliases: tuple[str, ...] = ()


TASKS: tuple[Task, ...] = (
    Task("thorough", "All relevant elements, ranked; nested elements allowed.", aliases=("co", "cas", "adhoc")),
    Task("focused", "The most focused results, ranked; no two overlap.", overlap=False, aliases=("focussed",)),
    Task(
        "relevant-in-context",
        "Articles, ranked; within each a set of results without overlap.",
        overlap=False,
        grouped=True,
        aliases=("ric", "allincontext"),
    ),
    Task("best-in-context", "Articles, ranked; one entry point in each.", one_per_article=True, aliases=("bic",)),
    Task("fetch-browse", "Articles, ranked; within each its results.", grouped=True, aliases=("fetchandbrowse",)),
    Task("spans", "Spans of text, ranked, as a retriever for RAG returns them.", limit=None, aliases=("rag",)),
)
"""Every task, in the order of the documentation."""


def find_task(name: str) -> Task:
    """Return a task by its name, in any of the ways in which run files write it.

    >>> find_task("COS.Focussed ").name, find_task("RelevantInContext").name
    ('focused', 'relevant-in-context')
    """
    key = "".join(letter for letter in name.rpartition(".")[2].lower() if letter.isalnum())
    for task in TASKS:
        if key in {task.name.replace("-", ""), *task.aliases}:
            return task
    known = [task.name for task in TASKS]
    raise UsageError(
        f"expected a task ({', '.join(known)}), found {name!r}; {did_you_mean(name, known, 'name one of these')}"
    )


@dataclass(frozen=True)
class Rule:
    """One rule; `focuseval.measures.tasks.findings` fills in the fields of `what` and `repaired`."""

    name: str
    what: str
    remedy: str
    repaired: str = ""
    """What a repair does about it; empty where nothing is done."""
    level: Level = "warning"
    """How grave it is, where the task or the result does not decide."""


UNKNOWN_DOCUMENT = Rule(
    "unknown-document",
    "expected a document of the collection, found {document}",
    "leave it out",
    "dropped: {document} is unknown",
)
UNKNOWN_PATH = Rule(
    "unknown-path",
    "expected an element of {document}, found {place}",
    "leave it out",
    "dropped: {place} is not in {document}",
)
UNPLACED = Rule(
    "unplaced-text",
    "expected a text of {document}, found one that is nowhere in it, or in several places",
    "correct the text, or number the chunks",
    "dropped: its text has no one place in {document}",
)
BAD_SPAN = Rule(
    "bad-span",
    "expected a span inside {document}, found {place}",
    "correct the offsets",
    "dropped: {place} is no span of {document}",
    level="error",
)
BAD_SCORE = Rule(
    "bad-score",
    "expected a finite score, found {score}",
    "write a number",
    "score {score} replaced by its neighbour's",
    level="error",
)
REPEATED_KEY = Rule(
    "repeated-key",
    "expected each JSON key once, found a key again on the line; of {document} only the last value was read",
    "remove one of the two",
    "read with the last value of a key that the line repeats",
)
SPLIT_TOPIC = Rule(
    "split-topic",
    "expected the results of a topic together, found topic {topic} again after another one ({count} topics so split)",
    "sort the file by topic",
    "the results of topic {topic} joined",
)
RANK_REPEATS = Rule(
    "rank-repeats", "expected each rank once, found rank {rank} again (first on line {other})", "renumber"
)
RANK_JUMPS = Rule("rank-jumps", "expected consecutive ranks, found rank {rank} after a gap", "renumber")
SCORE_ORDER = Rule(
    "score-order",
    "expected scores that fall with the rank, found {score} above the score on line {other}",
    "sort by score, or correct the scores",
    "score {score} lowered to the score before it",
)
DUPLICATE = Rule(
    "duplicate",
    "expected each result once, found {document} {place} again (first on line {other})",
    "leave it out",
    "dropped: {document} {place} is on line {other} already",
)
TOO_MANY = Rule(
    "too-many", "expected at most {limit} results, found one more", "cut the list", "dropped: beyond {limit} results"
)
INTERLEAVED = Rule(
    "interleaved",
    "expected the results of {document} together (first on line {other}), found another article between",
    "group results by article",
    "moved up to the other results of {document}",
)
SECOND_RESULT = Rule(
    "second-result",
    "expected one result for an article, found {document} again (first on line {other})",
    "keep the best one",
    "dropped: {document} has a result on line {other}",
    level="error",
)
OVERLAP = Rule(
    "overlap",
    "expected no overlap, found {document} {place} overlapping the result on line {other}",
    "keep the higher-ranked one",
    "dropped: {document} {place} overlaps the result on line {other}",
    level="error",
)
UNCHECKED = Rule(
    "unchecked",
    "expected an index to tell where {document} {place} lies, found none: its overlap is not checked",
    "give --index",
)
RENUMBERED = Rule("renumbered", "rank {rank}", "", "rank {rank} renumbered")

RULES: tuple[Rule, ...] = (
    UNKNOWN_DOCUMENT,
    UNKNOWN_PATH,
    UNPLACED,
    BAD_SPAN,
    BAD_SCORE,
    REPEATED_KEY,
    SPLIT_TOPIC,
    RANK_REPEATS,
    RANK_JUMPS,
    SCORE_ORDER,
    DUPLICATE,
    TOO_MANY,
    INTERLEAVED,
    SECOND_RESULT,
    OVERLAP,
    UNCHECKED,
)
"""Every rule, in the order of a check."""
