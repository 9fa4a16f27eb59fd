"""Where assessors differ, what becomes of it, how far they agree; guidelines, and how they found known answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, abort, flash, jsonify, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Redirect

from focuseval.assessment import adjudication as decisions
from focuseval.assessment import plan
from focuseval.assessment.agreement import alpha_of
from focuseval.assessment.pool import why_pooled
from focuseval.assessment.project import SETTINGS, choose, guidelines, setting, write_guidelines
from focuseval.assessment.rules import ON_ELEMENTS, graded_spans
from focuseval.assessment.sampling import suggester
from focuseval.assessment.store import ADJUDICATED, Key, Saved
from focuseval.assessment.web import desk as desks
from focuseval.assessment.web.desk import desk, document_view, key_of, leads_only, pooled_unit, state_of, user
from focuseval.assessment.web.pages import body, query_terms, stamp
from focuseval.collection.rendering import Document
from focuseval.errors import counted
from focuseval.inference.agreement import FEWEST_TOPICS, RESAMPLES

adjudication, quality = Blueprint("adjudication", __name__), Blueprint("quality", __name__)
adjudication.before_request(desks.overseers_look_leads_change)

WITH_INTERVALS = 30
"""Pairs of assessors up to which the page draws samples for intervals, which takes a moment for each."""
TO_DECIDE, DISAGREED = "to decide", "disagreed"
SHOWN = 200  # documents that the list shows at once, those with the least agreement first


@adjudication.get("/adjudicate")
def documents() -> str:
    """List what two or more assessors have finished, with how far they agree and what was decided."""
    topic, state = request.args.get("topic", ""), request.args.get("state", TO_DECIDE)
    name = request.args.get("assessor", "")
    everything = desk().shared.documents()
    counts = Counter(row.state for row in everything)
    wanted = {TO_DECIDE: (decisions.UNDECIDED, decisions.STALE), decisions.DECIDED: (decisions.DECIDED,)}
    here = [row for row in everything if topic in ("", row.topic) and (not name or name in row.people)]
    rows = [row for row in here if row.state in wanted.get(state, (row.state,))]
    rows = [row for row in rows if row.disagreed] if state == DISAGREED else rows
    shown = sorted(rows, key=lambda row: (row.jaccard, row.topic, row.document))[:SHOWN]
    return render_template(
        "adjudicate.html",
        rows=shown,
        more=len(rows) - len(shown),
        counts=counts,
        states=(TO_DECIDE, DISAGREED, decisions.DECIDED),
        name=name,
        state=state,
        topic=topic,
        topics=sorted({row.topic for row in everything}),
        titles=desk().documents.titles(row.document for row in shown),
        agreed=sum(row.agreed and row.state == decisions.UNDECIDED and topic in ("", row.topic) for row in everything),
    )


@adjudication.get("/adjudicate/next")
def following() -> Redirect:
    """Go to the undecided or stale document with the least agreement, of this topic first where several have as little.

    Documents on which everybody agrees need nobody's eyes: the list accepts them all at once.
    """
    here = (request.args.get("topic", ""), request.args.get("document", ""))
    undecided = [row for row in desk().shared.documents() if row.state != decisions.DECIDED and row[:2] != here]
    waiting = [row for row in undecided if not row.agreed or row.stale]
    if not waiting:
        left = f"On {counted(len(undecided), 'document')} everybody agrees: accept them at once."
        flash(left if undecided else "Everything that several assessors finished is decided.")
        return redirect(url_for("adjudication.documents"))
    found = min(waiting, key=lambda row: (row.jaccard, row.topic != here[0], row.topic, row.document))
    return redirect(url_for("adjudication.document", topic=found.topic, document=found.document))


@adjudication.post("/adjudicate/agreed")
def accept() -> Redirect:
    """Decide all documents on which everybody agrees."""
    topic, rule = request.form.get("topic", ""), request.form.get("rule", "union")
    try:
        least = float(request.form.get("least", "1"))
    except ValueError:
        abort(422, "expected a number from 0.5 to 1")
    topics = [topic] if topic else list(desk().topics)
    count = decisions.accept_agreed(desk().store, desk().page, rule, least, topics=topics, actor=user())
    flash(f"{counted(count, 'document')} decided, as all assessors agree.")
    return redirect(url_for("adjudication.documents", topic=topic or None))


@adjudication.get("/adjudicate/document")
def document() -> str:
    """Show one document with a stripe per assessor, and why it is in the pool."""
    topic, name = pooled_unit(request.args)
    entry, runs = why_pooled(desk().pool()[0], topic, name)
    finder = plan.found_units(desk().store).get((topic, name))
    shown = {"entry": entry, "runs": runs, "finder": finder, "decides": desk().access.leads(user())}
    return _page_of(topic, name, "/api/sides", **shown)


def _page_of(topic: str, document: str, source: str, **shown: object) -> str:
    """Return the page that shows a document with a stripe per judgement; the judgements come from `source`."""
    title, terms = desk().documents.titles([document])[document], query_terms(desk().topics[topic])
    named = {"topic": desk().topics[topic], "document": document, "title": title, "terms": terms, "source": source}
    return render_template("compare.html", **named, **shown)


@adjudication.get("/api/sides")
def compared() -> Response:
    """Return the text, every assessor's finished judgement, and what was decided."""
    topic, name = pooled_unit(request.args)
    store, page = desk().store, desk().documents.get(name)
    shown = _views(decisions.finished_sides(store, topic, name), page)
    decided = store.judgement(Key(ADJUDICATED, topic, name))
    stale = decisions.changed_since(store, (topic, name)) if decided.version else ()
    return jsonify({"document": document_view(page), "sides": shown, "stale": stale, "decided": state_of(decided)})


