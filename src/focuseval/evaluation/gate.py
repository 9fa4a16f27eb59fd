"""Stop a regression in CI: a run against a baseline, over the same topics of the same gold.

A baseline is what ``focuseval gate --update`` wrote, or ``focuseval score --per-topic --format json``. Verdicts are
printed for people and for CI: text, JSON, Markdown, JUnit XML.

The ledger of an anchor says which runs were held against a pinned release, one JSON object per line, the oldest first.

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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from focuseval.data.fields import json_line, numbered_lines
from focuseval.data.spans import MOST
from focuseval.data.tables import Table, numbers, one_line, render, words
from focuseval.engine.storage import location
from focuseval.errors import FormatError, NotComparableError, Place, counted
from focuseval.evaluation.score_file import Basis, read_score_file, topic_values
from focuseval.evaluation.scores import Scores, refuse_geometric
from focuseval.formats.content import write_whole
from focuseval.inference.clusters import By
from focuseval.inference.regression import CANNOT_TELL, PASS, REGRESSION, GateRule, GateVerdict, judge_changes, outcome
from focuseval.inference.sentences import shown_p

_REMEDY = "write it with 'focuseval gate --update --baseline FILE GOLD RUN'"
_MOST_LOST = 5  # topics that lost most, below a verdict


@dataclass(frozen=True)
class Baseline:
    """One run's values, topic → measure → value, with what they were computed from."""

    run: str
    per_topic: dict[str, dict[str, float]]
    basis: Basis
    file: str = ""


def read_baseline(path: str | Path, run: str | None = None) -> Baseline:
    """Read a baseline; of several runs in the file, the one named `run`."""
    document = read_score_file(path, _REMEDY)
    runs = document["runs"]
    chosen = [r for r in runs if run is None or r.get("run") == run]
    if len(chosen) != 1:
        names = ", ".join(str(r.get("run")) for r in runs)
        raise FormatError(f"expected one run to compare with, found {names}", at=str(path), remedy="name it")
    topics, docs, signature = chosen[0].get("per_topic"), document.get("docs_sha256"), document.get("signature")
    if not isinstance(topics, dict):
        raise FormatError("expected values per topic, found means alone", at=str(path), remedy=_REMEDY)
    per_topic = topic_values(topics, path, _REMEDY)
    if not isinstance(signature, str) or not signature:
        raise FormatError("expected the signature of the scores, found none", at=str(path), remedy=_REMEDY)
    basis = Basis(str(document.get("gold_sha256", "")), None if docs is None else str(docs), signature)
    return Baseline(str(chosen[0].get("run", "")), per_topic, basis, str(path))


def write_baseline(scores: Scores, path: str | Path) -> None:
    """Write scores as a baseline: every topic's values, with what they were computed from."""
    text = json.dumps(scores.to_json(per_topic=True), ensure_ascii=False, indent=1)
    write_whole(path, [f"{text}\n".encode()])


