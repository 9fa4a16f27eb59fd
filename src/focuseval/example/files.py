"""Where the embedded example is installed, and how it is copied."""

from __future__ import annotations

import shutil
from pathlib import Path

from focuseval.errors import InputError

ROOT = Path(__file__).parent
"""Where the files are installed."""

PARTS = ("articles", "gold", "runs", "harbour", "topics.xml", "topics-2009.xml", "judgements.toml")
"""What a user gets to see."""


def copy_example(folder: Path) -> list[Path]:
    """Copy the example's files into a folder, which is made; return where they are now.

    Files of the same name are replaced, everything else in the folder is left alone.
    """
    targets = []
    for part in (ROOT / name for name in PARTS):
        for source in sorted(path for path in part.rglob("*") if path.is_file()) if part.is_dir() else [part]:
            target = folder / source.relative_to(ROOT)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
            except OSError as error:
                what = f"expected a folder that can be written to, found {error.strerror}"
                raise InputError(what, at=str(target), remedy="choose another folder") from error
            targets.append(target)
    return targets
