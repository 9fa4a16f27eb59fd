"""People's sample on the lead's page: how far it is, what runs would score, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, render_template, request

from focuseval.assessment.adjudication import MERGES
from focuseval.assessment.golds import Whose
from focuseval.assessment.plan import MODEL, assessors
from focuseval.assessment.pool import kept_runs
from focuseval.assessment.project import Project
from focuseval.assessment.sampling import sample_state, sampled_golds
from focuseval.assessment.stability import DEFAULT
from focuseval.assessment.web.desk import desk, overseers_look_leads_change
from focuseval.errors import FocusevalError
from focuseval.evaluation.estimating import estimate

if TYPE_CHECKING:
    from focuseval.evaluation.estimating import Estimates

estimating = Blueprint("estimating", __name__)
estimating.before_request(overseers_look_leads_change)


@estimating.get("/estimate")
def sample() -> str:
    """Show people's sample, and what the kept runs would score, by intervals that may be looked at at any time."""
    store, runs = desk().store, kept_runs(desk().folder)
    models = [one.name for one in assessors(store) if one.origin == MODEL]
    measure, rule = request.args.get("measure", DEFAULT).strip()[:60], request.args.get("merge", "union")
    model, state, message = request.args.get("model", models[0] if models else ""), sample_state(store), ""
    found: Estimates | None = None
    remarks: tuple[str, ...] = ()
    if state.order and runs and models and rule in MERGES:
        project = Project(desk().folder, store, desk().documents, tuple(desk().topics.values()))
        try:
            golds = sampled_golds(project, Whose(merge=rule), model)
            named = {path.name[13:]: str(path) for path in runs}
            index = desk().documents.index
            found = estimate(
                golds.people, golds.model, named, [measure], index=index, sample=golds.sample, anytime=True
            )
            remarks = golds.remarks
        except FocusevalError as error:
            message = str(error)
    plans = [] if found is None else [found.plan_sentence(plan) for plan in found.plan()]
    shown = {"measure": measure, "rule": rule, "merges": MERGES, "models": models, "model": model, "runs": runs}
    tables = [] if found is None else found.tables()
    return render_template(
        "estimate.html", state=state, tables=tables, plans=plans, message=message, remarks=remarks, **shown
    )
