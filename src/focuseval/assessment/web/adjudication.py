"""The pages of a lead: where assessors differ, what becomes of it, and how far they agree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Blueprint, abort, flash, jsonify, redirect, render_template, request, url_for

from focuseval.assessment.adjudication import RULES, accept_agreed, changed_since, decide, sides
from focuseval.assessment.growth import why_pooled
from focuseval.assessment.plan import PERSON, Assessor, assessors, known_units
from focuseval.assessment.shared_documents import alpha, periods
from focuseval.assessment.store import ADJUDICATED, Key
from focuseval.assessment.view import document_view, state_view
from focuseval.assessment.web.api import body, stamp
from focuseval.assessment.web.desk import desk, key_of, leads_only, overseers_only, pooled_unit, user
from focuseval.assessment.web.pages import query_terms
from focuseval.errors import counted

if TYPE_CHECKING:
    from flask import Response
    from werkzeug.wrappers import Response as Redirect

    from focuseval.assessment.shared_documents import SharedDocument
    from focuseval.assessment.store import Saved

adjudication = Blueprint("adjudication", __name__)

OPEN, STALE, DECIDED = "undecided", "stale", "decided"
TO_DECIDE = "to decide"
SHOWN = 200
"""Documents that the list shows at once, those with the least agreement first."""


@adjudication.get("/adjudicate")
def documents() -> str:
    """List what two or more assessors have finished, with how far they agree and what was decided."""
    overseers_only()
    topic, state = request.args.get("topic", ""), request.args.get("state", TO_DECIDE)
    everything = _rows()
    counts = Counter(row.state for row in everything)
    wanted = {TO_DECIDE: (OPEN, STALE), DECIDED: (DECIDED,)}.get(state, (OPEN, STALE, DECIDED))
    rows = [row for row in everything if topic in ("", row.topic) and row.state in wanted]
    shown = sorted(rows, key=lambda row: (row.jaccard, row.topic, row.document))[:SHOWN]
    return render_template(
        "adjudicate.html",
        rows=shown,
        more=len(rows) - len(shown),
        counts=counts,
        states=(TO_DECIDE, DECIDED),
        state=state,
        topic=topic,
        topics=sorted({row.topic for row in everything}),
        titles=desk().titles.of(row.document for row in shown),
        agreed=sum(row.agreed and row.state == OPEN and topic in ("", row.topic) for row in everything),
    )


class Compared(NamedTuple):
    """A document that several finished: how far they agree, and whether it is decided."""

    topic: str
    document: str
    judged: int
    jaccard: float
    agreed: bool
    state: str
    status: str
    stale: tuple[str, ...]


def _rows() -> list[Compared]:
    """Return what several finished; a known answer was decided before it was judged, and is never stale."""
    known = known_units(desk().store)
    return [_row(one, () if one[:2] in known else one.stale) for one in desk().shared.documents()]


def _row(one: SharedDocument, stale: tuple[str, ...]) -> Compared:
    state = STALE if stale else DECIDED if one.is_decided else OPEN
    return Compared(*one[:2], len(one.verdicts), one.jaccard, one.agreed, state, one.decided or "undecided", stale)


@adjudication.get("/adjudicate/next")
def following() -> Redirect:
    """Go to the next document that is undecided or stale: of this topic first, the least agreed first."""
    overseers_only()
    here = (request.args.get("topic", ""), request.args.get("document", ""))
    waiting = [row for row in _rows() if row.state != DECIDED and (row.topic, row.document) != here]
    if not waiting:
        flash("Everything that several assessors finished is decided.")
        return redirect(url_for("adjudication.documents"))
    found = min(waiting, key=lambda row: (row.topic != here[0], row.topic, row.jaccard, row.document))
    return redirect(url_for("adjudication.document", topic=found.topic, document=found.document))


@adjudication.post("/adjudicate/agreed")
def accept() -> Redirect:
    """Decide all documents on which everybody agrees."""
    leads_only()
    topic, rule = request.form.get("topic", ""), request.form.get("rule", "union")
    try:
        least = float(request.form.get("least", "1"))
    except ValueError:
        abort(422, "expected a number from 0.5 to 1")
    topics = [topic] if topic else list(desk().topics)
    count = accept_agreed(desk().store, desk().page, rule, least, topics=topics, actor=user())
    flash(f"{counted(count, 'document')} decided, as all assessors agree.")
    return redirect(url_for("adjudication.documents", topic=topic or None))


@adjudication.get("/adjudicate/document")
def document() -> str:
    """Show one document with a stripe per assessor, and why it is in the pool."""
    overseers_only()
    topic, page = pooled_unit(request.args)
    entry, runs = why_pooled(desk().store, topic, page)
    return render_template(
        "compare.html",
        topic=desk().topics[topic],
        document=page,
        title=desk().titles.of([page])[page],
        terms=query_terms(desk().topics[topic]),
        entry=entry,
        runs=runs,
        source="/api/sides",
        decides=desk().access.leads(user()),
    )


@adjudication.get("/api/sides")
def compared() -> Response:
    """Return the text, every assessor's finished judgement, and what was decided."""
    overseers_only()
    topic, name = pooled_unit(request.args)
    page = desk().documents.get(name)
    known = {one.name: one for one in assessors(desk().store)}
    shown = [side_view(saved, known, page.sha256) for saved in sides(desk().store, topic, name)]
    decided = desk().store.judgement(Key(ADJUDICATED, topic, name))
    known_answer = (topic, name) in known_units(desk().store)
    stale = changed_since(desk().store, (topic, name)) if decided.version and not known_answer else ()
    view = {"document": document_view(page), "sides": shown, "stale": stale}
    return jsonify({**view, "decided": state_view(decided, page, exhaustivity=desk().store.exhaustivity)})


