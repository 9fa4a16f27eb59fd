"""What the page's scripts ask for: a document, an edit, a text that changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, jsonify, request

from focuseval.assessment.reanchor import reanchor
from focuseval.assessment.rules import parse_edit
from focuseval.assessment.view import changed_view, document_view, state_view
from focuseval.assessment.web.desk import asked, desk, key_of, user

if TYPE_CHECKING:
    from flask import Response

    from focuseval.assessment.store import Saved

api = Blueprint("api", __name__, url_prefix="/api")


@api.get("/document")
def document() -> Response:
    """Return text, blocks, elements and the judgement so far."""
    key, _ = asked()
    page = desk().documents.get(key.document)
    saved = desk().store.judgement(key)
    return jsonify(
        {
            "document": document_view(page),
            "state": _state(saved),
            "changed": changed_view(desk().store, saved, page),
            "exhaustivity": desk().store.exhaustivity,
        }
    )


@api.get("/state")
def state() -> Response:
    """Return the judgement alone, for a page that comes back after a while."""
    key, _ = asked()
    return jsonify({"state": _state(desk().store.judgement(key))})


@api.post("/edit")
def edit() -> Response:
    """Do one edit; the answer is sent after the commit."""
    values = body()
    key = key_of(values)
    page = desk().page(key.document)
    saved = desk().store.edit(key, page, parse_edit(values.get("edit")), actor=user(), **stamp(values))
    return jsonify({"state": _state(saved)})


@api.post("/reanchor")
def move() -> Response:
    """Accept the changed text, with what was found again in it."""
    values = body()
    key = key_of(values)
    page = desk().documents.get(key.document)
    saved = reanchor(desk().store, key, page, drop_lost=values.get("drop_lost") is True, **stamp(values))
    return jsonify({"state": _state(saved)})


def body() -> dict[str, Any]:
    """Return the JSON object that was sent; anything else is refused."""
    try:
        values = request.get_json()
    except RecursionError:
        abort(400, "nested too deeply")
    if not isinstance(values, dict):
        abort(400, "a JSON object is needed")
    if b"\\u" in request.get_data() and not _is_text(values):
        abort(400, "half a character (a lone surrogate) cannot be stored")
    return values


def _is_text(values: dict[str, Any]) -> bool:
    """Whether every text in the request can be written down."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def stamp(values: dict[str, Any]) -> dict[str, Any]:
    """Return the version that the editor saw and the token of this edit."""
    version, token = values.get("version"), values.get("token")
    if not isinstance(version, int) or not isinstance(token, str) or not 8 <= len(token) <= 80:
        abort(400, "a version and a token are needed")
    return {"version": version, "token": token}


def _state(saved: Saved) -> dict[str, Any]:
    page = desk().page(saved.key.document)
    return state_view(saved, page, exhaustivity=desk().store.exhaustivity)
