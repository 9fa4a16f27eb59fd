"""Giving work out, for a lead: whole topics or documents to assessors, documents opened again, texts that changed."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for

from focuseval.assessment.plan import (
    EVERYONE,
    HOWS,
    PERSON,
    assessors,
    assign,
    give_known,
    known_units,
    mark_known,
    owners,
    pool,
    split,
)
from focuseval.assessment.reanchor import changed_texts, reanchor_all
from focuseval.assessment.store import ADJUDICATED, Key, Request
from focuseval.assessment.users import removed
from focuseval.assessment.web.desk import desk, leads_only, overseers_only, user
from focuseval.errors import FocusevalError, counted

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

work = Blueprint("work", __name__)

FLAGGED = 500
"""Flagged judgements that the page shows."""


@work.get("/work")
def given(message: str = "") -> str:
    """Show whose every topic is, or every document of one topic, and what became of it."""
    overseers_only()
    store, topic = desk().store, request.values.get("topic", "")
    if topic and topic not in desk().topics:
        abort(404, "no such topic")
    gone = removed(store)
    people = [one.name for one in assessors(store) if one.origin == PERSON and one.name not in gone]
    told = {"people": people, "hows": HOWS, "message": message}
    whose: dict[tuple[str, str], list[str]] = {}
    for owned, document, name in owners(store, topic or None):
        whose.setdefault((owned, document), []).append(name)
    if not topic:
        return render_template("work.html", topics=_topics(whose), **told)
    rows = pool(store, topic=topic)
    statuses: dict[str, list[tuple[str, str, bool]]] = {}
    for document, name, status, flagged in store.database.read().execute(
        "SELECT document, assessor, status, flagged FROM judgements WHERE topic = ? AND assessor != ? ORDER BY 1, 2",
        (topic, ADJUDICATED),
    ):
        statuses.setdefault(document, []).append((name, status, bool(flagged)))
    titles = desk().titles.of(row.document for row in rows)
    everyone = whose.get((topic, ""), [])
    known = {document: use for (one, document), use in known_units(store).items() if one == topic}
    shown = {"rows": rows, "whose": {unit[1]: names for unit, names in whose.items()}, "everyone": everyone}
    return render_template(
        "work_topic.html", topic=desk().topics[topic], statuses=statuses, titles=titles, known=known, **shown, **told
    )


def _topics(whose: dict[tuple[str, str], list[str]]) -> list[dict[str, object]]:
    """Return every topic of the pool with its size, who has all of it, and how many have documents of it."""
    sizes: dict[str, int] = {}
    for row in pool(desk().store):
        sizes[row.topic] = sizes.get(row.topic, 0) + 1
    parts: dict[str, set[str]] = {}
    for (topic, document), names in whose.items():
        if document:
            parts.setdefault(topic, set()).update(names)
    return [
        {"id": topic, "size": size, "whole": whose.get((topic, ""), []), "parts": sorted(parts.get(topic, ()))}
        for topic, size in sizes.items()
        if topic in desk().topics
    ]


@work.post("/work")
def change() -> Response | tuple[str, int]:
    """Do what the form asks for to the topics or documents that are ticked."""
    leads_only()
    act = _ACTS.get(request.form.get("do", ""))
    if act is None:
        abort(400, "no such action")
    try:
        done = act()
    except FocusevalError as error:
        return given(message=str(error)), 422
    flash(done)
    return redirect(url_for("work.given", topic=request.form.get("topic") or None))


def _units() -> list[tuple[str, str]]:
    """Return what is ticked: pairs of a topic and a document, '' for all of the topic."""
    known = {(row.topic, row.document) for row in pool(desk().store)} | {(topic, "") for topic in desk().topics}
    ticked = request.form.getlist("unit")
    if not ticked:
        abort(422, "tick what it is about first")
    named = {json.dumps(unit): unit for unit in known}
    if not set(ticked) <= named.keys():
        abort(404, "no such document in the pool")
    return [named[unit] for unit in ticked]


def _people() -> list[str]:
    known = {one.name for one in assessors(desk().store) if one.origin == PERSON}
    names = request.form.getlist("to")
    if not set(names) <= known:
        abort(404, "no such assessor")
    return names


def _assign() -> str:
    how = request.form.get("how", "")
    count = assign(desk().store, _units(), [] if how == EVERYONE else _people(), how=how, actor=user())
    give_known(desk().store, actor=user())
    return f"{counted(count, 'assignment')} changed." if count else "That was so already."


def _split() -> str:
    by = request.form.get("by", "topics")
    if by not in ("topics", "pool"):
        abort(400, "expected topics or pool")
    overlap = request.form.get("overlap", "1")
    names = _people()
    if not names or not overlap.isdecimal():
        abort(422, "choose the assessors to deal out to, and a number")
    split(desk().store, names, by=by, overlap=int(overlap), actor=user())
    give_known(desk().store, actor=user())
    return f"Dealt out to {counted(len(names), 'assessor')}."


def _reopen() -> str:
    """Open finished documents again, of all assessors or of those who are named; they see by whom, and why."""
    store, names, reason = desk().store, _people(), request.form.get("reason", "").strip()[:1000]
    requests = []
    for topic, document in _units():
        for key in store.judged_of(topic, document):
            saved = store.judgement(key)
            asked = key.assessor != ADJUDICATED and (not names or key.assessor in names)
            if asked and saved.judgement.finished:
                page, token = desk().page(document), uuid.uuid4().hex
                edit = {"kind": "reopen", "reason": reason}
                requests.append(Request(Key(*key), page, edit, saved.version, token, user()))
    store.edit_all(requests)
    return f"Open again: {counted(len(requests), 'judgement')}."


def _known() -> str:
    use = request.form.get("use", "")
    units = _units()
    mark_known(desk().store, units, use, actor=user())
    many = f"{len(units)} documents are" if len(units) != 1 else "1 document is"
    return f"{many} for {use} now." if use else f"{many} ordinary now."


_ACTS = {"assign": _assign, "split": _split, "reopen": _reopen, "known": _known}


@work.get("/flagged")
def flagged() -> str:
    """List what assessors flagged, with what they noted, newest first; of all, or of one of them or one topic."""
    overseers_only()
    name, topic = request.args.get("assessor"), request.args.get("topic")
    rows = (
        desk()
        .store.database.read()
        .execute(
            "SELECT topic, document, assessor, status, note, at FROM judgements WHERE flagged AND assessor != ?"
            " AND (? IS NULL OR assessor = ?) AND (? IS NULL OR topic = ?) ORDER BY at DESC",
            (ADJUDICATED, name, name, topic, topic),
        )
    )
    found = [row for row in rows if row["topic"] in desk().topics]
    labels = {one.name: one.label for one in assessors(desk().store)}
    titles = desk().titles.of(row["document"] for row in found[:FLAGGED])
    told = {"rows": found[:FLAGGED], "number": len(found), "labels": labels, "titles": titles}
    return render_template("flagged.html", name=name, topic=topic, **told)


@work.get("/texts")
def texts(message: str = "") -> str:
    """List the judgements whose text has changed since, with what would become of their highlights."""
    overseers_only()
    found = changed_texts(desk().store, desk().documents.plain)
    return render_template("texts.html", changed=found, message=message)


@work.post("/texts")
def move() -> Response | tuple[str, int]:
    """Move every judgement whose highlights were all found again."""
    leads_only()
    stays = request.form.get("finished") == "yes"
    try:
        moved, left = reanchor_all(desk().store, desk().documents.get, finished=stays, actor=user())
    except FocusevalError as error:
        return texts(message=str(error)), 422
    flash(f"{counted(moved, 'judgement')} moved to the new text; {left} left to their assessors.")
    return redirect(url_for("work.texts"))