@adjudication.post("/api/decide")
def decision() -> Response:
    """Accept one, the union or the intersection; or start from it, to edit the decision."""
    values = body()
    key = key_of({**values, "as": ADJUDICATED})
    page = desk().documents.get(key.document)
    rule, of = values.get("rule"), values.get("of")
    if rule not in decisions.RULES or not isinstance(of, list) or not all(isinstance(name, str) for name in of):
        abort(400, "a rule and the assessors it is about are needed")
    draft, stamps = values.get("draft") is True, stamp(values)
    saved = decisions.decide(desk().store, page, key.topic, rule, of, actor=user(), draft=draft, **stamps)
    return jsonify({"decided": state_of(saved)})


@adjudication.get("/agreement")
def agreement() -> str:
    """Show agreement at four levels for every pair of assessors, and how it went over time."""
    name, found = request.args.get("assessor", ""), desk().shared.documents()
    everything = desk().shared.agreements()
    few = len(everything) <= WITH_INTERVALS
    everything = desk().shared.agreements(resamples=RESAMPLES) if few else everything
    apart = plan.machines(desk().store)
    everything.sort(key=lambda pair: bool({pair.left, pair.right} & apart))  # people first
    pairs = [pair for pair in everything if name in ("", pair.left, pair.right)]
    if len(pairs) > SHOWN:
        pairs.sort(key=lambda pair: (pair.jaccard != pair.jaccard, pair.jaccard, pair.left, pair.right))
    return render_template(
        "agreement.html",
        pairs=pairs[:SHOWN],
        apart=apart,
        intervals=few,
        fewest=FEWEST_TOPICS,
        more=len(pairs[SHOWN:]),
        name=name,
        names=sorted({side for pair in everything for side in (pair.left, pair.right)}),
        alpha=alpha_of(one.verdicts for one in found),
        labels=plan.labels(desk().store),
        periods=decisions.periods(found),
    )


