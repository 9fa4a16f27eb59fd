r"""A pool's file: where it came from, and a line for every document.

::

    {"pool": 1, "depth": 100, "size": null, "order": "runs", "seed": 0,
     "runs": [{"run": "VSM", "file": "vsm.xml", "sha256": "…", "batch": 0, "depth": 100, "size": null}]}
    {"topic": "544", "doc": "9996", "runs": 3, "best": 1, "by": [0, 2], "batch": 0}

``runs`` counts the runs that returned the document at all, ``best`` is its best rank among documents, ``by`` says which
runs brought it into the pool. More runs can be added later: what is there keeps its place, new documents follow; every
run says in which batch it came and how deep it was pooled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.assessment.pool.model import Contributor, Entry, Pool
from focuseval.errors import FormatError, Place
from focuseval.formats.output import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator


def write_pool(pool: Pool, path: str | Path) -> None:
    """Write a pool's file, whole or not at all."""
    write_whole(path, _lines(pool))


def _lines(pool: Pool) -> Iterator[bytes]:
    head = {"pool": 1, "depth": pool.depth, "size": pool.size, "order": pool.order, "seed": pool.seed}
    runs = [vars(contributor) for contributor in pool.contributors]
    yield _json({**head, "runs": runs})
    for entry in pool.entries:
        names = {"topic": entry.topic, "doc": entry.document}
        yield _json({**names, "runs": entry.runs, "best": entry.best, "by": entry.by, "batch": entry.batch})


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


def read_pool(path: str | Path) -> Pool:
    """Read a pool's file."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(
            f"expected a pool, found: {error}", at=str(path), remedy="check the name and the permissions"
        ) from error
    values = [_value(line, Place(str(path), number)) for number, line in enumerate(lines, 1)]
    if not values or values[0].get("pool") != 1:
        raise FormatError('expected {"pool": 1, …}', at=Place(str(path), 1), remedy="make a pool with 'focuseval pool'")
    head = values[0]
    entries = []
    for number, value in enumerate(values[1:], 2):
        try:
            by = tuple(value["by"])
            entries.append(Entry(value["topic"], value["doc"], value["runs"], value["best"], by, value["batch"]))
        except (KeyError, TypeError) as error:
            raise FormatError(
                f"expected a pooled document, found no {error}",
                at=Place(str(path), number),
                remedy="make the pool with 'focuseval pool'",
            ) from error
    try:
        contributors = tuple(Contributor(**run) for run in head["runs"])
        return Pool(contributors, tuple(entries), head["depth"], head["size"], head["order"], head["seed"])
    except (KeyError, TypeError) as error:
        raise FormatError(
            f"expected runs, depth, size, order and seed of the pool, found: {error}",
            at=Place(str(path), 1),
            remedy="make the pool with 'focuseval pool'",
        ) from error


def _value(line: str, at: Place) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise FormatError(
            f"expected a JSON object, found: {error}", at=at, remedy="write one object on each line"
        ) from error
    if not isinstance(value, dict):
        raise FormatError(
            f"expected a JSON object, found {type(value).__name__}", at=at, remedy="write one object on each line"
        )
    return value
