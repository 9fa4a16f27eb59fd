"""The campaign at a glance; giving work out: topics or documents to assessors, documents opened again; and people."""

from __future__ import annotations

import json
from collections import Counter

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from focuseval.assessment import plan
from focuseval.assessment import users as accounts
from focuseval.assessment.adjudication import DECIDED
from focuseval.assessment.check import changed_texts, reanchor_all
from focuseval.assessment.progress import Work, summed
from focuseval.assessment.rules import FINISHED, SKIPPED
from focuseval.assessment.store import ADJUDICATED, Request
from focuseval.assessment.web.desk import desk, leads_only, overseers_look_leads_change, shown_again, user, whole_number
from focuseval.errors import FocusevalError, counted

dashboard, work, people = (Blueprint(name, __name__) for name in ("dashboard", "work", "people"))
dashboard.before_request(overseers_look_leads_change)
work.before_request(overseers_look_leads_change)
people.before_request(leads_only)

CELLS = 3_000  # assessors times topics up to which the page draws all of them
FLAGGED = 500  # flagged judgements that the page shows
SHOWN = 50  # steps of the log that the page shows


@dashboard.get("/dashboard")
def campaign() -> str:
    """Show the sums of every assessor and of every topic, or the rows of one of them."""
    store = desk().store
    rows, apart = desk().overview.rows(), plan.machines(store)
    name, topic = request.args.get("assessor"), request.args.get("topic")
    if name is not None or topic is not None:
        rows = [row for row in rows if name in (None, row.assessor) and topic in (None, row.topic)]
        if not rows:
            abort(404, "nobody has anything to do here")
    split = Counter(unit[0] for unit, names in desk().overview.disagreed().items() if name is None or name in names)
    others = summed([row for row in rows if row.assessor in apart], "assessor") if name is None else []
    rows = [row for row in rows if row.assessor not in apart or row.assessor == name]
    by_assessor, by_topic = summed(rows, "assessor"), summed(rows, "topic")
    by_topic = [row._replace(disagreed=split[row.topic]) for row in by_topic]  # documents, not judgements
    grid: dict[str, dict[str, Work]] = {}
    for row in rows:
        grid.setdefault(row.assessor, {})[row.topic] = row
    return render_template(
        "dashboard.html",
        whole=(whole := (summed(by_topic, "") or [Work()])[0]),
        step=_step(whole) if desk().access.leads(user()) else None,
        others=others,
        found=sum(topic in (None, unit[0]) and name in (None, who) for unit, who in plan.found_units(store).items()),
        by_assessor=by_assessor if name is None else [],
        by_topic=by_topic if topic is None else [],
        grid=grid if name is None and topic is None and 1 < len(by_assessor) * len(by_topic) <= CELLS else {},
        name=name,
        topic=topic,
        labels=plan.labels(store),
        roles=plan.roles(store),
        removed=accounts.removed(store),
        seen={**desk().overview.last, **desk().seen},
    )


def _step(whole: Work) -> tuple[str, str] | None:
    """Return where a lead goes next, and to do what; None when nothing waits for a lead."""
    store = desk().store
    undecided = sum(one.state != DECIDED for one in desk().shared.documents())
    query = """
SELECT assessor FROM judgements AS own WHERE flagged AND NOT EXISTS (SELECT 1 FROM judgements
    WHERE topic = own.topic AND document = own.document AND assessor = ? AND status IN (?, ?))"""
    apart = plan.machines(store)
    flagged = sum(name not in apart for (name,) in store.rows(query, (ADJUDICATED, *FINISHED)))
    steps = (
        (not desk().pool()[1].documents, "/pool", "pool runs, so that there are documents to judge"),
        (not store.project_events("guidelines"), "/guidelines", "write guidelines for the assessors"),
        (desk().access.users is not None and len(plan.people(store)) < 2, "/people", "invite people"),
        (not whole.total and not whole.done, "/work", "give the work out"),
        (bool(undecided), "/adjudicate", f"decide {counted(undecided, 'document')} that several have finished"),
        (bool(flagged), "/flagged", f"decide about {counted(flagged, 'flagged judgement')}"),
        (0 < whole.total <= whole.done, "/exchange", "export the gold, or archive the collection"),
    )
    return next(((address, what) for open_, address, what in steps if open_), None)


