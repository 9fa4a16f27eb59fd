"""The embedded example: seventeen articles on finding one's way at sea, a harbour's handbook, topics, gold and runs.

::

    articles/<shelf>/<name>.xml      written for this project, in its own words
    topics.xml, judgements.toml      what six readers wanted to know, and what was highlighted for them
    topics-2009.xml                  the same topics as the campaigns of 2009 and 2010 wrote them
    gold/gold.jsonl                  the highlights as spans
    gold/assessments/101.xml …       the same in the form of 2005–2007
    gold/qrels.txt                   the same in the form of 2008–2010
    runs/<task>/…                    three runs for each task: careful, coarse, hasty
    runs/spans/…                     two chunkings, for retrieval-augmented generation
    harbour/docs/…, questions.toml   a harbour's handbook, and what 42 visitors asked, with the sentences that answer it
    harbour/gold.jsonl               the same as spans

All but the first two lines, and the handbook, are derived by `make example`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from focuseval.errors import InputError

ROOT = Path(__file__).parent  # where the files are installed

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