def _views(judged: Sequence[Saved], page: Document) -> list[dict[str, Any]]:
    """Return judgements as the page shows them; highlights of another text than this one stay away from it."""
    known = {one.name: one for one in plan.assessors(desk().store)}
    views, offered, graded = [], desk().store.offered(page), desk().store.scale in ON_ELEMENTS
    for saved in judged:
        judgement, same = saved.judgement, saved.text_sha256 == page.sha256
        marked = graded_spans(offered, judgement.grades) if graded else judgement.highlights
        assessor = known.get(saved.key.assessor, plan.Assessor(saved.key.assessor))
        who = {"assessor": assessor.name, "label": assessor.label, "imported": assessor.origin != plan.PERSON}
        what: dict[str, Any] = {"highlights": [], "entry_point": None, "status": "judged an older text"}
        if same:
            what = {"highlights": marked, "entry_point": judgement.entry_point, "status": judgement.status}
        views.append({**who, **what, "flagged": judgement.flagged, "note": judgement.note})
    return views


@quality.get("/guidelines")
def read(message: str = "") -> str:
    """Show the guidelines, and to a lead the text they are made from, or that was sent and refused."""
    found = guidelines(desk().store)
    text = request.form.get("text", found.text)
    chosen = {name: setting(desk().store, name) for name in SETTINGS}
    shown = {"settings": SETTINGS, "chosen": chosen, "suggester": suggester(desk().store)}
    return render_template("guidelines.html", found=found, text=text, message=message, **shown)


@quality.post("/guidelines")
@desks.shown_again(read)
def write() -> Redirect:
    """Write new guidelines."""
    leads_only()
    text, version = request.form.get("text", "").replace("\r\n", "\n"), request.form.get("version", "")
    write_guidelines(desk().store, text, version=desks.whole_number(version), actor=user())
    flash("The guidelines are saved.")
    return redirect(url_for("quality.read"))


@quality.post("/guidelines/settings")
def settings() -> Redirect:
    """Choose how the reading page works: what the mouse selects, and whether pooled parts are shown."""
    leads_only()
    for name, value in request.form.items():
        if name in SETTINGS and value != setting(desk().store, name):
            choose(desk().store, name, value, actor=user())
    flash("The reading page works as chosen.")
    return redirect(url_for("quality.read"))


@quality.get("/training")
def training() -> str:
    """Show an assessor how they found the known answers of the training documents."""
    known, topics = plan.known_units(desk().store), desk().topics
    units = [unit for unit, use in known.items() if use == plan.TRAINING and unit[0] in topics]
    mine = {(one.topic, one.document): one for one in plan.answers(desk().store) if one.assessor == user()}
    titles = desk().documents.titles(unit[1] for unit in units)
    return render_template("training.html", units=units, mine=mine, titles=titles)


@quality.get("/training/document")
def compare() -> str:
    """Show an assessor's own judgement of a training document beside the known answer."""
    key, _ = _trained()
    return _page_of(key.topic, key.document, "/api/training", entry=None, runs=(), decides=False)


@quality.get("/api/training")
def training_sides() -> Response:
    """Return the text, the assessor's own judgement and the known answer."""
    key, own = _trained()
    store, page = desk().store, desk().documents.get(key.document)
    decided = store.judgement(Key(ADJUDICATED, *key[1:]))
    mine, answer = _views([own, decided], page)
    shown = [mine | {"label": "you"}, answer | {"label": "known answer", "note": "", "flagged": False}]
    return jsonify({"document": document_view(page), "sides": shown, "stale": (), "decided": state_of(decided)})


def _trained() -> tuple[Key, Saved]:
    """Return the judgement of a training document that the user has finished; the answer is shown to nobody else."""
    key = key_of({"topic": request.args.get("topic"), "document": request.args.get("document")})
    if plan.known_units(desk().store).get(key[1:]) != plan.TRAINING:
        abort(404, "this is no training document")
    if plan.first_finished(desk().store, key) is None:
        abort(403, "finish the document first; then you see the answer")
    return key, desk().store.judgement(key)


@quality.get("/quality")
def controls() -> str:
    """Show a lead how everybody found the known answers, first and last."""
    desks.overseers_only()
    found = plan.answers(desk().store)
    units = plan.known_units(desk().store)
    drifts = {use: plan.drifts([one for one in found if one.use == use]) for use in (plan.TRAINING, plan.CONTROL)}
    counts = {use: sum(one == use for one in units.values()) for use in drifts}
    return render_template("quality.html", **drifts, counts=counts)
