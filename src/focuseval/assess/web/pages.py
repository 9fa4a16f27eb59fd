"""The pages of an assessor: topics, a topic's documents, a document."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flask import Blueprint, abort, redirect, render_template, request, url_for

from focuseval.assess.progress import by_topic, entries, neighbour, next_undone
from focuseval.assess.rules import FINISHED
from focuseval.assess.store import ADJUDICATED
from focuseval.assess.web.desk import asked, desk, user

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from focuseval.assess.plan import Pooled
    from focuseval.topics import Topic

pages = Blueprint("pages", __name__)


@pages.get("/")
def topics() -> str:
    """List the topics with their progress."""
    mine = entries(desk().store, user())
    shown = [entry for entry in mine if entry.pooled.topic in desk().topics]
    dropped = sorted({entry.pooled.topic for entry in mine} - set(desk().topics))
    return render_template(
        "topics.html", progress=by_topic(shown), upcoming=next_undone(shown, "", ""), dropped=dropped
    )


@pages.get("/topic")
def topic() -> str:
    """List the documents of one topic, with what became of each."""
    wanted = request.args.get("topic", "")
    mine = entries(desk().store, user(), wanted)
    if not mine or wanted not in desk().topics:
        abort(404, "no such topic in your pool")
    titles = desk().titles.of(entry.pooled.document for entry in mine)
    return render_template(
        "topic.html", topic=desk().topics[wanted], entries=mine, progress=by_topic(mine)[0], titles=titles
    )


@pages.get("/read")
def read() -> str:
    """Show one document for assessing; its text comes through the interface, as text."""
    key, page = asked()
    mine = entries(desk().store, key.assessor, key.topic)
    return render_template(
        "read.html",
        topic=desk().topics[key.topic],
        terms=query_terms(desk().topics[key.topic]),
        document=page.id,
        title=desk().titles.of([page.id])[page.id],
        adjudicating=key.assessor == ADJUDICATED,
        previous=_address(neighbour(mine, key.topic, key.document, -1), key.assessor),
        following=_address(neighbour(mine, key.topic, key.document, 1), key.assessor),
        progress=by_topic(mine)[0],
        others_done=sum(entry.status in FINISHED and entry.pooled.document != key.document for entry in mine),
    )


@pages.get("/next")
def upcoming() -> Response:
    """Go to the next document that is not done, or to the list when everything is."""
    assessor = ADJUDICATED if request.args.get("as") == ADJUDICATED else user()
    if assessor == ADJUDICATED:
        return redirect(url_for("adjudication.documents"))
    here = (request.args.get("topic", ""), request.args.get("document", ""))
    store = desk().store
    everything = [entry for entry in entries(store, assessor) if entry.pooled.topic in desk().topics]
    found = next_undone(everything, *here)
    return redirect(_address(found, assessor) or url_for("pages.topics", done=1))


FUNCTION_WORDS = (
    " a about an and are as at be by can did do does for from had has have how i if in into is it its no not of on or"
    " our over so than that the their there they this to under was were what when where which who why will with you "
)
"""Words of a question that say nothing of what it is about; they stand on every line."""


def query_terms(topic: Topic) -> list[str]:
    """Return the words and phrases to colour in the text: neither unwanted ones nor mere function words."""
    told = {term.text for term in topic.terms if term.sign != "-" and len(term.text) > 1}
    return sorted(text for text in told if f" {text.lower()} " not in FUNCTION_WORDS)


def _address(row: Pooled | None, assessor: str) -> str:
    if row is None:
        return ""
    values = {"topic": row.topic, "document": row.document}
    if assessor == ADJUDICATED:
        values["as"] = ADJUDICATED
    return url_for("pages.read") + "?" + urlencode(values)
