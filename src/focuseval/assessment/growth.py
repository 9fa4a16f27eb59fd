"""The project's pool with its provenance, how it grows, and the runs that are kept with the project.

The runs that were pooled, and which of them brought which document, are in the events that added them. Together they
give back the pool as `focuseval.assessment.pool` knows it, which is therefore built, described and written in one
place. Files of runs are kept under names that say what they hold: ``runs/0123456789ab-vsm.xml``.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from focuseval.assessment.files import make_private, settle
from focuseval.assessment.plan import Pooled, add_to_pool, pool
from focuseval.assessment.pool import Contributor, Entry, Pool, build_pool
from focuseval.assessment.rules import FINISHED
from focuseval.engine.storage import unpacked
from focuseval.errors import FocusevalError, FormatError, StorageError
from focuseval.formats import read_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from focuseval.assessment.store import Store
    from focuseval.collection.index import Index
    from focuseval.data.run import Run


def project_pool(store: Store) -> Pool:
    """Return the project's pool: who contributed, what there is to judge, and who brought it.

    Of a pool that an older version added only the documents are known, not which runs brought them.
    """
    runs: list[Contributor] = []
    by: dict[tuple[str, str], tuple[int, ...]] = {}
    batches: dict[tuple[str, str], int] = {}
    for batch, (_, edit) in enumerate(store.project_events("pool")):
        number = {}
        for k, one in enumerate(edit.get("runs", ())):
            contributor = replace(Contributor(**one), batch=batch)
            known = next((place for place, other in enumerate(runs) if _same(other, contributor)), None)
            number[k] = len(runs) if known is None else known
            if known is None:
                runs.append(contributor)
        rows = [[*row, places] for row, places in zip(edit["rows"], edit.get("by", ()), strict=False)]
        rows += edit.get("again", ())  # documents of the pool that more runs returned
        for topic, document, *_, brought in rows:
            known_by = by.get((topic, document), ())
            by[topic, document] = tuple(dict.fromkeys((*known_by, *(number[k] for k in brought))))
        for topic, document, *_ in edit["rows"]:
            batches.setdefault((topic, document), batch)
    entries = (
        Entry(row.topic, row.document, row.runs, row.best, by.get(row[:2], ()), batches.get(row[:2], 0))
        for row in pool(store)
    )
    return Pool(tuple(runs), tuple(entries))


def _same(left: Contributor, right: Contributor) -> bool:
    return (left.run, left.sha256, left.depth, left.size) == (right.run, right.sha256, right.depth, right.size)


def add_pool(store: Store, wanted: Pool, *, actor: str) -> int:
    """Add the documents of a pool that the project does not have; return how many they are.

    Documents that it has keep their places; that more runs returned them is noted.
    """
    known = project_pool(store)
    units = {(entry.topic, entry.document) for entry in known.entries}
    fresh = {k for k, one in enumerate(wanted.contributors) if not any(_same(one, old) for old in known.contributors)}
    rows = [Pooled(one.topic, one.document, 0, one.runs, one.best, one.by) for one in wanted.entries]
    again = [row for row in rows if row[:2] in units and fresh & set(row.by)]
    return add_to_pool(store, rows, actor=actor, runs=[vars(one) for one in wanted.contributors], again=again)


@dataclass(frozen=True)
class Growth:
    """What more runs would add to the pool of one topic."""

    topic: str
    pooled: int
    """Documents that the pool has."""
    judged: int
    """Documents of it that somebody has finished."""
    returned: int
    """Documents that the new runs returned, as deep as they would be pooled."""
    fresh: int
    """Those of them that the pool does not have."""
    judged_returned: int
    """Those of them that somebody has finished: what the runs can be scored with as it is."""


def grown(
    store: Store, runs: Sequence[Run], *, depth: int | None, size: int | None = None
) -> tuple[Pool, list[Growth]]:
    """Return the pool with more runs in it, and what they would add topic by topic; nothing is changed."""
    base = project_pool(store)
    alone = build_pool(runs, depth=depth, size=size)
    after = build_pool(runs, depth=depth, size=size, base=base) if base.contributors or base.entries else alone
    units = {(entry.topic, entry.document) for entry in base.entries}
    judged = "SELECT DISTINCT topic, document FROM judgements WHERE status IN (?, ?)"
    finished = {(topic, document) for topic, document in store.database.read().execute(judged, FINISHED)}
    returned = [(entry.topic, entry.document) for entry in alone.entries]
    counts = [
        Counter(topic for topic, _ in some)
        for some in (units, finished & units, returned, set(returned) - units, set(returned) & finished)
    ]
    topics = sorted({entry.topic for entry in after.entries})
    return after, [Growth(topic, *(count[topic] for count in counts)) for topic in topics]


def why_pooled(store: Store, topic: str, document: str) -> tuple[Entry | None, list[Contributor]]:
    """Return how a document came into the pool: its entry, and the runs that brought it."""
    found = project_pool(store)
    entry = next((one for one in found.entries if (one.topic, one.document) == (topic, document)), None)
    return entry, [found.contributors[k] for k in entry.by] if entry else []


FOLDER = "runs"
LARGEST = 2**28
"""Bytes of a run, unpacked: a few kilobytes may stand for many gigabytes."""
_KEPT = re.compile(r"[0-9a-f]{12}-[\w.-]{1,80}")


def keep_run(project: Path, name: str, data: bytes, *, index: Index | None) -> Path:
    """Keep a run's file, after it was read as one; the same file is kept once."""
    safe = re.sub(r"[^\w.-]+", "_", name.replace("\\", "/").rpartition("/")[2], flags=re.ASCII)[-80:]
    target = project / FOLDER / f"{hashlib.sha256(data).hexdigest()[:12]}-{safe.lstrip('.') or 'run'}"
    partial = target.with_name(f"partial-{target.name}")
    try:
        unpacked(data, name, largest=LARGEST)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        make_private(partial)
        partial.write_bytes(data)
        read_run(partial, index=index)
        settle(partial, target)
    except FocusevalError as error:  # the file's own name, not where we put it for a moment
        raise FormatError(str(error).replace(str(partial), name)) from error
    except OSError as error:
        raise StorageError(f"{name}: {error.strerror}; the run was not kept") from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def kept_runs(project: Path) -> list[Path]:
    """Return the runs that a project keeps, by name."""
    return sorted(path for path in (project / FOLDER).glob("*") if _KEPT.fullmatch(path.name))


def run_named(project: Path, name: str) -> Path | None:
    """Return one of the kept runs; a name never becomes a path."""
    return next((path for path in kept_runs(project) if path.name == name), None)