def judge(
    baseline: Baseline, scores: Scores, measures: Sequence[str] | None = None, rule: GateRule | None = None, *,
    anchor: str = "", clusters: By | None = None,
) -> list[GateVerdict]:  # fmt: skip
    """Judge the one run of `scores` against the baseline, over exactly the same topics.

    The first of the measures decides, by default the profile's deciding one; the others are shown (`judge_changes`).
    `anchor` is the name of the baseline where that is a pinned release; `clusters` are as in `Scores.compare`.
    """
    if len(scores.runs) != 1:
        raise NotComparableError(f"expected one run to judge, found {len(scores.runs)}; call the gate once for each")
    refuse_geometric(scores, "a gate")
    for what, *both in baseline.basis.differences(Basis(scores.gold_sha256, scores.docs_sha256, scores.signature)):
        was, now = (v if v and len(v) <= 24 else f"{v[:12]}…" if v else "none" for v in both)
        found = f"other {what} than now (was {was}, is {now})"
        without = what == "documents" and not both[1]
        remedy = "give docs= or index=" if without else "score the baseline again on the same ground"
        raise NotComparableError(f"{baseline.file}: {found}; {remedy}")
    changes, sides = [], (baseline.per_topic, scores.topics_of(0))
    less = dict(zip(scores.measures, scores.lower or (False,) * len(scores.measures), strict=True))
    for measure in dict.fromkeys(measures or (scores.measures[scores.deciding], *scores.measures)):
        older, newer = ({t: values[measure] for t, values in side.items() if measure in values} for side in sides)
        if not older:
            found = f"{measure} is not in the baseline"
            raise NotComparableError(f"{baseline.file}: {found}; score it again with -m {measure}")
        if odd := sorted(older.keys() ^ newer.keys()):
            found = f"other topics than now under {measure} ({len(odd)} differ, the first is {odd[0]})"
            raise NotComparableError(f"{baseline.file}: {found}; score the baseline again on the same ground")
        values = np.array([[side[topic] for topic in newer] for side in (older, newer)], np.float64)
        if less[measure]:  # as in `oriented`: a drop is what is asked for
            measure, values = f"−{measure}", 0.0 - values  # noqa: PLW2901  it is called so from here on
        if not np.isfinite(values).all():
            raise NotComparableError(f"{measure}: some topic's value is not a finite number; no verdict is possible")
        changes.append((measure, list(newer), *values))
    inside = {
        name: [whole.take(np.isin(scores.topics, topics)) for _, topics, *_ in changes]
        for name, whole in scores.clustering(clusters).items()
        if whole is not None
    }
    return judge_changes(changes, rule or GateRule(), anchor, **inside)


