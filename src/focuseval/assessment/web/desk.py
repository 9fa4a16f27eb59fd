"""Everything a request needs, as the app was given it, and who is asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flask import abort, current_app, g, request

from focuseval.assessment.plan import in_pool
from focuseval.assessment.progress import Overview
from focuseval.assessment.shared_documents import SharedDocuments
from focuseval.assessment.store import ADJUDICATED, Key
from focuseval.collection.rendering import Titles
from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from focuseval.assessment.store import Store
    from focuseval.assessment.web.access import Access
    from focuseval.assessment.wording import Rewording
    from focuseval.collection.rendering import Document, DocumentCache
    from focuseval.data.topics import Topic


@dataclass(frozen=True)
class Desk:
    """The project as the web sees it."""

    store: Store
    documents: DocumentCache
    topics: Mapping[str, Topic]
    access: Access
    title: str = "Assessments"
    rewordings: Mapping[str, Rewording] = field(default_factory=dict)
    """The topics that read otherwise than when the judging began."""
    seen: dict[str, str] = field(default_factory=dict, repr=False)
    """User → when they last asked for anything, since the server began."""

    def page(self, document: str) -> Document:
        """Return a document with what an edit of it needs: in 2005 mode its elements, too."""
        return self.documents.get(document) if self.store.exhaustivity else self.documents.plain(document)

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.store.database.path.parent

    @cached_property
    def overview(self) -> Overview:
        """What everybody has done."""
        return Overview(self.store)

    @cached_property
    def shared(self) -> SharedDocuments:
        """What several assessors finished."""
        return SharedDocuments(self.store, self.documents.extents)

    @cached_property
    def titles(self) -> Titles:
        """Titles of documents."""
        return Titles(self.documents.get)


def desk() -> Desk:
    """Return the desk of this app."""
    found: Desk = current_app.extensions["focuseval"]
    return found


def user() -> str:
    """Return who is asking; the guard has let them in."""
    name: str = g.user
    return name


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


def asked() -> tuple[Key, Document]:
    """Return the judgement and the document that the address names."""
    key = key_of(request.args)
    return key, desk().page(key.document)


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
    """Refuse everyone who is to stay blind; a reader may look, and `guard` keeps them from changing anything."""
    if not desk().access.sees_all(user()):
        abort(403, "only a lead sees what others judged")
