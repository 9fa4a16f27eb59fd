"""More runs for the pool, the runs' ranking, people's sample; judgements out and in, and gold to score with."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, flash, redirect, render_template, request, send_file, url_for
from werkzeug.wrappers import Response as Redirect

from focuseval.assessment.adjudication import MERGES
from focuseval.assessment.archive import write_archive
from focuseval.assessment.exchange import Imported, export_everything, import_judgements
from focuseval.assessment.golds import EXPORTS, Whose, export_gold
from focuseval.assessment.plan import COMPARISON, MODEL, ORDERS, RANDOM, assessors, found_alone, put_in_order, record
from focuseval.assessment.pool import add_pool, grown, keep_run, kept_runs, ordered
from focuseval.assessment.project import Project, check_pool
from focuseval.assessment.sampling import sample_state, sampled_golds
from focuseval.assessment.stability import DEFAULT, rank_runs
from focuseval.assessment.store import ADJUDICATED
from focuseval.assessment.web.desk import desk, overseers_look_leads_change, shown_again, user, whole_number
from focuseval.errors import AssessError, FocusevalError, counted
from focuseval.evaluation.estimating import estimate

growing, exchange = Blueprint("growing", __name__), Blueprint("exchange", __name__)
growing.before_request(overseers_look_leads_change)
exchange.before_request(overseers_look_leads_change)

DEPTH, DEEPEST = 10, 10_000  # how deep a run is pooled unless said otherwise, and at most
_MERGE = "merge "
_SUFFIX = {"gold-jsonl": "jsonl", "inex-2008": "txt", "trec-qrels": "qrels"}


@growing.get("/pool")
def pooled(message: str = "") -> str:
    """Show what the pool is made of, and the runs that are kept with the project."""
    pool, statistics = desk().pool()
    kept, known = kept_runs(desk().folder), {one.sha256 for one in pool.contributors}
    orders = desk().store.project_log("order")
    shown = {"pool": pool, "statistics": statistics, "kept": kept, "known": known, "depth": DEPTH, "orders": ORDERS}
    shown |= {"order": orders[-1] if orders else None, "found": found_alone(desk().store)}
    deeper = sorted(pool.contributors, key=lambda one: one.depth or one.size or 0)
    shown["deepest"] = {(one.run, one.sha256): one for one in deeper}
    return render_template("pool.html", message=message, **shown)


@growing.post("/pool")
@shown_again(pooled)
def upload() -> Redirect:
    """Keep a run with the project, after it was read; it adds nothing to the pool yet."""
    sent, depth = request.files.get("file"), _depth()
    if sent is None or not sent.filename:
        raise AssessError("Choose a file.")
    kept = keep_run(desk().folder, sent.filename, sent.read(), index=desk().documents.index)
    record(desk().store, {"kind": "run", "did": "keep", "file": kept.name}, actor=user())
    return redirect(url_for("growing.preview", run=kept.name, depth=depth))


@growing.post("/pool/forget")
def forget() -> Redirect:
    """Keep a run no longer; what it brought into the pool stays there."""
    path = _run()
    record(desk().store, {"kind": "run", "did": "forget", "file": path.name}, actor=user())
    path.unlink(missing_ok=True)
    flash(f"{path.name[13:]} is no longer kept; what it brought into the pool stays there.")
    return redirect(url_for("growing.pooled"))


@growing.get("/pool/preview")
def preview(message: str = "") -> str:
    """Show what one more run would add to the pool, topic by topic."""
    path, depth = _run(), _depth()
    run = desk().runs()[path]
    _, rows = grown(desk().store, [run], depth=depth)
    return render_template("growth.html", run=run, name=path.name, rows=rows, depth=depth, message=message)


@growing.post("/pool/add")
@shown_again(preview)
def add() -> Redirect:
    """Add the documents of a run to the pool."""
    run, depth = desk().runs()[_run()], _depth()
    after, _ = grown(desk().store, [run], depth=depth)
    check_pool(after, desk().topics, desk().documents, run.run_id)
    count = add_pool(desk().store, after, actor=user())
    flash(f"{run.run_id} is pooled to depth {depth}: {counted(count, 'more document')} to judge.")
    return redirect(url_for("growing.pooled"))


@growing.post("/pool/order")
@shown_again(pooled)
def order() -> Redirect:
    """Have the pool judged in another order; the log says which, and its seed."""
    by = request.form.get("by", "")
    seed = secrets.randbelow(2**31) if by == RANDOM else 0
    rows = ordered(desk().store, by, seed=seed, runs=[*desk().runs().values()] if by == COMPARISON else ())
    put_in_order(desk().store, [row[:2] for row in rows], by, seed=seed if by == RANDOM else None, actor=user())
    flash("Documents are judged in the new order.")
    return redirect(url_for("growing.pooled"))


@growing.get("/ranking")
def ranking() -> str:
    """Show how the runs rank with what is judged so far, and whether more or other judgements would change it."""
    paths = kept_runs(desk().folder)
    measure, rule = request.args.get("measure", DEFAULT).strip()[:60], request.args.get("merge", "union")
    found, message = None, ""
    if paths and rule in MERGES:
        try:
            found = rank_runs(desk().store, desk().documents, [*desk().runs().values()], measure, rule=rule)
        except FocusevalError as error:
            message = str(error)
    shown = {"measure": measure, "rule": rule, "merges": MERGES, "message": message, "runs": paths}
    return render_template("ranking.html", found=found, alone=found_alone(desk().store), **shown)


@growing.get("/estimate")
def sample() -> str:
    """Show people's sample, and what the kept runs would score, by intervals that may be looked at at any time."""
    store, folder = desk().store, desk().folder
    models = [one.name for one in assessors(store) if one.origin == MODEL]
    measure, rule = request.args.get("measure", DEFAULT).strip()[:60], request.args.get("merge", "union")
    model, assisted = request.args.get("model", models[0] if models else ""), request.args.get("assisted") == "yes"
    shown = {"measure": measure, "rule": rule, "merges": MERGES, "models": models, "model": model, "assisted": assisted}
    shown |= {"state": (state := sample_state(store)), "runs": kept_runs(folder)}
    if state.finished and shown["runs"] and models and rule in MERGES:
        project = Project(folder, store, desk().documents, tuple(desk().topics.values()))
        try:
            golds = sampled_golds(project, Whose(merge=rule), model)
            how: dict[str, Any] = {"sample": golds.sample, "assisted": assisted, "index": desk().documents.index}
            runs = [*desk().runs().values()]
            found = estimate(golds.people, golds.model, runs, [measure], anytime=True, **how)
            plans = [plan.sentence for plan in found.plan()]
            shown |= {"remarks": golds.remarks, "tables": found.tables(), "plans": plans}
        except FocusevalError as error:  # where the project lies concerns nobody outside
            told = str(error).removeprefix(f"{folder}: ").replace("give assisted=True to use", "tick the box to use")
            shown["message"] = told
    return render_template("estimate.html", **shown)


