"""The tasks of INEX and of RAG: what a run may return for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from focuseval.errors import UsageError, did_you_mean

Level: TypeAlias = Literal["error", "warning", "change"]
"""How grave a finding is; a change is what a repair did."""

MOST_RESULTS = 1500
"""INEX's limit for one topic."""


@dataclass(frozen=True)
class Task:
    """One task: its name and what it forbids."""

    name: str
    summary: str
    limit: int | None = MOST_RESULTS
    """Most results of a topic, or None."""
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
