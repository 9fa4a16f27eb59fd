"""Files of scores: the layouts that ``score`` writes, what `gate` and `history` read, what a signature decides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from focuseval.data.fields import json_fault
from focuseval.data.tables import Table, numbers, trec, words
from focuseval.engine.storage import location
from focuseval.errors import FormatError, Place
from focuseval.evaluation.counts import PRINTED
from focuseval.evaluation.scores import Scores
from focuseval.measures.profiles import Policies

_DEFAULTS = dict(part.split(":", 1) for part in Policies().signature().split("|"))
_DEFAULTS |= {"repair": "no", "drop_tags": "", "tokenizer": "none", "empty": "skip"}
"""What a signature that does not name a part stands for."""


def decisions(text: str) -> dict[str, str]:
    """Return what a signature decides, by name; a part that is absent has its default, another version is no decision.

    >>> decisions("focuseval:0.1.0|profile:none|ties:file|missing:skip")["missing"]
    'skip'
    >>> decisions("focuseval:0.1.0|ties:file|missing:zero") == decisions("focuseval:0.2.0")
    True
    """
    parts = dict(part.split(":", 1) for part in text.split("|") if ":" in part)
    # the version, the name of policies that are all there, and what had no effect in 0.1.0
    for name in ("focuseval", "profile", "ties", "repeated", "unjudged", "unit"):
        parts.pop(name, None)
    return _DEFAULTS | parts


class Basis(NamedTuple):
    """What scores were computed from, and how: scores are comparable where it is the same."""

    gold: str
    docs: str | None
    signature: str

    def differences(self, now: Basis) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield what is different now, with what it was and is: ``gold``, ``documents``, ``policies (NAME)``."""
        before, after = decisions(self.signature), decisions(now.signature)
        # the quantisation counts where both have elements, the tokenizer where both count tokens
        left_out = {"quant"} if before.keys() ^ after.keys() == {"quant"} else set()
        left_out |= {"tokenizer"} if "none" in (before["tokenizer"], after["tokenizer"]) else set()
        names = sorted({*before, *after} - left_out)
        policies = ((f"policies ({name})", before.get(name), after.get(name)) for name in names)
        parts = (("gold", self.gold, now.gold), ("documents", self.docs, now.docs), *policies)
        yield from (part for part in parts if part[1] != part[2])


def read_score_file(path: str | Path, remedy: str) -> dict[str, Any]:
    """Return the document of a file of scores, whose runs are a list of objects; what is not JSON is refused."""
    where = str(path)

    def refuse(found: str, at: Place | str = where) -> NoReturn:
        raise FormatError(f"expected JSON, found {found}", at=at, remedy=remedy)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # which of two values of a name was meant, nobody knows
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            refuse(f"{next(name for name in names if names.count(name) > 1)!r} twice")
        return dict(pairs)

    try:
        text = location(path).read_text(encoding="utf-8")
        document = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except OSError as error:
        raise FormatError(f"expected a file of scores, found {error.strerror}", at=where, remedy=remedy) from None
    except UnicodeDecodeError:
        raise FormatError("expected JSON in UTF-8, found other bytes", at=where, remedy=remedy) from None
    except json.JSONDecodeError as error:
        refuse(error.msg, Place(where, error.lineno, error.colno))
    except (ValueError, RecursionError) as error:
        refuse(json_fault(error))
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        raise FormatError("expected scores with their runs, found something else", at=where, remedy=remedy)
    found: dict[str, Any] = document
    return found


def finite(value: object, what: str, path: str | Path, remedy: str) -> float:
    """Return a value of a file of scores, which must be a finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if isfinite(number := float(value)):
                return number
        except OverflowError:
            pass
    found = json.dumps(value, ensure_ascii=False)
    shown = found if len(found) <= 40 else f"{found[:40]}…"
    raise FormatError(f"expected a finite number for {what}, found {shown}", at=str(path), remedy=remedy)


def topic_values(topics: dict[str, Any], path: str | Path, remedy: str) -> dict[str, dict[str, float]]:
    """Return topic → measure → value of a run in a file of scores; all values must be finite numbers."""
    found = {}
    for topic, values in topics.items():
        if not isinstance(values, dict):
            raise FormatError(f"expected the measures of topic {topic}, found none", at=str(path), remedy=remedy)
        found[topic] = {m: finite(value, f"{m} of topic {topic}", path, remedy) for m, value in values.items()}
    return found


def tag_table(scores: Scores) -> Table:
    """Return every run's means for each tag, and then over all topics."""
    parts = [*scores.by_tag().items(), ("all", scores)]
    rows = tuple(
        (name, tag, *part.row_of_means(number)) for number, name in enumerate(scores.names) for tag, part in parts
    )
    return Table("", (*words("run", "tag"), *numbers(*scores.measures, *PRINTED)), rows)


def table_for_programs(scores: Scores, *, per_topic: bool = False, by_tag: bool = False) -> Table:
    """Return what CSV holds: means with counts, or a row per topic and measure, counts among them; or means by tag."""
    if by_tag:
        return replace(tag_table(scores).printed(), notes=(scores.signature,))
    counts = [beside(scores, number) for number in range(len(scores.names))]
    found = tuple(dict.fromkeys(name for own in counts for name in own))
    headings, rows = ("run", *scores.measures, *found), list[tuple[Any, ...]]()
    for name, means, own in zip(scores.names, scores.mean.tolist(), counts, strict=True):
        rows.append((name, *means, *(own.get(count, own["excluded"]) for count in found)))
    if per_topic:
        headings = ("run", "topic", "measure", "value")
        rows = [(name, *line) for run, name in enumerate(scores.names) for line in _lines(scores, run, per_topic=True)]
        rows += [(name, "all", *count) for name, own in zip(scores.names, counts, strict=True) for count in own.items()]
    return Table("", words(*headings, "signature"), tuple((*row, scores.signature) for row in rows))


def beside(scores: Scores, run: int) -> dict[str, int]:
    """Return the counts beside a run's means, also of the topics that only some measures leave out (by measure)."""
    more = {f"excluded:{measure}": n for measure, n in scores.excluded_apart(run).items()}
    return scores.counts[run].printed() | more


def _lines(scores: Scores, run: int, *, per_topic: bool) -> Iterable[tuple[str, str, float]]:
    """Yield (topic, measure, value) of a run, topics first, then ``all``."""
    topics = scores.topics_of(run) if per_topic else {}
    for topic, values in (*topics.items(), ("all", dict(zip(scores.measures, scores.mean[run].tolist(), strict=True)))):
        yield from ((topic, measure, value) for measure, value in values.items())


def to_trec(scores: Scores, *, per_topic: bool = False, by_tag: bool = False) -> str:
    """Return trec_eval's layout, the signature first; by tag, a tag stands where ``all`` or a topic would."""
    parts = {f"tag:{tag}": part for tag, part in scores.by_tag().items()} if by_tag else {"all": scores}
    text = ""
    for together, part in parts.items():
        lines: list[tuple[str, str, object]] = []
        for number, name in enumerate(part.names):
            lines.append(("runid", together, name))
            lines += [(count, together, value) for count, value in beside(part, number).items()]
            values = _lines(part, number, per_topic=per_topic and not by_tag)
            lines += [(m, together if topic == "all" else topic, f"{value:.4f}") for topic, m, value in values]
        text += f"# {scores.signature}\n{trec(lines)}"
    return text
