"""The pages of a lead: where assessors differ, what becomes of it, and how far they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, jsonify, render_template, request

from focuseval.assess.adjudicate import RULES, decide, sides, stale_decisions
from focuseval.assess.agreement import agreements, alpha, finished
from focuseval.assess.plan import PERSON, Assessor, assessors
from focuseval.assess.spans import intersect, merge, size
from focuseval.assess.store import ADJUDICATED, Key
from focuseval.assess.view import document_view, state_view
from focuseval.assess.web.api import body, stamp
from focuseval.assess.web.desk import desk, key_of, leads_only, user

if TYPE_CHECKING:
    from flask import Response

    from focuseval.assess.store import Saved

adjudication = Blueprint("adjudication", __name__)


@adjudication.get("/adjudicate")
def documents() -> str:
    """List what two or more assessors have finished, with how far they agree and what was decided."""
    leads_only()
    found = finished(desk().store)
    units = sorted({unit for judged in found.values() for unit in judged})
    stale = stale_decisions(desk().store)
    rows: list[dict[str, Any]] = []
    for unit in units:
        judged = [found[name][unit].judgement for name in found if unit in found[name]]
        if len(judged) > 1:
            decided = desk().store.judgement(Key(ADJUDICATED, *unit))
            row = {"unit": unit, "judged": len(judged), "jaccard": _jaccard(judged), "decided": decided}
            rows.append({**row, "stale": stale.get(unit, ())})
    return render_template("adjudicate.html", rows=rows, titles=desk().titles.of(row["unit"][1] for row in rows))


@adjudication.get("/adjudicate/document")
def document() -> str:
    """Show one document with a stripe per assessor."""
    leads_only()
    topic, page = request.args.get("topic", ""), request.args.get("document", "")
    key_of({"topic": topic, "document": page, "as": ADJUDICATED})
    return render_template("compare.html", topic=desk().topics[topic], document=page, rules=RULES)


@adjudication.get("/api/sides")
def compared() -> Response:
    """Return the text, every assessor's finished judgement, and what was decided."""
    leads_only()
    key = key_of({**request.args, "as": ADJUDICATED})
    page = desk().documents.get(key.document)
    known = {one.name: one for one in assessors(desk().store)}
    shown = [_side(saved, known, page.sha256) for saved in sides(desk().store, key.topic, key.document)]
    decided = desk().store.judgement(key)
    stale = stale_decisions(desk().store).get((key.topic, key.document), ())
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
    """Show agreement at four levels for every pair of assessors."""
    leads_only()
    found = finished(desk().store)
    labels = {one.name: one.label for one in assessors(desk().store)}
    pairs = agreements(found, desk().documents.get)
    return render_template("agreement.html", pairs=pairs, alpha=alpha(found), labels=labels)


def _jaccard(judged: list[Any]) -> float:
    """Return what all highlighted as a share of what any did; 1 where nobody highlighted anything."""
    shared = judged[0].highlights
    for one in judged[1:]:
        shared = intersect(shared, one.highlights)
    everything = size(merge(span for one in judged for span in one.highlights))
    return size(shared) / everything if everything else 1.0


def _side(saved: Saved, known: dict[str, Assessor], sha256: str) -> dict[str, Any]:
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