@work.get("/work")
def given(message: str = "") -> str:
    """Show whose every topic is, or every document of one topic, and what became of it."""
    store, topic = desk().store, request.values.get("topic", "")
    if topic and topic not in desk().topics:
        abort(404, "no such topic")
    gone = accounts.removed(store)
    shown = {"people": [name for name in plan.people(store) if name not in gone], "hows": plan.HOWS, "message": message}
    whose: dict[tuple[str, str], list[str]] = {}
    for owned, document, name in plan.owners(store, topic or None):
        whose.setdefault((owned, document), []).append(name)
    if not topic:
        sizes, parts = Counter(row.topic for row in plan.pool(store)), dict[str, set[str]]()
        for (owned, document), names in whose.items():
            parts.setdefault(owned, set()).update(names if document else ())
        topics = [
            {"id": one, "size": size, "whole": whose.get((one, ""), []), "parts": sorted(parts.get(one, ()))}
            for one, size in sizes.items()
            if one in desk().topics
        ]
        return render_template("work.html", topics=topics, **shown)
    rows = plan.pool(store, topic=topic)
    statuses: dict[str, list[tuple[str, str, bool]]] = {}
    query = "SELECT document, assessor, status, flagged FROM judgements WHERE topic = ? AND assessor != ? ORDER BY 1, 2"
    for document, name, status, flagged in store.rows(query, (topic, ADJUDICATED)):
        statuses.setdefault(document, []).append((name, status, bool(flagged)))
    return render_template(
        "work_topic.html",
        topic=desk().topics[topic],
        rows=rows,
        statuses=statuses,
        titles=desk().documents.titles(row.document for row in rows),
        known={document: use for (one, document), use in plan.known_units(store).items() if one == topic},
        whose={unit[1]: names for unit, names in whose.items()},
        everyone=whose.get((topic, ""), []),
        **shown,
    )


@work.post("/work")
@shown_again(given)
def change() -> Response:
    """Do what the form asks for to the topics or documents that are ticked."""
    act = _ACTS.get(request.form.get("do", ""))
    if act is None:
        abort(400, "no such action")
    flash(act())
    return redirect(url_for("work.given", topic=request.form.get("topic") or None))


def _units() -> list[tuple[str, str]]:
    """Return what is ticked: pairs of a topic and a document, '' for all of the topic."""
    known = {(row.topic, row.document) for row in plan.pool(desk().store)} | {(topic, "") for topic in desk().topics}
    ticked = request.form.getlist("unit")
    if not ticked:
        abort(422, "tick what it is about first")
    named = {json.dumps(unit): unit for unit in known}
    if not set(ticked) <= named.keys():
        abort(404, "no such document in the pool")
    return [named[unit] for unit in ticked]


def _people() -> list[str]:
    names = request.form.getlist("to")
    if not set(names) <= set(plan.people(desk().store)):
        abort(404, "no such assessor")
    return names


def _assign() -> str:
    how = request.form.get("how", "")
    count = plan.assign(desk().store, _units(), [] if how == plan.EVERYONE else _people(), how=how, actor=user())
    plan.give_known(desk().store, actor=user())
    return f"{counted(count, 'assignment')} changed." if count else "That was so already."


def _split() -> str:
    by = request.form.get("by", "topics")
    if by not in ("topics", "pool", "authors"):
        abort(400, "expected topics, pool or authors")
    overlap = whole_number(request.form.get("overlap", "1"))
    names = _people()
    if not names or overlap < 0:
        abort(422, "choose the assessors to deal out to, and a number")
    authors = plan.authors_of(desk().topics.values())
    plan.split(desk().store, names, by=by, overlap=overlap, authors=authors, actor=user())
    plan.give_known(desk().store, actor=user())
    return f"Dealt out to {counted(len(names), 'assessor')}."


def _reopen() -> str:
    """Open finished or skipped documents again, of all people or of those named; they see who did, and why."""
    store, names, reason = desk().store, _people(), request.form.get("reason", "").strip()[:1000]
    apart, requests = plan.machines(store) | {ADJUDICATED}, []
    for topic, document in _units():
        for saved in store.judgements(topic=topic, document=document):
            closed = saved.judgement.finished or saved.judgement.status == SKIPPED
            if closed and (saved.key.assessor in names if names else saved.key.assessor not in apart):
                edit = {"kind": "reopen", "reason": reason}
                requests.append(Request(saved.key, desk().page(document), edit, saved.version, user()))
    store.edit_all(requests)
    return f"Open again: {counted(len(requests), 'judgement')}."


