"""The runs that are kept with a project, under names that say what they hold: ``runs/0123456789ab-vsm.xml``."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from focuseval.assessment.durable import make_private, settle
from focuseval.engine.files import unpacked
from focuseval.errors import FocusevalError, FormatError, StorageError
from focuseval.formats import read_run

if TYPE_CHECKING:
    from pathlib import Path

    from focuseval.collection.index import Index

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
