"""Everything a request needs: the project, who may come in, who is asking, documents and judgements as plain values."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any

from flask import Flask, abort, current_app, g, request
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import BadData
from werkzeug.http import parse_cookie

from focuseval.assessment import rules
from focuseval.assessment.adjudication import SharedDocuments
from focuseval.assessment.plan import in_pool
from focuseval.assessment.pool import Pool, PoolStatistics, describe_pool, kept_runs, project_pool
from focuseval.assessment.progress import Overview
from focuseval.assessment.project import rewordings
from focuseval.assessment.sessions import Attempts, Sessions
from focuseval.assessment.store import ADJUDICATED, Key, Saved, Store
from focuseval.assessment.users import User
from focuseval.collection.rendering import Document, DocumentCache, render
from focuseval.data.run import Run
from focuseval.data.topics import Topic
from focuseval.engine.lazy import Kept
from focuseval.errors import FocusevalError
from focuseval.formats import read_run
from focuseval.placing.anchor import diff, propose

SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
DOOR_LIMIT, EDIT_LIMIT, UPLOAD_LIMIT = 64 * 2**10, 8 * 2**20, 64 * 2**20  # bytes of a body
UPLOADS = ("/import", "/pool")  # where a lead may send a file
KEPT_BYTES = 64 << 20  # bytes of pictures that stay in memory


def document_view(document: Document) -> dict[str, Any]:
    """Return text, blocks, what is around and inside them, and elements; all positions are code points."""
    rendering, elements = render(document), desk().store.offered(document).elements
    columns = {name: [getattr(one, name) for one in elements] for name in ("path", "start", "end", "parent")}
    return {
        "id": document.id,
        "text": document.text,
        "sha256": document.sha256,
        "blocks": [[block.start, block.end, block.named, block.level] for block in rendering.blocks],
        **rendering.as_json(),
        "elements": columns,
    }


def state_of(saved: Saved) -> dict[str, Any]:
    """Return a judgement with what follows from it: the entry point, warnings, inferred grades."""
    judgement, document = saved.judgement, desk().store.offered(desk().page(saved.key.document))
    view = {
        **rules.as_dict(judgement),
        "version": saved.version,
        "at": saved.at,
        "entry_point": judgement.entry_point,
        "warnings": list(rules.warnings(judgement, document.text)),
    }
    scale = desk().store.scale
    if rules.SCALES[scale]:
        view["ungraded"] = rules.ungraded(document, judgement, scale)
    if scale == rules.EXHAUSTIVITY:
        view["inferred"] = rules.inferred(document, judgement.grades)
    elif scale in rules.ON_ELEMENTS:
        view["warnings"] += rules.contradictions(document, judgement.grades, scale)
    return view


def changed_view(store: Store, saved: Saved, document: Document) -> dict[str, Any] | None:
    """Return what re-anchoring would do when the text is not the one that was assessed; None when it is."""
    if not saved.version or saved.text_sha256 == document.sha256:
        return None
    proposal = propose(saved.judgement.bep, store.quotes(saved.key), document.text)
    return {
        "complete": proposal.complete,
        "highlights": [
            {
                "before": list(one.before),
                "after": list(one.after) if one.after else None,
                "verdict": one.verdict,
                "quote": one.quote[:400],
                "diff": diff(one.quote, document.text, one.before[0]) if not one.after else [],
            }
            for one in proposal.highlights
        ],
    }


@dataclass(frozen=True)
class Access:
    """The server's door: with `users` by name and password, else by a secret link, which lets the `assessor` in."""

    secret: bytes = field(repr=False)
    """Signs the session cookies; kept with the project, so that a restart logs nobody out."""
    hosts: frozenset[str] = frozenset()  # the values of the Host header that are ours, with their ports
    assessor: str = ""
    users: Mapping[str, User] | None = field(default=None, repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    attempts: Attempts = field(default_factory=Attempts, repr=False)
    sessions: Sessions = field(default_factory=Sessions, repr=False)

    @property
    def cookie(self) -> str:
        """The cookie's name, a project's own: browsers share cookies among the ports of a machine."""
        return f"focuseval-{hashlib.sha256(b'cookie' + self.secret).hexdigest()[:8]}"

    @property
    def browser_cookie(self) -> str:
        """The name of the cookie by which a browser is known again in which somebody has logged in."""
        return f"{self.cookie}-browser"

    def browser_of(self, name: str, number: str) -> str:
        """Return what that cookie holds: a number, and that it was given to this user."""
        signature = hmac.new(self.secret, f"browser {name} {number}".encode(), hashlib.sha256).hexdigest()[:32]
        return f"{number}.{signature}"

    def known_browser(self, name: str, cookie: str) -> str:
        """Return a browser's number if this user has logged in there before, else ''."""
        number = cookie.partition(".")[0]
        return number if number and hmac.compare_digest(cookie.encode(), self.browser_of(name, number).encode()) else ""

    def enter(self, token: str) -> str | None:
        """Return the assessor that the link's token lets in, or None."""
        fits = self.users is None and hmac.compare_digest(token.encode(), self.token.encode())
        return self.assessor if fits else None

    def begin(self, name: str) -> dict[str, Any]:
        """Return what the cookie of a new session says."""
        return {**self.sessions.begin(name), "proof": self._proof(name)}

    def user_of(self, cookie: Mapping[str, Any]) -> str:
        """Return whose session a cookie stands for, '' when it stands for none any more.

        A session ends with a logout, when it is revoked, when its user is removed, gets another password, or has got
        in by the link of a server that has users now.
        """
        name, proof = str(cookie.get("user", "")), str(cookie.get("proof", ""))
        known = name in self.users if self.users is not None else name == self.assessor
        if not known or not name or not hmac.compare_digest(proof, self._proof(name)):
            return ""
        return name if self.sessions.lives(cookie) else ""

    def role(self, name: str) -> str:
        """Return a user's role; somebody who came by the printed link leads."""
        if self.users is None:
            return "lead"
        user = self.users.get(name)
        return user.role if user is not None else ""

    def leads(self, name: str) -> bool:
        """Whether a user may see and change what others did."""
        return self.role(name) == "lead"

    def sees_all(self, name: str) -> bool:
        """Whether a user may see what others did: a lead, or a reader, who changes nothing."""
        return self.role(name) in ("lead", "reader")

    def _proof(self, name: str) -> str:
        """Return what only a cookie of the user's present password, or of the link, holds."""
        user = self.users.get(name) if self.users is not None else None
        what = user.password if user else "the link"
        return hmac.new(self.secret, what.encode(), hashlib.sha256).hexdigest()[:32]


def limit_of(user: str, path: str, access: Access) -> int:
    """Return the bytes of a body that a user may send to a path."""
    if not user:
        return DOOR_LIMIT
    return UPLOAD_LIMIT if path in UPLOADS and access.leads(user) else EDIT_LIMIT


def body_limit(app: Flask) -> Callable[[str, str], int]:
    """Return a function that tells the server, from a request's path and cookies, how large its body may be.

    An app without a door of ours, a report's, is sent nothing large.
    """
    if "focuseval" not in app.extensions:
        return lambda _path, _cookies: DOOR_LIMIT
    access: Access = app.extensions["focuseval"].access

    def limit(path: str, cookies: str) -> int:
        try:
            signed = parse_cookie(cookies).get(access.cookie, "")
            seconds = int(app.permanent_session_lifetime.total_seconds())
            cookie = SecureCookieSessionInterface().get_signing_serializer(app).loads(signed, max_age=seconds)  # type: ignore[union-attr]
        except (BadData, UnicodeError):
            return DOOR_LIMIT
        return limit_of(access.user_of(cookie), path, access)

    return limit


class Desk:
    """The project as the web sees it."""

    def __init__(
        self, store: Store, documents: DocumentCache, topics: dict[str, Topic], access: Access, title: str
    ) -> None:
        self.store, self.documents, self.topics, self.access, self.title = store, documents, topics, access, title
        self.folder = store.database.path.parent
        self.rewordings = rewordings(store)  # the topics that read otherwise than when the judging began
        self.seen: dict[str, str] = {}  # user → when they last asked for anything, since the server began
        self.overview = Overview(store)
        self.shared = SharedDocuments(store, documents.extents)
        self.pictures = Kept[bytes](KEPT_BYTES, len)
        self._pool: tuple[int, Pool, PoolStatistics] | None = None
        self._runs: dict[Path, Run] = {}

    def pool(self) -> tuple[Pool, PoolStatistics]:
        """Return the project's pool with its statistics, made again only after the plan has changed."""
        query = "SELECT coalesce(max(seq), 0) FROM events WHERE assessor = ''"
        (last,) = self.store.rows(query).fetchone()
        if self._pool is None or self._pool[0] != last:
            pool = project_pool(self.store)
            self._pool = last, pool, describe_pool(pool)
        return self._pool[1:]

    def runs(self) -> dict[Path, Run]:
        """Return the runs that the project keeps, each as the file is called that it came in; read once."""
        known, found = self._runs, {}
        for path in kept_runs(self.folder):  # its name begins with twelve digits that say what it holds
            run = known.get(path) or read_run(path, index=self.documents.index)
            found[path] = replace(run, file=path.name[13:], run_id=run.run_id.removeprefix(path.name[:13]))
        self._runs = dict(sorted(found.items(), key=lambda item: (item[1].run_id, item[0])))
        return self._runs

    def page(self, document: str) -> Document:
        """Return a document with what an edit of it needs: where elements are graded, these, too."""
        return self.documents.get(document) if rules.SCALES[self.store.scale] else self.documents.plain(document)


def desk() -> Desk:
    """Return the desk of this app."""
    its: Desk = current_app.extensions["focuseval"]
    return its


def user() -> str:
    """Return who is asking; they were let in."""
    return str(g.user)


def key_of(values: Mapping[str, Any]) -> Key:
    """Return whose judgement a request speaks of: the user's own, or the adjudicated one for who may decide it.

    A document that is not in the user's pool does not exist for them.
    """
    topic, document = values.get("topic"), values.get("document")
    adjudicating = values.get("as") == ADJUDICATED
    if not isinstance(topic, str) or not isinstance(document, str):
        abort(400, "a topic and a document are needed")
    if adjudicating and not desk().access.leads(user()):
        abort(403, "only a lead adjudicates")
    if desk().access.role(user()) == "reader":
        abort(403, "a reader judges nothing")
    key = Key(ADJUDICATED if adjudicating else user(), topic, document)
    if topic not in desk().topics or not in_pool(desk().store, key):
        abort(404, "no such document in your pool")
    return key


def shown_again(page: Callable[..., str]) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Have a route that is refused show a page again, with what is wrong above it."""

    def around(route: Callable[[], Any]) -> Callable[[], Any]:
        @wraps(route)
        def answer() -> Any:
            try:
                return route()
            except FocusevalError as error:
                return page(message=str(error)), 422

        return answer

    return around


def whole_number(text: str) -> int:
    """Return the number that a form holds; −1 for anything else, and for one that has too many digits to be meant."""
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def pooled_unit(values: Mapping[str, Any]) -> tuple[str, str]:
    """Return the topic and the document that a request speaks of, for those who see everything."""
    topic, document = str(values.get("topic", "")), str(values.get("document", ""))
    if topic not in desk().topics or not in_pool(desk().store, Key(ADJUDICATED, topic, document)):
        abort(404, "no such document in the pool")
    return topic, document


def leads_only() -> None:
    """Refuse everyone who may not change what others did."""
    if not desk().access.leads(user()):
        abort(403, "only a lead may do this")


def overseers_only() -> None:
    """Refuse everyone who is to stay blind; a reader may look, and the app keeps them from changing anything."""
    if not desk().access.sees_all(user()):
        abort(403, "only a lead sees what others judged")


def overseers_look_leads_change() -> None:
    """Refuse, before every route of a blueprint, everyone who may not look at what others did, or not change it."""
    overseers_only() if request.method in SAFE else leads_only()
