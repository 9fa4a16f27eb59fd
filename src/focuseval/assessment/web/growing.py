"""More runs for the pool, for a lead: what they would add, adding them, and how stable the runs' ranking is by now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for

from focuseval.assessment.adjudication import MERGES
from focuseval.assessment.growth import add_pool, grown, keep_run, kept_runs, project_pool, run_named
from focuseval.assessment.plan import record
from focuseval.assessment.pool import describe_pool
from focuseval.assessment.project import check_pool
from focuseval.assessment.stability import DEFAULT, rank_runs
from focuseval.assessment.web.desk import desk, leads_only, overseers_only, user
from focuseval.errors import FocusevalError, counted
from focuseval.formats import read_run

if TYPE_CHECKING:
    from pathlib import Path

    from werkzeug.wrappers import Response

    from focuseval.data.run import Run

growing = Blueprint("growing", __name__)

DEPTH, DEEPEST = 10, 10_000
"""How deep a run is pooled unless said otherwise, and at most."""


@growing.get("/pool")
def pooled(message: str = "") -> str:
    """Show what the pool is made of, and the runs that are kept with the project."""
    overseers_only()
    pool = project_pool(desk().store)
    kept, known = kept_runs(desk().folder), {one.sha256 for one in pool.contributors}
    told = describe_pool(pool)
    return render_template("pool.html", pool=pool, told=told, kept=kept, known=known, depth=DEPTH, message=message)


@growing.post("/pool")
def upload() -> Response | tuple[str, int]:
    """Keep a run with the project, after it was read; it adds nothing to the pool yet."""
    leads_only()
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        return pooled(message="Choose a file."), 422
    try:
        _depth()
        kept = keep_run(desk().folder, sent.filename, sent.read(), index=desk().documents.index)
    except FocusevalError as error:
        return pooled(message=str(error)), 422
    record(desk().store, {"kind": "run", "did": "keep", "file": kept.name}, actor=user())
    return redirect(url_for("growing.preview", run=kept.name, depth=_depth()))


@growing.post("/pool/forget")
def forget() -> Response:
    """Keep a run no longer; what it brought into the pool stays there."""
    leads_only()
    path = _run()
    record(desk().store, {"kind": "run", "did": "forget", "file": path.name}, actor=user())
    path.unlink(missing_ok=True)
    flash(f"{path.name[13:]} is no longer kept; what it brought into the pool stays there.")
    return redirect(url_for("growing.pooled"))


@growing.get("/pool/preview")
def preview(message: str = "") -> str:
    """Show what one more run would add to the pool, topic by topic."""
    overseers_only()
    path, depth = _run(), _depth()
    run = _read(path)
    _, rows = grown(desk().store, [run], depth=depth)
    return render_template("growth.html", run=run, name=path.name, rows=rows, depth=depth, message=message)


@growing.post("/pool/add")
def add() -> Response | tuple[str, int]:
    """Add the documents of a run to the pool."""
    leads_only()
    path, depth = _run(), _depth()
    try:
        run = _read(path)
        after, _ = grown(desk().store, [run], depth=depth)
        check_pool(after, desk().topics, desk().documents, run.run_id)
        count = add_pool(desk().store, after, actor=user())
    except FocusevalError as error:
        return preview(message=str(error)), 422
    flash(f"{run.run_id} is pooled to depth {depth}: {counted(count, 'more document')} to judge.")
    return redirect(url_for("growing.pooled"))


@growing.get("/ranking")
def ranking() -> str:
    """Show how the runs rank with what is judged so far, and whether more or other judgements would change it."""
    overseers_only()
    paths = kept_runs(desk().folder)
    measure, rule = request.args.get("measure", DEFAULT).strip()[:60], request.args.get("merge", "union")
    found, message = None, ""
    if paths and rule in MERGES:
        try:
            found = rank_runs(desk().store, desk().documents, paths, measure, rule=rule)
        except FocusevalError as error:
            message = str(error)
    told = {"measure": measure, "rule": rule, "merges": MERGES, "message": message, "runs": paths}
    return render_template("ranking.html", found=found, **told)


def _run() -> Path:
    found = run_named(desk().folder, request.values.get("run", ""))
    if found is None:
        abort(404, "no such run")
    return found


def _read(path: Path) -> Run:
    """Return a kept run under the name that its file came with."""
    return replace(read_run(path, index=desk().documents.index), file=path.name[13:])


def _depth() -> int:
    given = request.values.get("depth", str(DEPTH))
    if not given.isdecimal() or not 1 <= int(given) <= DEEPEST:
        abort(422, f"expected a depth from 1 to {DEEPEST}")
    return int(given)
