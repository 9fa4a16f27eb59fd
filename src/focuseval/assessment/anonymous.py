"""A project's log without the names of its people: a1, a2 … in the order in which they first judged something.

The same name becomes the same one everywhere: whose judgement it is, who acted, who was given work, who was invited. In
what people wrote (notes, reasons, guidelines) names are replaced where they stand as whole words, in capitals or not.
Language models keep their labels, and so do the decisions, which are nobody's. Texts, topics and runs stay as they are.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from focuseval.assessment.plan import MODEL_PREFIX
from focuseval.assessment.users import RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from focuseval.assessment.rules import Edit
    from focuseval.assessment.store import Store

_NAMED = ("actor", "assessor")
_GIVEN = ("assign", "reassign")
"""Events whose rows are of a topic, a document and an assessor."""


def pseudonyms(store: Store) -> dict[str, str]:
    """Return everybody's name → what stands for it: those who judged first, then whoever else is in the log."""
    judged: dict[str, None] = {}
    found: dict[str, None] = {}
    for event in store.events():
        if event["assessor"]:
            judged[str(event["assessor"])] = None
        edit: Any = event["edit"]
        told = [event[name] for name in _NAMED] + ([edit["name"]] if not event["assessor"] and "name" in edit else [])
        given = [row[2] for part in ("rows", "add", "remove") for row in edit.get(part, ()) if edit["kind"] in _GIVEN]
        found |= dict.fromkeys(str(name) for name in (*told, *given))
    people = [name for name in judged | found if name and name not in RESERVED and not name.startswith(MODEL_PREFIX)]
    return {name: f"a{number}" for number, name in enumerate(people, 1)}


def without_names(lines: Iterable[str], names: Mapping[str, str]) -> Iterator[str]:
    """Return the lines of an export of everything with other names in it."""
    longest_first = sorted(names, key=len, reverse=True)
    anyone = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"(?<!\w)(?:{anyone})(?!\w)", re.IGNORECASE) if names else None
    spelt = {name.casefold(): names[name] for name in reversed(list(names))}

    def reworded(text: str) -> str:
        return pattern.sub(lambda match: spelt.get(match[0].casefold(), "?"), text) if pattern else text

    for number, line in enumerate(lines):
        value = json.loads(line)
        if "event" in value:
            event = value["event"]
            told = {name: names.get(event[name], event[name]) for name in _NAMED}
            edit = _edit(event["edit"], names, reworded)
            value["event"] = {**event, **told, "edit": edit, "key": f"event-{number}"}
        elif "judgement" in value:
            value["judgement"] = _judgement(value["judgement"], names, reworded)
        yield json.dumps(value, ensure_ascii=False) + "\n"


def _judgement(judgement: dict[str, Any], names: Mapping[str, str], reworded: Callable[[str], str]) -> dict[str, Any]:
    named = {"assessor": names.get(judgement["assessor"], judgement["assessor"])} if "assessor" in judgement else {}
    return {**judgement, **named, "note": reworded(judgement["note"])}


def _edit(edit: Edit, names: Mapping[str, str], reworded: Callable[[str], str]) -> Edit:
    """Return an event's edit with other names in it; files and folders of the computer are left out."""
    told = dict(edit)
    for field in ("text", "reason"):
        if isinstance(told.get(field), str):
            told[field] = reworded(told[field])
    if "name" in told:
        told["name"] = names.get(told["name"], told["name"])
    if told["kind"] in _GIVEN:
        for part in {"rows", "add", "remove"} & told.keys():
            told[part] = [[topic, document, names.get(name, name)] for topic, document, name in told[part]]
    if "judgement" in told:
        told["judgement"] = _judgement(told["judgement"], names, reworded)
    if isinstance(told.get("source"), dict):
        told["source"] = _source(told["source"], names)
    if told["kind"] == "assessor":
        told["source"] = ""
    if told["kind"] == "restore":
        told |= {"from": "", "kept": ""}
    return told


def _source(source: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return where a judgement came from: whose judgements it was made of, but no file of the computer."""
    kept = {name: value for name, value in source.items() if name != "file"}
    return {**kept, "of": sorted(names.get(name, name) for name in source["of"])} if "of" in source else kept