def judge_anchor(
    anchor: Baseline, scores: Scores, measures: Sequence[str], rule: GateRule, *, ledger: str, clusters: By | None
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
    deciding = list(dict.fromkeys(measures))[: None if rule.decide == "all" else 1]
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


@dataclass(frozen=True)
class Leaks:
    """Text that must not come back and does: in any topic a regression, whatever the baseline did."""

    topics: int  # topics with forbidden text
    characters: tuple[tuple[str, int], ...]  # topic and characters that come back, most first; only where some do

    def __str__(self) -> str:
        word = REGRESSION if self.characters else PASS
        named = [f"{topic} ({counted(number, 'character')})" for topic, number in self.characters[:_MOST_LOST]]
        named += [f"{len(self.characters) - _MOST_LOST} more"] if len(self.characters) > _MOST_LOST else []
        where = f"in {len(self.characters)} of {counted(self.topics, 'topic')} with forbidden text"
        return f"{word.upper()} leak: it comes back {where}{': ' * bool(named)}{one_line(', '.join(named))}"


def leaks_of(scores: Scores) -> Leaks:
    """Return what the one run returns of forbidden text, by the measure ``leaked``."""
    values = {topic: int(own["leaked"]) for topic, own in scores.topics_of(0).items() if "leaked" in own}
    found = sorted(values.items(), key=lambda item: -item[1])
    return Leaks(len(values), tuple((topic, number) for topic, number in found if number))


def as_text(verdicts: Sequence[GateVerdict], leaks: Leaks | None = None) -> str:
    """Return a line per measure, and below those that decide the topics that lost most; leaks come first."""
    lines = [] if leaks is None else [str(leaks)]
    for verdict in verdicts:
        lines.append(str(verdict))
        lost = verdict.lost[:_MOST_LOST] if verdict.decides else ()
        lines += [f"  {topic}: {before:.4f} → {after:.4f}" for topic, before, after in lost]
    return "\n".join(lines) + "\n"


def as_json(verdicts: Sequence[GateVerdict], leaks: Leaks | None = None) -> dict[str, Any]:
    """Return the verdicts as plain values, with the rule behind them."""
    found = None if leaks is None else vars(leaks) | {"characters": dict(leaks.characters), "sentence": str(leaks)}
    return {
        "verdict": REGRESSION if leaks and leaks.characters else outcome(verdicts),
        "leaks": found,
        "rule": vars(verdicts[0].rule),
        "measures": [
            {
                "measure": v.measure,
                "verdict": v.word,
                "anchor": v.anchor or None,
                "level": v.level if v.decides else None,
                "before": v.before,
                "after": v.after,
                "difference": v.difference,
                "interval": [v.low, v.high],
                "p": v.p,
                "p_corrected": v.corrected,
                **({"by_document": {"clusters": v.by_document[0], "p": v.by_document[1]}} if v.by_document else {}),
                "detectable": v.detectable if isfinite(v.detectable) else None,
                "topics": v.topics,
                "topics_differing": v.differing,
                "topics_lost": len(v.lost),
                "lost": [
                    {"topic": topic, "before": before, "after": after}
                    for topic, before, after in (v.lost if v.decides else v.lost[:_MOST_LOST])
                ],
                "sentence": str(v),
            }
            for v in verdicts
        ],
    }


def as_markdown(verdicts: Sequence[GateVerdict], leaks: Leaks | None = None) -> str:
    """Return a table of verdicts and one of the topics that lost most, for a pull request or a job summary."""
    rows = []
    for v in verdicts:
        word = v.word.upper() if v.word in {REGRESSION, CANNOT_TELL} else v.word
        interval = f"[{v.low:+.4f}, {v.high:+.4f}]"
        rows.append((v.name, v.before, v.after, v.difference, interval, shown_p(v.p, v.rule), word))
    values = (*numbers("baseline", "now"), *numbers("difference", "95 % interval", "p", form="+.4f"))
    columns = (*words("measure"), *values, *words("verdict"))
    said = (str(v) for v in verdicts if v.decides and (v.remark or v.by_document))
    notes = (*([] if leaks is None else [str(leaks)]), *said)
    found = REGRESSION if leaks and leaks.characters else outcome(verdicts)
    tables = [Table(f"focuseval gate: {'no regression' if found == PASS else found}", columns, tuple(rows), notes)]
    columns = (*words("topic"), *numbers("baseline", "now"))
    decided = [v for v in verdicts if v.decides and v.lost]
    tables += [Table(f"Topics that lost most under {v.name}", columns, v.lost[:_MOST_LOST]) for v in decided]
    return render(tables, "markdown")


def as_junit(verdicts: Sequence[GateVerdict], leaks: Leaks | None = None) -> str:
    """Return JUnit XML: one test case per measure, failed where it regressed, skipped where nothing can be told."""
    cases = [("leak", "failure" if leaks.characters else "system-out", str(leaks), str(leaks))] if leaks else []
    for v in verdicts:
        kind = "failure" if v.fails else "skipped" if v.word == CANNOT_TELL else "system-out"
        cases.append((v.name, kind, str(v), str(v) if kind == "system-out" else as_text([v])))
    return _junit(cases)


def no_verdict(reason: str, measures: Sequence[str]) -> tuple[str, str]:
    """Return Markdown and JUnit XML where nothing could be compared: errors, which are not failures."""
    markdown = render([Table("focuseval gate: no verdict", notes=(reason,))], "markdown")
    return markdown, _junit([(measure, "error", reason, reason) for measure in measures])


def _junit(cases: Sequence[tuple[str, str, str, str]]) -> str:
    """Return JUnit XML of test cases: a measure, the kind of its element, its message and its text."""
    kinds = [kind for _, kind, *_ in cases]
    found = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = " ".join(f'{name}="{kinds.count(kind)}"' for name, kind in found.items())
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="focuseval" tests="{len(cases)}" {counts}>']
    for measure, kind, message, text in cases:
        attribute = "" if kind == "system-out" else f" message={quoteattr(message)}"
        lines.append(f'  <testcase classname="focuseval.gate" name={quoteattr(measure)}>')
        lines.append(f"    <{kind}{attribute}>{escape(text)}</{kind}>")
        lines.append("  </testcase>")
    return "\n".join([*lines, "</testsuite>"]) + "\n"
