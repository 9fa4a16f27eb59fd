"""INEX runs in XML (2002–2008): elements by path, passages by offset and length, or passages between XPointers.

::

    <inex-submission participant-id="12" run-id="VSM_Aggr_06" task="Focused" query="automatic" result-type="element">
      <topic-fields title="yes" castitle="no" description="no" narrative="no"/>
      <description>…</description>
      <collections><collection>wikipedia</collection></collections>
      <topic topic-id="544">
        <result><file>9996</file><path>/article[1]/bdy[1]/sec[2]</path><rank>1</rank><rsv>0.67</rsv></result>
        <result><file>9996</file><fol offset="0" length="1234"/></result>
        <result><file>9996</file><passage start="/article[1]/p[1]/text()[1].5" end="/article[1]/p[2]"/></result>
      </topic>
    </inex-submission>

A result has one place. An XPointer is the n-th text node and an offset into it, the end exclusive; an element as the
end of a passage means its own end. The **rank** decides the ranking; without ranks the descending ``rsv`` does, ties
in file order; without either, the file order. Unknown attributes are kept, a topic's own (``topic-part``) too. A run
without any place returns whole documents; ``<fol offset="-1"/>`` declares a place unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.columns import no_number, numbers, ranked_run
from focuseval.formats.content import Source
from focuseval.formats.xml import EventReader, attributes, text

FIELDS = "topic-fields."  # how an attribute of ``<topic-fields>`` is named among the run's attributes
TOPIC = "topic["  # how an attribute of a ``<topic>`` is named there: ``topic[544].topic-part``

_COLUMNS = {"file": "document", "path": "path", "rank": "rank", "rsv": "score", "in": "in"}
"""What a result says in elements of its own: the columns of these."""
_TEXTS = frozenset({*_COLUMNS, "description", "collection"})
_OFFSET = re.compile(r"[0-9]{1,9}")
_UNKNOWN = frozenset({"-1", "X", "x"})
_ELEMENTS = frozenset({"description", "collections", "in"})


def read(source: Source) -> Run:
    """Return the run in ranking order."""
    raw = _Submission(source)
    raw.read()
    known = raw.attributes | ({"collections": "\n".join(raw.collections)} if raw.collections else {})
    run_id, task, participant = (known.pop(name, "").strip() for name in ("run-id", "task", "participant-id"))
    line, remarks = np.array([one["line"] for one in raw.results], np.int64), list[Remark]()
    columns: dict[str, Any] = {"topic": np.array([one["topic"] for one in raw.results], np.int32), "line": line}
    for name in (*_COLUMNS.values(), "end_path", "start", "end"):
        kind = pa.int64() if name in {"start", "end"} else pa.string()
        columns[name] = pa.array([one.get(name) for one in raw.results], kind)
    faults = _convert(source, columns, line, remarks)
    inside = columns.pop("in").unique().to_pylist()
    if len(inside) > 1:
        remarks.append(Remark("collections", len(inside)))
    elif inside and inside[0] is not None:
        known["in"] = inside[0]
    columns |= {name: pa.chunked_array([column]) for name, column in columns.items() if isinstance(column, pa.Array)}
    more = {"task": task, "participant": participant, "attributes": known, "remarks": tuple(remarks)}
    return ranked_run(source, run_id or source.stem, tuple(raw.topics), columns, **more, faults=tuple(faults[:1]))


def _convert(
    source: Source, columns: dict[str, Any], line: NDArray[np.int64], remarks: list[Remark]
) -> list[FormatError]:
    """Turn ranks and scores into numbers, and return the first score that is no finite one; others are refused."""
    faults = list[FormatError]()
    for name, kind, element in (("rank", "rank", "rank"), ("score", "real", "rsv")):
        texts, columns[name] = columns[name], numbers(columns[name], kind)
        unknown, wrong = (
            np.asarray(texts.is_valid()) & bad for bad in (columns[name].is_null(), ~np.isfinite(columns[name]))
        )
        for row in np.flatnonzero(unknown if unknown.any() else wrong)[:1].tolist():
            what = no_number(element, kind, texts[row].as_py())
            faults.append(FormatError(what, at=source.at(int(line[row])), remedy="correct the line"))
            if unknown.any():
                raise faults[-1]
    for name, element in (("rank", "rank"), ("score", "rsv")):
        missing = columns[name].null_count
        if not 0 < missing < len(line):
            continue
        if name == "score" and columns["rank"].null_count == 0:
            remarks.append(Remark("no rsv", missing))
            columns["score"] = pa.nulls(len(line))
            continue
        every, remedy = "result or in none", "give every result its rank, or leave all ranks out"
        if name == "score":
            every = "result, as there are no ranks"
            remedy = "give every result its rsv, or leave all out: the file order is then the ranking"
        at = source.at(int(line[pc.index(columns[name].is_null(), pa.scalar(True)).as_py()]))
        raise FormatError(f"expected a <{element}> in every {every}, found a result without", at=at, remedy=remedy)
    return faults


@dataclass
class _Submission(EventReader):
    """A submission as it is read by events; numbers are converted later, a column at a time.

    A result has six tags and more, so that little is done at each: text goes straight into a list.
    """

    attributes: dict[str, str] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)
    collections: list[str] = field(default_factory=list)
    topic: int | None = None
    result: dict[str, Any] | None = None  # the result that is being read
    text: list[str] = field(default_factory=list)

    REMEDY: ClassVar[str] = "correct the result"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parser.CharacterDataHandler = self.text.append

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _TEXTS:
            self.text.clear()
        elif name == "result":
            if self.topic is None:
                raise self.error("expected <result> inside <topic>, found it outside")
            self.result = {"topic": self.topic, "line": self.parser.CurrentLineNumber}
        elif name == "fol":
            self.place(name, self.span(attributes))
        elif name == "passage":
            start, end = (self.need(attributes, edge, name) for edge in ("start", "end"))
            self.place(name, {"path": start, "end_path": end})
        elif name == "topic":
            topic = self.need(attributes, "topic-id", name)
            self.topic = self.topics.setdefault(topic, len(self.topics))
            said = {f"{TOPIC}{topic}].{key}": value for key, value in attributes.items() if key != "topic-id"}
            self.attributes.update(said)
        elif name == "inex-submission":
            self.attributes.update(attributes)
        elif name == "topic-fields":
            self.attributes.update({f"{FIELDS}{key}": value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        result = self.result
        if result is not None and name in _COLUMNS:
            column = _COLUMNS[name]
            if name == "path":
                self.place(name, {})
            elif column in result:
                raise self.error(f"expected one <{name}> in a result, found two")
            result[column] = "".join(self.text).strip()
        elif result is not None and name == "result":
            if not result.get("document"):
                raise self.error("expected a <file> in the result, found none")
            self.results.append(result)
            self.result = None
        elif name == "topic":
            self.topic = None
        elif result is None and name == "description":
            self.attributes.setdefault("description", "".join(self.text).strip())
        elif result is None and name == "collection" and (said := "".join(self.text).strip()) not in self.collections:
            self.collections.append(said)

    def place(self, element: str, values: dict[str, Any]) -> None:
        """Set the place of the open result."""
        if self.result is None:
            raise self.error(f"expected <{element}> inside <result>, found it outside")
        if "path" in self.result or "start" in self.result:
            raise self.error(f"expected one place in a result, found <{element}> besides another")
        self.result.update(values)

    def span(self, attributes: dict[str, str]) -> dict[str, int]:
        """Return the span of a <fol>; without a length it is an entry point, at −1 or X it is unknown."""
        offset, length = self.need(attributes, "offset", "fol"), attributes.get("length")
        if offset in _UNKNOWN:
            return {"start": -1, "end": -1}
        for value in (offset, "0" if length is None else length):
            if not _OFFSET.fullmatch(value.strip()):
                raise self.error(f"expected an offset and a length that are not negative, found {value!r}")
        start = int(offset)
        return {"start": start, "end": -1 if length is None else start + int(length)}


def write(run: Run) -> Iterator[bytes]:
    """Yield the submission."""
    own = {k: v for k, v in run.attributes.items() if not k.startswith((FIELDS, TOPIC)) and k not in _ELEMENTS}
    head = {"participant-id": run.participant or None, "run-id": run.run_id, "task": run.task or None, **own}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<inex-submission{attributes(head)}>"]
    fields = {k.removeprefix(FIELDS): v for k, v in run.attributes.items() if k.startswith(FIELDS)}
    if fields:
        lines.append(f"  <topic-fields{attributes(fields)}/>")
    if "description" in run.attributes:
        lines.append(f"  <description>{text(run.attributes['description'])}</description>")
    if "collections" in run.attributes:
        named = run.attributes["collections"].split("\n")
        inner = "".join(f"<collection>{text(name)}</collection>" for name in named)
        lines.append(f"  <collections>{inner}</collections>")
    yield "\n".join([*lines, ""]).encode()
    said: dict[str, dict[str, Any]] = {}  # the attributes that topics have besides their id
    for key, value in run.attributes.items():
        if key.startswith(TOPIC):
            topic, _, name = key.removeprefix(TOPIC).rpartition("].")
            said.setdefault(topic, {})[name] = value
    for code, topic in enumerate(run.topics):
        first, last = run.bounds[code], run.bounds[code + 1]
        rows = "".join(_results(run, int(first), int(last)))
        yield f"  <topic{attributes({'topic-id': topic, **said.get(topic, {})})}>\n{rows}  </topic>\n".encode()
    yield b"</inex-submission>\n"


def _results(run: Run, first: int, last: int) -> Iterator[str]:
    """Yield a line for every result of one topic."""
    size = last - first
    unplaced = "" if run.start is None and run.path is None else '<fol offset="-1"/>'
    collection = f"<in>{text(run.attributes['in'])}</in>" if "in" in run.attributes else ""

    def values(column: Any, missing: Any = None) -> list[Any]:
        if column is None:
            return [missing] * size
        return list(column[first:last].tolist() if isinstance(column, np.ndarray) else column[first:last].to_pylist())

    places = zip(values(run.path), values(run.end_path), values(run.start, -1), values(run.end, -1), strict=True)
    ranked = zip(values(run.rank), values(run.score), strict=True)
    for name, (path, to, start, end), (rank, score) in zip(values(run.document), places, ranked, strict=True):
        if to is not None:
            place = f"<passage{attributes({'start': path, 'end': to})}/>"
        elif path is not None:
            place = f"<path>{text(path)}</path>"
        elif start < 0:
            place = unplaced
        else:
            place = f"<fol{attributes({'offset': start, 'length': None if end < 0 else end - start})}/>"
        where = f"<rank>{rank}</rank>" if rank is not None else ""
        rsv = f"<rsv>{score!r}</rsv>" if score is not None else ""
        yield f"    <result>{collection}<file>{text(name)}</file>{place}{where}{rsv}</result>\n"
