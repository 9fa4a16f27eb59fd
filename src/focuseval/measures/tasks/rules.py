"""The rules a run can break: what is said of each finding, what to do, and what a repair does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule; `what` and `repaired` speak of a result through the fields of `focuseval.measures.tasks.findings`."""

    name: str
    what: str
    remedy: str
    repaired: str = ""
    """What a repair does about it; empty where nothing is done."""
    warning: bool = False


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
)
BAD_SCORE = Rule(
    "bad-score", "expected a finite score, found {score}", "write a number", "score {score} replaced by its neighbour's"
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
)
OVERLAP = Rule(
    "overlap",
    "expected no overlap, found {document} {place} overlapping the result on line {other}",
    "keep the higher-ranked one",
    "dropped: {document} {place} overlaps the result on line {other}",
)
UNCHECKED = Rule(
    "unchecked",
    "expected an index to tell where {document} {place} lies, found none: its overlap is not checked",
    "give --index",
    warning=True,
)
RENUMBERED = Rule("renumbered", "rank {rank}", "", "rank {rank} renumbered", warning=True)

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
"""Every rule that a check knows, in the order in which it looks."""
