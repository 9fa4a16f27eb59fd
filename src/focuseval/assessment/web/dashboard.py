"""The campaign at a glance, for a lead or a reader: what everybody has done, and what is left."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request

from focuseval.assessment.plan import assessors, roles
from focuseval.assessment.progress import Work, summed
from focuseval.assessment.users import removed
from focuseval.assessment.web.desk import desk, overseers_only

dashboard = Blueprint("dashboard", __name__)

CELLS = 3_000
"""Assessors times topics up to which the page draws all of them."""


@dashboard.get("/dashboard")
def campaign() -> str:
    """Show the sums of every assessor and of every topic, or the rows of one of them."""
    overseers_only()
    store = desk().store
    rows = desk().overview.rows()
    name, topic = request.args.get("assessor"), request.args.get("topic")
    if name is not None or topic is not None:
        rows = [row for row in rows if name in (None, row.assessor) and topic in (None, row.topic)]
        if not rows:
            abort(404, "nobody has anything to do here")
    known = {one.name: one for one in assessors(store)}
    by_assessor, by_topic = summed(rows, "assessor"), summed(rows, "topic")
    return render_template(
        "dashboard.html",
        whole=(summed(rows, "") or [Work()])[0],
        by_assessor=by_assessor if name is None else [],
        by_topic=by_topic if topic is None else [],
        grid=_grid(rows) if name is None and topic is None else {},
        name=name,
        topic=topic,
        labels={one: known[one].label for one in known},
        roles=roles(store),
        removed=removed(store),
        seen={**desk().overview.pace.last, **desk().seen},
    )


def _grid(rows: list[Work]) -> dict[str, dict[str, Work]]:
    """Return assessor → topic → row, unless there are too many to be looked at."""
    found: dict[str, dict[str, Work]] = {}
    for row in rows:
        found.setdefault(row.assessor, {})[row.topic] = row
    topics = {row.topic for row in rows}
    return found if 1 < len(found) * len(topics) <= CELLS else {}
