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

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.columns import ARROW, FAR, checked, column_array, no_number, number, numbers
from focuseval.formats.content import source_of
from focuseval.formats.ranking import ranked
from focuseval.formats.xml import EventReader, attributes, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.formats.content import Source

FIELDS = "topic-fields."
"""How an attribute of ``<topic-fields>`` is named among the run's attributes."""
TOPIC = "topic["
"""How an attribute of a ``<topic>`` is named there: ``topic[544].topic-part``."""

_COLUMNS = {
    "document": "text", "path": "text", "rank": "rank", "score": "real", "start": "int", "end": "int",
    "end_path": "text", "in": "text", "line": "int",
}  # fmt: skip
"""What a result says, and its line: the kinds of its columns."""
_NUMPY: dict[str, Any] = {"int": np.int64, "rank": np.int32, "real": np.float64}


def read(source: Source) -> Run:
    """Return the run in ranking order: an ordinary file by a pattern, any other by expat events."""
    return build(source, read_ordinary(source) or read_events(source))


def build(source: Source, raw: Submission) -> Run:
    """Return the run that a submission describes, in ranking order."""
    known = dict(raw.attributes)
    run_id, task, participant = (known.pop(name, "").strip() for name in ("run-id", "task", "participant-id"))
    columns: dict[str, Any] = {
        name: pa.chunked_array([column if isinstance(column, pa.Array) else pa.array(column, ARROW[_COLUMNS[name]])])
        for name, column in raw.columns.items()
    }

    def first_without(name: str) -> Any:
        return source.at(columns["line"][pc.index(columns[name].is_null(), pa.scalar(True)).as_py()].as_py())

    ranks, scores, remarks = columns["rank"], columns["score"], list[Remark]()
    if 0 < ranks.null_count < len(ranks):
        what = "expected a <rank> in every result or in none, found a result without"
        raise FormatError(what, at=first_without("rank"), remedy="give every result its rank, or leave all ranks out")
    if 0 < scores.null_count < len(scores):
        if ranks.null_count:
            what = "expected a <rsv> in every result, as there are no ranks, found a result without"
            remedy = "give every result its rsv, or leave all out: the file order is then the ranking"
            raise FormatError(what, at=first_without("score"), remedy=remedy)
        remarks.append(Remark("no rsv", scores.null_count))
        columns["score"] = scores.filter(pa.array([False] * len(scores)))
    for name, column in columns.items():
        if column.null_count == len(column) and name not in {"document", "line"}:
            columns[name] = None
        elif (kind := _COLUMNS[name]) != "text":
            columns[name] = column_array(column.fill_null(-1) if name in {"start", "end"} else column, _NUMPY[kind])
    columns = ranked(columns | {"topic": np.asarray(raw.topic, np.int32)})
    inside = columns.pop("in")
    if inside is not None:
        names = inside.unique().to_pylist()
        known |= {"in": names[0]} if len(names) == 1 else {}
        remarks += [] if len(names) == 1 else [Remark("collections", len(names))]
    return Run(
        run_id or source.stem,
        tuple(raw.topics),
        **columns,
        file=source.name,
        task=task,
        participant=participant,
        sha256=source.digest(),
        attributes=known,
        remarks=tuple(remarks),
        faults=tuple(raw.faults[:1]),
    )


_OFFSET = re.compile(r"[0-9]{1,9}")
_UNKNOWN = frozenset({"-1", "X", "x"})
_TEXTS = frozenset({"file", "path", "rank", "rsv", "in", "description", "collection"})


