"""The README of an archive: what the collection is, how it was made, and how to score against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.assessment.guidelines import guidelines
from focuseval.assessment.plan import assessors, roles
from focuseval.data.tables import Table, numbers, render, words
from focuseval.engine.version import __version__
from focuseval.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focuseval.assessment.store import Store
    from focuseval.data.topics import Topic

_RULES = {
    "union": "what anybody highlighted",
    "intersection": "what everybody highlighted",
    "majority": "what more than half of the assessors highlighted",
    "lead": "the judgement of a lead",
}


def readme(
    store: Store, title: str, topics: Sequence[Topic], facts: Mapping[str, Any], *, rule: str, remarks: Sequence[str]
) -> str:
    """Return the text of the README.

    Parameters
    ----------
    store, title, topics
        The project, what it is called, and its topics.
    facts
        Its pool, its agreement, how many documents it has, the version of its guidelines, and whether people's names
        were replaced.
    rule, remarks
        How several judgements became one, and what is to be said of the gold.
    """
    parts = [
        f"# {title}",
        _summary(store, topics, facts),
        _use(),
        "## How it was made",
        _pool(facts),
        _people(store, anonymous=facts["anonymous"]),
        _gold(rule, remarks),
        _agreement(facts),
        _guidelines(store),
        _files(),
        f"Made by focuseval {__version__}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(store: Store, topics: Sequence[Topic], facts: Mapping[str, Any]) -> str:
    first, last = store.database.read().execute("SELECT min(at), max(at) FROM events").fetchone()
    judged = len({key[1:] for key in store.judged()})
    exhaustivity = " Elements were graded for exhaustivity, too." if store.exhaustivity else ""
    return (
        f"A test collection for focused retrieval: {len(topics)} topics with {len(facts['pool'].entries)} documents to "
        f"judge ({facts['documents']} different ones), {judged} of which were judged by highlighting what is "
        f"relevant.{exhaustivity} "
        f"The work began on {first[:10]} and ended on {last[:10]} (UTC)."
    )


def _use() -> str:
    return (
        "## How to use it\n\nThe documents themselves are not in the archive; `documents.jsonl` has the hash of each "
        "text, and commands refuse other texts.\n\n"
        "```console\n"
        "$ focuseval score ARCHIVE.zip RUN --docs DOCUMENTS            score a run\n"
        "$ focuseval project import NEW ARCHIVE.zip --docs DOCUMENTS  make the project again\n"
        "```\n\nOther tools read the files in `gold/`."
    )


def _pool(facts: Mapping[str, Any]) -> str:
    pool = facts["pool"]
    if not pool.contributors:
        return f"### Pool\n\n{counted(len(pool.entries), 'document')}; which runs brought them was not recorded."
    columns = (*words("run", "file"), *numbers("batch", "depth", form=".0f"), *words("sha256"))
    rows = tuple((one.run, one.file, one.batch + 1, one.depth, one.sha256) for one in pool.contributors)
    table = render([Table("", columns, rows)], "markdown").strip()
    runs = counted(len(pool.contributors), "run")
    return f"### Pool\n\n{counted(len(pool.entries), 'document')} to judge, from {runs}:\n\n{table}"


def _people(store: Store, *, anonymous: bool) -> str:
    known = roles(store)
    counts = dict(store.database.read().execute("SELECT assessor, count(*) FROM judgements GROUP BY 1").fetchall())
    rows = tuple((one.label, known.get(one.name, "assessor"), counts.get(one.name, 0)) for one in assessors(store))
    table = render([Table("", (*words("assessor", "role"), *numbers("judgements", form=".0f")), rows)], "markdown")
    decided = counts.get("adjudicated", 0)
    hidden = "\n\nPeople are called a1, a2 … here, everybody the same throughout." if anonymous else ""
    return f"### Assessors\n\n{table.strip()}\n\n{counted(decided, 'document')} adjudicated.{hidden}"


def _gold(rule: str, remarks: Sequence[str]) -> str:
    told = "".join(f"\n- {line}" for line in remarks)
    return (
        "### Gold\n\nOf each document: what the adjudication decided, else the single judgement, else of several "
        f"{_RULES[rule]} (`{rule}`).\n{told}"
    )


def _agreement(facts: Mapping[str, Any]) -> str:
    if not facts["pairs"]:
        return "### Agreement\n\nNo two assessors finished a document in common."
    columns = (*words("assessor", "assessor"), *numbers("documents", form=".0f"), *numbers("κ", "Jaccard", form=".3f"))
    rows = tuple((one["left"], one["right"], one["documents"], one["kappa"], one["jaccard"]) for one in facts["pairs"])
    alpha = facts["documents_alpha"]
    said = "" if alpha is None else f"\n\nKrippendorff's α of documents: {alpha:.3f}"
    return f"### Agreement\n\n{render([Table('', columns, rows)], 'markdown').strip()}{said}"


def _guidelines(store: Store) -> str:
    found = guidelines(store)
    if not found.version:
        return "### Guidelines\n\nNone were written."
    return f"### Guidelines\n\nThe assessors were told what stands in `guidelines.md` (version {found.version})."


def _files() -> str:
    return (
        "## Files\n\n`manifest.json` has the SHA-256 of each file.\n\n"
        "- `documents.jsonl`: id, hash and length of every pooled document\n"
        "- `topics…`: the topics\n"
        "- `pool.jsonl`: what was to be judged, and which runs brought it\n"
        "- `judgements.jsonl`: every judgement of everybody, and every event since the beginning\n"
        "- `gold/`: one gold from all, in every format\n"
        "- `agreement.json`: agreement of every pair of assessors"
    )
