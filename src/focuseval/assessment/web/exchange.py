"""Judgements out and in, for a lead: files to keep, gold to score with, judgements made elsewhere."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, render_template, request, send_file

from focuseval.assessment.adjudication import MERGES
from focuseval.assessment.archive import write_archive
from focuseval.assessment.exchange import export_everything, import_judgements
from focuseval.assessment.golds import EXPORTS, Whose, export_gold
from focuseval.assessment.plan import assessors
from focuseval.assessment.store import ADJUDICATED
from focuseval.assessment.web.desk import desk, leads_only, overseers_only, user
from focuseval.errors import FocusevalError

if TYPE_CHECKING:
    from focuseval.assessment.exchange import Imported

_MERGE = "merge "
_SUFFIX = {"gold-jsonl": "jsonl", "inex-2008": "txt", "trec-qrels": "qrels"}

exchange = Blueprint("exchange", __name__)


@exchange.get("/exchange")
def page(message: str = "", imported: Imported | None = None) -> str:
    """Show what can be taken out and brought in."""
    overseers_only()
    everyone = assessors(desk().store)
    return render_template("exchange.html", everyone=everyone, merges=MERGES, message=message, imported=imported)


@exchange.get("/export")
def export() -> Response:
    """Send everything as lines of JSON."""
    overseers_only()
    whole = tempfile.TemporaryFile()  # noqa: SIM115  it is closed when it is sent; a slow client must not hold a read
    with desk().store.database.snapshot():
        whole.writelines(export_everything(desk().store))
    whole.seek(0)
    return send_file(whole, "application/x-ndjson", as_attachment=True, download_name="assessments.jsonl")


@exchange.get("/archive")
def archive() -> Response:
    """Send the finished collection as one file."""
    overseers_only()
    rule = request.args.get("merge", "union")
    if rule not in MERGES:
        abort(404, "no such rule")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "collection.zip"
        topics = list(desk().topics.values())
        hidden, title = request.args.get("anonymous") == "yes", desk().title
        write_archive(desk().store, desk().documents, topics, target, rule=rule, title=title, anonymous=hidden)
        data = target.read_bytes()
    headers = {"Content-Disposition": "attachment; filename=collection.zip"}
    return Response(data, mimetype="application/zip", headers=headers)


@exchange.get("/gold")
def gold() -> Response:
    """Send the judgements of one assessor, or the adjudicated ones, in a gold format."""
    overseers_only()
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
        target = inside if wanted == "inex-2005" else inside / f"gold.{_SUFFIX[wanted]}"
        queries = {topic.id: topic.title for topic in desk().topics.values()}
        export_gold(desk().store, desk().documents, target, wanted, whose=whose, queries=queries)
        packed = _packed(inside, alone=target)
        data = packed.read_bytes()
    headers = {"Content-Disposition": f"attachment; filename={packed.name}"}
    return Response(data, mimetype="application/octet-stream", headers=headers)


def _packed(folder: Path, *, alone: Path) -> Path:
    """Return the one file of a folder, or an archive of all when there are more."""
    files = list(folder.iterdir())
    return files[0] if files == [alone] else Path(shutil.make_archive(str(folder), "zip", folder))


@exchange.post("/import")
def upload() -> str | tuple[str, int]:
    """Read judgements that were made elsewhere as one more assessor."""
    leads_only()
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        abort(400, "choose a file")
    try:
        text = sent.read().decode("utf-8")
        name = request.form.get("assessor", "").strip()[:64]
        store, documents, topics = desk().store, desk().documents.get, desk().topics
        imported = import_judgements(store, text, documents, topics=topics, actor=user(), assessor=name, file="upload")
    except (FocusevalError, UnicodeDecodeError) as error:
        return page(message=str(error)), 422
    return page(imported=imported)
