"""The ledger of an anchor: which runs were held against a pinned release, one JSON object per line, the oldest first.

::

    {"anchor": "9f2c…", "run": "41aa…", "test": 3, "level": 0.0018, "date": "2026-03-01T12:00:00+00:00",
     "verdict": "pass", "p": {"spanR@5": 0.21}}

``anchor`` is the SHA-256 of the release's values per topic, ``run`` that of the run's values under the measures that
decide, ``test`` the number of the test against this anchor, from 1, ``level`` what p had to reach (`GateRule.spent`).
Another anchor begins at 1 again. A run that is in the ledger is tested at the level that it had: the same values again
are no further test. Keep the file in the repository: what is not in it does not count.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from focuseval.data.fields import json_line, numbered_lines
from focuseval.data.spans import MOST
from focuseval.engine.storage import location
from focuseval.errors import FormatError, Place
from focuseval.evaluation.gate import judge
from focuseval.formats.content import write_whole
from focuseval.inference.regression import GateRule, GateVerdict, outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.evaluation.gate import Baseline
    from focuseval.evaluation.scores import Scores
    from focuseval.inference.clusters import By


def judge_anchor(
    anchor: Baseline,
    scores: Scores,
    measures: Sequence[str] | None,
    rule: GateRule,
    ledger: str,
    *,
    clusters: By | None = None,
) -> list[GateVerdict]:
    """Hold the one run of `scores` against an anchor, at the next level that the ledger leaves; write it there."""
    place, tests = location(ledger), dict[tuple[str, str], int]()
    content = place.read_bytes() if place.exists() else b""
    for number, text in numbered_lines(content):
        try:
            entry = json.loads(text)
            tests[str(entry["anchor"]), str(entry["run"])] = range(1, MOST).index(int(entry["test"])) + 1
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
            what = f"expected a test with anchor, run and test, found {text[:40].decode(errors='replace')!r}"
            raise FormatError(what, at=Place(ledger, number), remedy="put the line right, or take it out") from None
    names = list(dict.fromkeys(measures or (scores.measures[scores.deciding], *scores.measures)))
    deciding = names if rule.decide == "all" else names[:1]
    values = {topic: [own.get(name) for name in deciding] for topic, own in scores.topics_of(0).items()}
    base, run = (sha256(json.dumps(side, sort_keys=True).encode()).hexdigest() for side in (anchor.per_topic, values))
    done = [number for (other, _), number in tests.items() if other == base]
    test = tests.get((base, run)) or max(done, default=0) + 1
    own = replace(rule, alpha=rule.spent(test), max_lost=None, strict=False)
    verdicts = judge(anchor, scores, deciding, own, anchor=f"the anchor {anchor.file}, test {test}", clusters=clusters)
    if (base, run) not in tests:
        line = {"anchor": base, "run": run, "test": test, "level": own.alpha}
        line |= {"date": datetime.now(UTC).isoformat(timespec="seconds"), "verdict": outcome(verdicts)}
        before = content if content.endswith(b"\n") or not content else content + b"\n"
        write_whole(ledger, [before, json_line(line | {"p": {v.measure: v.p for v in verdicts}})])
    return verdicts
