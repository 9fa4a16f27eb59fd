"""INEX assessments in XML (2002–2004): graded elements, a topic a file.

::

    <assessments pool='41' topic='162'>
      <file file='co/2000/r7023'>
        <path path='/article[1]' exhaustiveness='2' specificity='1' inferred='true' inpool='true'/>
      </file>
    </assessments>

2002 grades ``relevance`` (0–3) and ``coverage`` (N no, L too large, S too small, E exact); 2003 and 2004 grade
``exhaustiveness`` and ``specificity`` (0–3). ``U`` or a missing grade means not assessed. Coverage is
kept as 0, 1, 2, 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.gold import NOT_ASSESSED, UNKNOWN
from focuseval.errors import FormatError
from focuseval.formats.judgements import Judgements
from focuseval.formats.xml import AssessmentReader, attributes, read_each, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.data.gold import Gold
    from focuseval.formats.source import Source

_GRADES = {"0": 0, "1": 1, "2": 2, "3": 3, "U": NOT_ASSESSED, "u": NOT_ASSESSED, "": NOT_ASSESSED}
_COVERAGE = {"N": 0, "L": 1, "S": 2, "E": 3, "U": NOT_ASSESSED, "u": NOT_ASSESSED, "": NOT_ASSESSED}
_FLAG = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


@dataclass
class GradesReader(AssessmentReader):
    """The state of one pass over one file; `scales` gathers the kinds of grades met."""

    scales: set[str] = field(default_factory=set)
    relevant: bool = False
    line: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a start tag."""
        if name == "assessments":
            self.open_topic(attributes)
        elif name == "file":
            self.open_document(attributes, "file", "name")
            self.line, self.relevant = self.parser.CurrentLineNumber, False
        elif name == "path":
            self.path(attributes)

    def end(self, name: str) -> None:
        """Take in an end tag."""
        if name == "file" and self.pair is not None:
            unknown = (UNKNOWN, UNKNOWN, UNKNOWN, None)
            self.rows.articles.append((*self.pair, int(self.relevant), *unknown, self.line, self.code))
            self.pair = None

    def path(self, attributes: dict[str, str]) -> None:
        """Take in a graded element."""
        if self.pair is None:
            raise self.error("expected <path> inside <file>, found it outside")
        early = attributes.keys() & {"relevance", "coverage"}
        if early or attributes.keys() & {"exhaustiveness", "specificity"}:
            self.scales.add("coverage" if early else "grades")
        first, second = ("relevance", "coverage") if early else ("exhaustiveness", "specificity")
        grade = self.grade(attributes, first, _GRADES)
        fit = self.grade(attributes, second, _COVERAGE if early else _GRADES)
        flags = tuple(self.flag(attributes, name) for name in ("inferred", "inpool"))
        self.relevant |= grade > 0
        self.rows.elements.append((*self.pair, self.need(attributes, "path"), grade, fit, UNKNOWN, UNKNOWN, *flags))

    def grade(self, attributes: dict[str, str], name: str, known: dict[str, int]) -> int:
        """Return a grade; a missing one is not assessed."""
        value = attributes.get(name, "").strip()
        if value not in known:
            expected = ", ".join(key for key in known if key and key != "u")
            raise self.error(f"expected {name} to be one of {expected}, found {value!r}")
        return known[value]

    def flag(self, attributes: dict[str, str], name: str) -> bool | None:
        """Return true, false or None."""
        value = attributes.get(name)
        if value is not None and value.strip().lower() not in _FLAG:
            raise self.error(f"expected {name} to be true or false, found {value!r}")
        return None if value is None else _FLAG[value.strip().lower()]


def read(sources: Sequence[Source]) -> Gold:
    """Return the assessments of one file, or of a folder of them."""
    rows, scales = Judgements(), set[str]()
    for reader in read_each(sources, rows, partial(GradesReader, scales=scales)):
        if len(scales) > 1:
            raise FormatError(
                "expected grades of one year, found coverage and specificity together",
                at=reader.source.name,
                remedy="keep golds of different years in different folders",
            )
    return rows.gold(sources, next(iter(scales), "grades"))


def write(gold: Gold) -> Iterator[bytes]:
    """Yield the assessments, a topic after another."""
    e, early = gold.elements, gold.scale == "coverage"
    names = ("relevance", "coverage") if early else ("exhaustiveness", "specificity")
    paths, marks = e.path.to_pylist(), (("inferred", e.inferred), ("inpool", e.inpool))

    def grade(value: int) -> str:
        return "U" if value < 0 else str(value)

    def write_topic(code: int, topic: str) -> Iterator[bytes]:
        yield f"<assessments{attributes({'topic': topic, **gold.attributes.get(topic, {})})}>\n".encode()
        graded: dict[int, list[str]] = {}
        for row in np.flatnonzero(e.topic == code).tolist():
            fit = int(e.specificity[row])
            second = "NLSE"[fit] if early and fit >= 0 else grade(fit)
            said = {"path": paths[row], names[0]: grade(int(e.exhaustivity[row])), names[1]: second}
            said |= {name: str(bool(flags[row])).lower() for name, flags in marks if flags is not None}
            graded.setdefault(int(e.document[row]), []).append(f"    <path{attributes(said)}/>\n")
        for document in gold.articles.document[gold.articles.topic == code].tolist():
            head = attributes({"file": gold.documents[document].as_py()})
            yield f"  <file{head}>\n{''.join(graded.get(document, []))}  </file>\n".encode()

    return wrapped(gold, write_topic)