def _known() -> str:
    use = request.form.get("use", "")
    units = _units()
    plan.mark_known(desk().store, units, use, actor=user())
    many = f"{len(units)} documents are" if len(units) != 1 else "1 document is"
    return f"{many} for {use} now." if use else f"{many} ordinary now."


_ACTS = {"assign": _assign, "split": _split, "reopen": _reopen, "known": _known}


@work.get("/flagged")
def flagged() -> str:
    """List what assessors flagged, with what they noted, newest first; of all, or of one of them or one topic."""
    name, topic = request.args.get("assessor"), request.args.get("topic")
    store = desk().store
    rows = store.rows(
        "SELECT topic, document, assessor, status, note, at FROM judgements WHERE flagged AND assessor != ?"
        " AND (? IS NULL OR assessor = ?) AND (? IS NULL OR topic = ?) ORDER BY at DESC",
        (ADJUDICATED, name, name, topic, topic),
    )
    every = [row for row in rows if row["topic"] in desk().topics]
    titles = desk().documents.titles(row["document"] for row in every[:FLAGGED])
    shown = {"rows": every[:FLAGGED], "number": len(every), "labels": plan.labels(store), "titles": titles}
    return render_template("flagged.html", name=name, topic=topic, **shown)


@work.get("/texts")
def texts(message: str = "") -> str:
    """List the judgements whose text has changed since, with what would become of their highlights."""
    found = changed_texts(desk().store, desk().documents.plain)
    return render_template("texts.html", changed=found, message=message)


@work.post("/texts")
@shown_again(texts)
def move() -> Response:
    """Move every judgement whose highlights were all found again."""
    stays = request.form.get("finished") == "yes"
    moved, left = reanchor_all(desk().store, desk().documents.get, finished=stays, actor=user())
    flash(f"{counted(moved, 'judgement')} moved to the new text; {left} left to their assessors.")
    return redirect(url_for("work.texts"))


@people.get("/people")
def everyone(message: str = "", link: str = "", done: str = "") -> str:
    """List users and invitations."""
    store, users = desk().store, desk().access.users
    desk().overview.rows()
    return render_template(
        "people.html",
        users=sorted((users or {}).values(), key=lambda one: (one.role != "lead", one.name)),
        managed=isinstance(users, accounts.UsersFile),
        roles=accounts.ROLES,
        invitations=accounts.invitations(store),
        log=store.project_log("people")[: -SHOWN - 1 : -1],
        seen={**desk().overview.last, **desk().seen},
        message=message,
        link=link,
        done=done,
    )


@people.post("/people")
def manage() -> str | tuple[str, int] | Response:
    """Invite, revoke, reset, remove, log out, or give a role: one thing that the form names."""
    users = desk().access.users
    do = request.form.get("do", "")
    if do not in ("invite", "reset", "revoke", "remove", "log out", "role"):
        abort(400, "no such action")
    if not isinstance(users, accounts.UsersFile):
        abort(409, "this server has no users file; start it with --users FILE")
    store, sessions, name = desk().store, desk().access.sessions, request.form.get("name", "").strip()[:100]
    role, link = request.form.get("role", "assessor" if do == "invite" else ""), ""
    try:
        if do == "invite":
            link = accounts.invite(store, name, role, actor=user(), users=users)
            done = f"An invitation for {name or 'somebody'} as {role}:"
        elif do == "reset":
            link = accounts.reset(store, users, sessions, name, actor=user())
            done = f"With this link {name} chooses a new password:"
        elif do == "revoke":
            accounts.revoke(store, request.form.get("id", ""), actor=user())
            done = f"The invitation {f'of {name} ' if name else ''}is not valid any more."
        elif do == "remove":
            accounts.remove(store, users, sessions, name, actor=user())
            done = f"{name} may not log in any more; what {name} judged stays."
        elif do == "log out":
            accounts.log_out(store, users, sessions, name, actor=user())
            done = f"Every session of {name} has ended."
        else:
            accounts.give_role(store, users, name, role, actor=user())
            done = f"{name} has the role {role} now."
    except FocusevalError as error:
        return everyone(message=str(error).removeprefix(f"{users.path}: ")), 422
    if not desk().access.leads(user()):  # somebody gave themselves another role, or left
        return redirect(url_for("pages.topics"))
    return everyone(link=f"{request.host_url}invited?token={link}" if link else "", done=done)