@adjudication.post("/api/decide")
def decision() -> Response:
    """Accept one, the union or the intersection."""
    leads_only()
    values = body()
    key = key_of({**values, "as": ADJUDICATED})
    page = desk().documents.get(key.document)
    rule, of = values.get("rule"), values.get("of")
    if rule not in RULES or not isinstance(of, list) or not all(isinstance(name, str) for name in of):
        abort(400, "a rule and the assessors it is about are needed")
    saved = decide(desk().store, page, key.topic, rule, of, actor=user(), **stamp(values))
    return jsonify({"decided": state_view(saved, page, exhaustivity=desk().store.exhaustivity)})


@adjudication.get("/agreement")
def agreement() -> str:
    """Show agreement at four levels for every pair of assessors, and how it went over time."""
    overseers_only()
    name, found = request.args.get("assessor", ""), desk().shared.documents()
    everything = desk().shared.agreements()
    pairs = [pair for pair in everything if name in ("", pair.left, pair.right)]
    if len(pairs) > SHOWN:
        pairs.sort(key=lambda pair: (pair.jaccard != pair.jaccard, pair.jaccard, pair.left, pair.right))
    return render_template(
        "agreement.html",
        pairs=pairs[:SHOWN],
        more=len(pairs[SHOWN:]),
        name=name,
        names=sorted({side for pair in everything for side in (pair.left, pair.right)}),
        alpha=alpha(found),
        labels={one.name: one.label for one in assessors(desk().store)},
        periods=periods(found),
    )


def side_view(saved: Saved, known: dict[str, Assessor], sha256: str) -> dict[str, Any]:
    """Return one assessor's view; highlights of another text than this one stay away from it."""
    judgement, same = saved.judgement, saved.text_sha256 == sha256
    assessor = known.get(saved.key.assessor, Assessor(saved.key.assessor))
    return {
        "assessor": assessor.name,
        "label": assessor.label,
        "imported": assessor.origin != PERSON,
        "highlights": judgement.highlights if same else [],
        "entry_point": judgement.entry_point if same else None,
        "status": judgement.status if same else "judged an older text",
        "flagged": judgement.flagged,
        "note": judgement.note,
    }
