"""The same page from a server on this machine: lists and texts are asked for one by one, so nothing is left out.

The printed link carries a token; with the first visit it becomes a cookie that other sites never see. A Host that is
not ours is refused, so that a foreign name pointed at this machine gets nothing.
"""

from __future__ import annotations

import hashlib
import hmac

from flask import Flask, Response, abort, jsonify, make_response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from focuseval.errors import FocusevalError
from focuseval.report.build import report_on
from focuseval.report.evidence import Evidence
from focuseval.report.page import render_html
from focuseval.report.text_view import lists_of, numbered, topic_view
from focuseval.report.texts import reader


def create_app(evidence: Evidence, token: str, hosts: frozenset[str], *, title: str = "") -> Flask:  # noqa: C901  its routes share what it reads
    """Return the app of one report."""
    page = render_html(report_on(evidence, title=title, served=True))
    read = reader(evidence.index) if evidence.index is not None else None
    lists = lists_of(evidence) if evidence.index is not None else None
    number = {name: i for i, name in enumerate(evidence.scores.topics)}
    app = Flask("focuseval.report", static_folder=None)
    app.register_error_handler(FocusevalError, lambda error: (str(error), 404, {"Content-Type": "text/plain"}))

    @app.before_request
    def check() -> None:
        if request.headers.get("Host", "").lower() not in hosts:
            abort(403, "this server does not answer to that name")
        given = request.args.get("token", "") or request.cookies.get(cookie_of(token), "")
        if not hmac.compare_digest(given.encode(), token.encode()):
            abort(403, "open the link that 'focuseval report --serve' printed")

    @app.after_request
    def close(response: Response) -> Response:  # out of frames and caches
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response

    @app.get("/")
    def show() -> AnyResponse | str:
        if "token" not in request.args:
            return page
        entered: AnyResponse = make_response(redirect("/"))
        entered.set_cookie(cookie_of(token), token, httponly=True, samesite="Lax")
        return entered

    @app.get("/lists")
    def ranked_lists() -> Response:
        topic = number.get(request.args.get("topic", ""))
        if topic is None or lists is None:
            abort(404, "there is no such topic")
        view = topic_view(lists, topic, None)
        return jsonify({"topic": view, "documents": [lists.document_id(evidence, row) for row in numbered([view])]})

    @app.get("/document")
    def document() -> Response:
        found = -1 if evidence.index is None else int(evidence.index.find([request.args.get("doc", "")])[0])
        if read is None or found < 0:
            abort(404, "there is no such document")
        return jsonify(read(found))

    return app


def cookie_of(token: str) -> str:
    """Return the cookie's name, a report's own: browsers share cookies among the ports of a machine."""
    return f"focuseval-report-{hashlib.sha256(token.encode()).hexdigest()[:8]}"