def _run() -> Path:
    known = {path.name: path for path in kept_runs(desk().folder)}  # a name never becomes a path
    return known.get(request.values.get("run", "")) or abort(404, "no such run")


def _depth() -> int:
    given = whole_number(request.values.get("depth", str(DEPTH)))
    if not 1 <= given <= DEEPEST:
        abort(422, f"expected a depth from 1 to {DEEPEST}")
    return given


@exchange.get("/exchange")
def page(message: str = "", imported: Imported | None = None) -> str:
    """Show what can be taken out and brought in."""
    everyone = assessors(desk().store)
    return render_template("exchange.html", everyone=everyone, merges=MERGES, message=message, imported=imported)


@exchange.get("/export")
def export() -> Response:
    """Send everything as lines of JSON."""
    whole = tempfile.TemporaryFile()  # noqa: SIM115  it is closed when it is sent; a slow client must not hold a read
    with desk().store.database.snapshot():
        whole.writelines(export_everything(desk().store))
    whole.seek(0)
    return send_file(whole, "application/x-ndjson", as_attachment=True, download_name="assessments.jsonl")


@exchange.get("/archive")
def archive() -> Response:
    """Send the finished collection as one file."""
    rule = request.args.get("merge", "union")
    if rule not in MERGES:
        abort(404, "no such rule")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "collection.zip"
        topics = list(desk().topics.values())
        hidden, title = request.args.get("anonymous") == "yes", desk().title
        write_archive(desk().store, desk().documents, topics, target, rule=rule, title=title, anonymous=hidden)
        return _sent(target, "application/zip")


@exchange.get("/gold")
def gold() -> Response:
    """Send the judgements of one assessor, or the adjudicated ones, in a gold format."""
    name, wanted = request.args.get("assessor", ""), request.args.get("format", "")
    rule = name.removeprefix(_MERGE) if name.startswith(_MERGE) else None
    known = {one.name for one in assessors(desk().store)} | {ADJUDICATED}
    if wanted not in EXPORTS or (name not in known and rule not in MERGES):
        abort(404, "no such format or assessor")
    decided = name == ADJUDICATED
    whose = Whose(None if rule or decided else name, adjudicated=decided, merge=rule)
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / "gold"
        inside.mkdir()
        target = inside if wanted not in _SUFFIX else inside / f"gold.{_SUFFIX[wanted]}"
        queries = {topic.id: topic.title for topic in desk().topics.values()}
        export_gold(desk().store, desk().documents, target, wanted, whose=whose, queries=queries)
        alone = [*inside.iterdir()] == [target]  # else names of assessors stand beside it
        return _sent(target if alone else Path(shutil.make_archive(str(inside), "zip", inside)))


def _sent(file: Path, kind: str = "application/octet-stream") -> Response:
    headers = {"Content-Disposition": f"attachment; filename={file.name}"}
    return Response(file.read_bytes(), mimetype=kind, headers=headers)


@exchange.post("/import")
def import_file() -> str | tuple[str, int]:
    """Read judgements that were made elsewhere as one more assessor."""
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        abort(400, "choose a file")
    try:
        text = sent.read().decode("utf-8")
        name = request.form.get("assessor", "").strip()[:64]
        store, documents, topics, file = desk().store, desk().documents.get, desk().topics, sent.filename[-80:]
        imported = import_judgements(store, text, documents, topics=topics, actor=user(), assessor=name, file=file)
    except (FocusevalError, UnicodeDecodeError) as error:
        return page(message=str(error)), 422
    return page(imported=imported)
