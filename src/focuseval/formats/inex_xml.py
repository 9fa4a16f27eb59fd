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

from typing import TYPE_CHECKING, Any

from focuseval.formats import xml_fast, xml_slow
from focuseval.formats.xml import attributes, text
from focuseval.formats.xml_run import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.data.run import Run
    from focuseval.formats.source import Source

FIELDS = "topic-fields."
"""How an attribute of ``<topic-fields>`` is named among the run's attributes."""
TOPIC = "topic["
"""How an attribute of a ``<topic>`` is named there: ``topic[544].topic-part``."""


def read(source: Source) -> Run:
    """Return the run in ranking order: an ordinary file by patterns, any other by expat events."""
    return build(source, xml_fast.read(source) or xml_slow.read(source))


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
    said = _said_of_topics(run)
    for code, topic in enumerate(run.topics):
        first, last = run.bounds[code], run.bounds[code + 1]
        rows = "".join(_results(run, int(first), int(last)))
        yield f"  <topic{attributes({'topic-id': topic, **said.get(topic, {})})}>\n{rows}  </topic>\n".encode()
    yield b"</inex-submission>\n"


def _said_of_topics(run: Run) -> dict[str, dict[str, Any]]:
    """Return the attributes that topics have besides their id."""
    said: dict[str, dict[str, Any]] = {}
    for key, value in run.attributes.items():
        if key.startswith(TOPIC):
            topic, _, name = key.removeprefix(TOPIC).rpartition("].")
            said.setdefault(topic, {})[name] = value
    return said


_ELEMENTS = frozenset({"description", "collections", "in"})


def _results(run: Run, first: int, last: int) -> Iterator[str]:
    """Yield a line for every result of one topic."""
    size = last - first
    unplaced = "" if run.start is None and run.path is None else '<fol offset="-1"/>'
    collection = f"<in>{text(run.attributes['in'])}</in>" if "in" in run.attributes else ""
    rank = run.rank[first:last].tolist() if run.rank is not None else [None] * size
    score = run.score[first:last].tolist() if run.score is not None else [None] * size
    start = run.start[first:last].tolist() if run.start is not None else [-1] * size
    end = run.end[first:last].tolist() if run.end is not None else [-1] * size
    path, to = (
        column.slice(first, size).to_pylist() if column is not None else [None] * size
        for column in (run.path, run.end_path)
    )
    document = run.document.slice(first, size).to_pylist()
    for row, name in enumerate(document):
        place = _place(path[row], to[row], start[row], end[row], unplaced)
        where = f"<rank>{rank[row]}</rank>" if rank[row] is not None else ""
        rsv = f"<rsv>{score[row]!r}</rsv>" if score[row] is not None else ""
        yield f"    <result>{collection}<file>{text(name)}</file>{place}{where}{rsv}</result>\n"


def _place(path: str | None, to: str | None, start: int, end: int, unplaced: str) -> str:
    if to is not None:
        return f"<passage{attributes({'start': path, 'end': to})}/>"
    if path is not None:
        return f"<path>{text(path)}</path>"
    if start < 0:
        return unplaced
    return f"<fol{attributes({'offset': start, 'length': None if end < 0 else end - start})}/>"