@dataclass
class Submission(EventReader):
    """A submission as it is read by events: lists of raw columns, None where a result does not say."""

    attributes: dict[str, str] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    topic: Any = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=lambda: {name: [] for name in _COLUMNS})
    faults: list[FormatError] = field(default_factory=list)
    """Scores that are no finite numbers."""
    open_topic: int | None = None
    result: dict[str, Any] | None = None
    """The result that is being read."""
    text: list[str] | None = None
    collections: list[str] = field(default_factory=list)

    REMEDY: ClassVar[str] = "correct the result"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a start tag."""
        if name == "inex-submission":
            self.attributes.update(attributes)
        elif name == "topic-fields":
            self.attributes.update({f"topic-fields.{key}": value for key, value in attributes.items()})
        elif name == "topic":
            topic = self.need(attributes, "topic-id", name)
            self.open_topic = self.topics.setdefault(topic, len(self.topics))
            said = {f"topic[{topic}].{key}": value for key, value in attributes.items() if key != "topic-id"}
            self.attributes.update(said)
        elif name == "result":
            if self.open_topic is None:
                raise self.error("expected <result> inside <topic>, found it outside")
            self.result = {"line": self.parser.CurrentLineNumber}
        elif name == "fol":
            self.place(name, self.span(attributes))
        elif name == "passage":
            self.place(
                name, {"path": self.need(attributes, "start", name), "end_path": self.need(attributes, "end", name)}
            )
        self.text = [] if name in _TEXTS else None

    def end(self, name: str) -> None:
        """Take in an end tag."""
        value = "".join(self.text).strip() if self.text is not None else ""
        self.text = None
        if name == "topic":
            self.open_topic = None
        elif name == "result" and self.result is not None:
            self.close()
        elif name in _TEXTS and self.result is not None:
            self.say(name, value)
        elif name == "description":
            self.attributes.setdefault("description", value)
        elif name == "collection" and value not in self.collections:
            self.collections.append(value)

    def characters(self, data: str) -> None:
        """Take in text."""
        if self.text is not None:
            self.text.append(data)

    def say(self, name: str, value: str) -> None:
        """Take in one fact about the open result."""
        if name == "path":
            self.place(name, {"path": value})
        elif name == "rank":
            self.put(name, "rank", checked(self.at(), "rank", "rank", value))
        elif name == "rsv":
            score = number(value, "real")
            if score is None or not math.isfinite(score):
                error = FormatError(no_number("rsv", "real", value), at=self.at(), remedy="correct the line")
                if score is None:
                    raise error
                self.faults.append(error)
            self.put(name, "score", score)
        elif name in {"file", "in"}:
            self.put(name, "document" if name == "file" else "in", value)

    def put(self, element: str, column: str, value: Any) -> None:
        """Set a value that a result says once."""
        if self.result is None:
            raise self.error(f"expected <{element}> inside <result>, found it outside")
        if column in self.result:
            raise self.error(f"expected one <{element}> in a result, found two")
        self.result[column] = value

    def place(self, element: str, values: dict[str, Any]) -> None:
        """Set the place of the open result."""
        if self.result is not None and {"path", "start"} & self.result.keys():
            raise self.error(f"expected one place in a result, found <{element}> besides another")
        for column, value in values.items():
            self.put(element, column, value)

    def span(self, attributes: dict[str, str]) -> dict[str, int]:
        """Return the span of a <fol>; without a length it is an entry point, at −1 or X it is unknown."""
        offset, length = self.need(attributes, "offset", "fol"), attributes.get("length")
        if offset in _UNKNOWN:
            return {"start": -1, "end": -1}
        for value in (offset, length or "0"):
            if not _OFFSET.fullmatch(value.strip()):
                raise self.error(f"expected an offset and a length that are not negative, found {value!r}")
        start = int(offset)
        return {"start": start, "end": -1 if length is None else start + int(length)}

    def close(self) -> None:
        """File the open result among the columns."""
        result = self.result or {}
        if not result.get("document"):
            raise self.error("expected a <file> in the result, found none")
        self.topic.append(self.open_topic)
        for name, column in self.columns.items():
            column.append(result.get(name))
        self.result = None


def read_events(source: Source) -> Submission:
    """Return what a submission says, in file order."""
    raw = Submission(source)
    try:
        raw.read()
    except FormatError as error:
        raise (raw.faults or [error])[0] from None
    if raw.collections:
        raw.attributes["collections"] = "\n".join(raw.collections)
    return raw


_CHILD = re.compile(
    rb"<(in|file|path|rank|rsv)>[^<>&]+</\1>\s*"
    rb'|<(fol) offset="[0-9]+" length="[0-9]+"/>\s*|<(passage) start="[^"<>&]+" end="[^"<>&]+"/>\s*'
)
_CHILDREN = {
    b"in": (rb"<in>([^<>&\s]+)</in>", ("in",)),
    b"file": (rb"<file>([^<>&\s]+)</file>", ("document",)),
    b"path": (rb"<path>([^<>&\s]+)</path>", ("path",)),
    b"rank": (rb"<rank>([^<>&\s]+)</rank>", ("rank",)),
    b"rsv": (rb"<rsv>([^<>&\s]+)</rsv>", ("score",)),
    b"fol": (rb'<fol offset="([^"<>&\s]+)" length="([^"<>&\s]+)"/>', ("start", "end")),
    b"passage": (rb'<passage start="([^"<>&\s]+)" end="([^"<>&\s]+)"/>', ("path", "end_path")),
}
"""The children of a result: a pattern, and the columns that its groups fill."""
_TOPIC = re.compile(rb'<topic topic-id="([^"<&>\s]+)">')
_RESULT = re.compile(rb"<result>\s*(.*?)</result>", re.DOTALL)
_ENCODING = re.compile(rb'\A<\?xml[^>]*?encoding\s*=\s*["\'](?!utf-8["\']|us-ascii["\'])', re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*>")


def read_ordinary(source: Source) -> Submission | None:
    """Return what a submission says, in file order, by a pattern made of its first result; None where it does not fit.

    Expat's events call Python at every tag; the pattern is four to five times as fast (`benchmarks/bench_read.py`), and
    the compiled handlers of the collection keep neither attributes nor lines. expat (without handlers) vouches for
    well-formedness. A file is ordinary if it is UTF-8, its results have no references, and topics and results account
    for every tag behind the header.
    """
    data = source.data[:]
    first = _TOPIC.search(data)
    result = _RESULT.search(data, first.end()) if first else None
    children = [name for child in _CHILD.findall(result[1]) for name in child if name] if result else []
    if not first or not result or not _is_ordinary(data, first.start(), children):
        return None
    between = rb"\s*".join((b"<result>", *(_CHILDREN[name][0] for name in children), b"</result>"))
    found = re.findall(between, data[first.start() :])
    begins, closed = (
        np.array([match.start() for match in re.finditer(tag, data)], np.int64) for tag in (b"<result>", b"</topic>")
    )
    topics = list(_TOPIC.finditer(data, first.start()))
    opened = np.array([topic.start() for topic in topics])
    tags = len(found) * result[0].count(b"<") + 2 * len(topics) + 1
    if data.count(b"<", first.start()) != tags or len(begins) != len(found) or len(opened) != len(closed):
        return None
    block = np.searchsorted(opened, begins) - 1
    if (opened > closed).any() or (opened[1:] < closed[:-1]).any() or (begins > closed[block]).any():
        return None
    EventReader(source).read()
    raw = read_events(source_of(data[: first.start()] + b"</inex-submission>", source.name))
    names = [name for child in children for name in _CHILDREN[child][1]]
    values = dict(zip(names, zip(*found, strict=True) if len(names) > 1 else (found,), strict=True))
    raw.columns = {name: pa.nulls(len(found), ARROW[kind]) for name, kind in _COLUMNS.items()}
    for name, column in values.items():
        kind, texts = _COLUMNS[name], pa.array(column, pa.binary()).cast(pa.string())
        raw.columns[name] = texts if kind == "text" else numbers(texts, kind)
        if raw.columns[name].null_count or (kind == "real" and not np.isfinite(raw.columns[name]).all()):
            return None
    if "end" in values:
        start, length = (raw.columns[name].to_numpy() for name in ("start", "end"))
        if max(start.max(), length.max()) >= FAR:
            return None
        raw.columns["end"] = pa.array(start + length)
    newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    raw.columns["line"] = pa.array(np.searchsorted(newlines, begins) + 1)
    codes = [raw.topics.setdefault(topic[1].decode(), len(raw.topics)) for topic in topics]
    raw.topic = np.array(codes, np.int32)[block]
    return raw


def _is_ordinary(data: bytes, header: int, children: list[bytes]) -> bool:
    """Whether a file is UTF-8, its header without comments and sections, its results as usual and without references.

    Lines end with a newline: expat counts others, too.
    """
    places = [name for name in children if name in {b"path", b"fol", b"passage"}]
    usual = b"file" in children and len(places) <= 1 and len(set(children)) == len(children)
    marks = data.count(b"<!", 0, header) - bool(_DOCTYPE.search(data, 0, header))
    plain = b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")
    return usual and plain and not marks and data.find(b"&", header) < 0 and not _ENCODING.match(data[:200])


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


_ELEMENTS = frozenset({"description", "collections", "in"})


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
