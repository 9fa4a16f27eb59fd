"""Guidelines for everybody; how assessors found known answers, each their own and a lead everyone's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, abort, flash, jsonify, redirect, render_template, request, url_for

from focuseval.assessment.plan import (
    CONTROL,
    TRAINING,
    Assessor,
    answers,
    assessors,
    drifts,
    first_finished,
    known_units,
)
from focuseval.assessment.store import ADJUDICATED, Key
from focuseval.assessment.view import document_view, state_view
from focuseval.assessment.web.adjudication import side_view
from focuseval.assessment.web.desk import desk, key_of, leads_only, overseers_only, user
from focuseval.assessment.web.pages import query_terms
from focuseval.assessment.wording import guidelines, write_guidelines
from focuseval.errors import FocusevalError

if TYPE_CHECKING:
    from flask import Response
    from werkzeug.wrappers import Response as Redirect

    from focuseval.assessment.store import Saved

quality = Blueprint("quality", __name__)


@quality.get("/guidelines")
def read(message: str = "", draft: str | None = None) -> str:
    """Show the guidelines, and to a lead the text they are made from."""
    found = guidelines(desk().store)
    text = found.text if draft is None else draft
    return render_template("guidelines.html", found=found, text=text, message=message)


@quality.post("/guidelines")
def write() -> Redirect | tuple[str, int]:
    """Write new guidelines."""
    leads_only()
    text, version = request.form.get("text", "").replace("\r\n", "\n"), request.form.get("version", "")
    try:
        write_guidelines(desk().store, text, version=int(version) if version.isdecimal() else -1, actor=user())
    except FocusevalError as error:
        return read(message=str(error), draft=text), 422
    flash("The guidelines are saved.")
    return redirect(url_for("quality.read"))


@quality.get("/training")
def training() -> str:
    """Show an assessor how they found the known answers of the training documents."""
    units = [unit for unit, use in known_units(desk().store).items() if use == TRAINING and unit[0] in desk().topics]
    mine = {(one.topic, one.document): one for one in answers(desk().store) if one.assessor == user()}
    return render_template("training.html", units=units, mine=mine, titles=desk().titles.of(unit[1] for unit in units))


@quality.get("/training/document")
def compare() -> str:
    """Show an assessor's own judgement of a training document beside the known answer."""
    key, _ = _trained()
    return render_template(
        "compare.html",
        topic=desk().topics[key.topic],
        document=key.document,
        title=desk().titles.of([key.document])[key.document],
        terms=query_terms(desk().topics[key.topic]),
        entry=None,
        runs=(),
        source="/api/training",
        decides=False,
    )


@quality.get("/api/training")
def compared() -> Response:
    """Return the text, the assessor's own judgement and the known answer."""
    key, own = _trained()
    store, page = desk().store, desk().documents.get(key.document)
    decided = store.judgement(Key(ADJUDICATED, *key[1:]))
    known = {one.name: one for one in assessors(store)} | {ADJUDICATED: Assessor(ADJUDICATED)}
    sides = [side_view(one, known, page.sha256) for one in (own, decided)]
    sides[0] |= {"label": "you"}
    sides[1] |= {"label": "known answer", "note": "", "flagged": False}
    view = {"document": document_view(page), "sides": sides, "stale": ()}
    return jsonify({**view, "decided": state_view(decided, page, exhaustivity=store.exhaustivity)})


def _trained() -> tuple[Key, Saved]:
    """Return the judgement of a training document that the user has finished; the answer is shown to nobody else."""
    key = key_of({"topic": request.args.get("topic"), "document": request.args.get("document")})
    if known_units(desk().store).get(key[1:]) != TRAINING:
        abort(404, "this is no training document")
    if first_finished(desk().store, key) is None:
        abort(403, "finish the document first; then you see the answer")
    return key, desk().store.judgement(key)


@quality.get("/quality")
def controls() -> str:
    """Show a lead how everybody found the known answers, first and last."""
    overseers_only()
    found = answers(desk().store)
    units = known_units(desk().store)
    return render_template(
        "quality.html",
        training=drifts([one for one in found if one.use == TRAINING]),
        control=drifts([one for one in found if one.use == CONTROL]),
        counts={use: sum(one == use for one in units.values()) for use in (TRAINING, CONTROL)},
    )
