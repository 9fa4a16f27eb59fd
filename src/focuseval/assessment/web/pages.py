"""The pages of an assessor: topics, a topic's documents, a document; and what their scripts ask for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, pairwise
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, abort, current_app, jsonify, redirect, render_template, request, url_for
from flask import Response as Answer
from werkzeug.wrappers import Response

from focuseval.assessment.check import reanchor
from focuseval.assessment.plan import TRAINING, Pooled, Unit, add_found, in_pool, known_units, sampled_topics
from focuseval.assessment.pool import returned_parts
from focuseval.assessment.progress import Work, entries, neighbour, undone
from focuseval.assessment.project import drafted_topics, rewordings, setting, word_question
from focuseval.assessment.rules import OPEN, SCALES, TODO, as_dict, parse_edit
from focuseval.assessment.sampling import suggestions
from focuseval.assessment.store import ADJUDICATED, Key
from focuseval.assessment.web import desk as desks
from focuseval.assessment.web.desk import desk, document_view, key_of, shown_again, state_of, user, whole_number
from focuseval.collection.images import image_type
from focuseval.collection.pages import Pages
from focuseval.collection.pdfium import draw_page
from focuseval.data.fields import json_line
from focuseval.data.topics import Topic
from focuseval.errors import FocusevalError
from focuseval.measures.profiles import LINK_TYPES
from focuseval.retrieval.retrieving import Hit
from focuseval.retrieval.retrieving import search as search_documents

pages = Blueprint("pages", __name__)
api = Blueprint("api", __name__, url_prefix="/api")
HITS, LISTED = 20, 500  # results of a search, and documents of a folder, that a page shows
FUNCTION_WORDS = (
    " a about an and are as at be by can did do does for from had has have how i if in into is it its no not of on or"
    " our over so than that the their there they this to under was were what when where which who why will with you "
)
"""Words of a question that say nothing of what it is about; they stand on every line."""
LATE = 10_000  # milliseconds that an edit may wait in a browser before the log says when it was made
KEPT = 5  # documents that a browser keeps, for the time when the server is away
MOST_SCALE = 4.0


@pages.get("/")
def topics() -> str | Response:
    """List the topics with their progress; who has none of their own sees everyone's."""
    mine = desk().overview.of(user()) if desk().access.role(user()) != "reader" else []
    if not mine and desk().access.sees_all(user()):
        return redirect(url_for("dashboard.campaign"))
    drawn = {topic: place for place, topic in enumerate(sampled_topics(desk().store), 1)}
    return render_template("topics.html", mine=mine, training=len(_training()), drawn=drawn)


def _training() -> list[Unit]:
    """Return the training documents that are the user's, and that they have neither finished nor skipped."""
    known, statuses = known_units(desk().store), (TODO, OPEN)
    keys = [Key(user(), *unit) for unit, use in known.items() if use == TRAINING and unit[0] in desk().topics]
    store = desk().store
    return [key[1:] for key in keys if in_pool(store, key) and store.judgement(key).judgement.status in statuses]


@pages.get("/topic")
def topic() -> str | Response:
    """List the documents of one topic, with what became of each."""
    wanted = request.args.get("topic", "")
    mine = entries(desk().store, user(), wanted)
    if wanted in desk().topics and not mine and desk().access.sees_all(user()):
        return redirect(url_for("work.given", topic=wanted))
    if not mine or wanted not in desk().topics:
        abort(404, "no such topic in your pool")
    titles = desk().documents.titles(entry["document"] for entry in mine)
    training = {unit[1] for unit, use in known_units(desk().store).items() if use == TRAINING and unit[0] == wanted}
    shown = {"progress": _progress(user(), wanted), "titles": titles, "training": training}
    return render_template("topic.html", topic=desk().topics[wanted], entries=mine, **shown)


def _progress(assessor: str, topic: str) -> Work:
    """Return how far somebody is in a topic."""
    return next(row for row in desk().overview.of(assessor) if row.topic == topic)


@pages.get("/read")
def read() -> str:
    """Show one document for assessing; its text comes through the interface, as text."""
    key = key_of(request.args)
    page, store = desk().page(key.document), desk().store
    progress = _progress(key.assessor, key.topic)
    return render_template(
        "read.html",
        topic=desk().topics[key.topic],
        terms=query_terms(desk().topics[key.topic]),
        document=page.id,
        title=desk().documents.titles([page.id])[page.id],
        adjudicating=key.assessor == ADJUDICATED,
        previous=_address(neighbour(store, *key, -1), key.assessor),
        following=_address(neighbour(store, *key, 1), key.assessor),
        progress=progress,
        training=known_units(store).get(key[1:]) == TRAINING and key.assessor != ADJUDICATED,
        reopened=store.reopened(key),
        drafted=key.topic in drafted_topics(store),
        others_done=progress.done - store.judgement(key).judgement.finished,
    )


@pages.post("/question")
def question() -> Response:
    """Word a drafted question anew; who judges its document may."""
    key = key_of(request.form)
    own = desk()
    own.topics[key.topic] = word_question(own.store, own.folder, key.topic, request.form.get("text", ""), actor=user())
    own.rewordings = rewordings(own.store)
    return redirect(url_for("pages.read", topic=key.topic, document=key.document))


@pages.get("/next")
def upcoming() -> Response:
    """Go to the next document that is not done, skipped ones last, or to the list when everything is."""
    topic, document = request.args.get("topic", ""), request.args.get("document", "")
    if request.args.get("as") == ADJUDICATED:
        return redirect(url_for("adjudication.following", topic=topic, document=document))
    return redirect(_address(next(_upcoming(topic, document), None), user()) or url_for("pages.topics", done=1))


def _upcoming(topic: str, document: str) -> Iterator[Pooled]:
    """Yield what the user judges after a document: training first, then what is not done."""
    lessons = [Pooled(*unit) for unit in _training()]
    mine = [row for row in desk().overview.of(user()) if row.topic in desk().topics]
    return chain(lessons, undone(desk().store, user(), mine, topic, document))


@pages.get("/search")
def search(message: str = "") -> str:
    """Search the collection or look through its folders, for documents to judge for a topic, pooled or not."""
    topic, asked = _judges(request.values.get("topic", "")), request.values.get("q", "").strip()[:500]
    folder, index = request.values.get("in", "").strip("/"), desk().documents.index
    hits: tuple[Hit, ...] = ()
    if asked and index is not None:
        try:
            hits = search_documents(index, asked, results=HITS, unit="document")
        except FocusevalError as error:
            message = str(error)
    begins = f"{folder}/" if folder else ""
    ids = [] if asked or index is None else [one for one in index.ids.to_pylist() if one.startswith(begins)]
    below = {one[len(begins) :].partition("/")[0] for one in ids if "/" in one[len(begins) :]}
    here = [one for one in ids if "/" not in one[len(begins) :]]
    names = [hit.document for hit in hits] or here[:LISTED]
    steps = folder.split("/") if folder else []
    marked = {}  # the pieces of each snippet, and whether each is a word that was asked for
    for hit in hits:
        edges = [0, *(edge for mark in hit.marks for edge in mark), len(hit.snippet)]
        marked[hit.document] = [(hit.snippet[a:b], k % 2 == 1) for k, (a, b) in enumerate(pairwise(edges))]
    return render_template(
        "search.html",
        topic=topic,
        asked=asked,
        hits=marked,
        folders=sorted(below),
        names=names,
        more=len(here) - len(names) if not asked else 0,
        crumbs=[("/".join(steps[: k + 1]), step) for k, step in enumerate(steps)],
        begins=begins,
        mine={name for name in names if in_pool(desk().store, Key(user(), topic.id, name))},
        titles=desk().documents.titles(names),
        message=message,
    )


@pages.post("/found")
@shown_again(search)
def found() -> Response:
    """Judge a document that is not in the pool."""
    topic, document = _judges(request.form.get("topic", "")), request.form.get("document", "")
    desk().documents.plain(document)  # one that the collection does not have is refused
    add_found(desk().store, Key(user(), topic.id, document))
    return redirect(url_for("pages.read", topic=topic.id, document=document))


def _judges(topic: str) -> Topic:
    """Return a topic that the user judges; it does not exist for anybody else."""
    if desk().access.role(user()) == "reader":
        abort(403, "a reader judges nothing")
    if topic not in desk().topics or all(row.topic != topic for row in desk().overview.of(user())):
        abort(404, "no such topic in your pool")
    return desk().topics[topic]


def query_terms(topic: Topic) -> list[str]:
    """Return the words and phrases to colour in the text: neither unwanted ones nor mere function words."""
    terms = {term.text for term in topic.terms if term.sign != "-" and len(term.text) > 1}
    return sorted(text for text in terms if f" {text.lower()} " not in FUNCTION_WORDS)


def _address(row: Pooled | None, assessor: str) -> str:
    if row is None:
        return ""
    values = {"topic": row.topic, "document": row.document} | ({"as": ADJUDICATED} if assessor == ADJUDICATED else {})
    return f"{url_for('pages.read')}?{urlencode(values)}"


@api.get("/document")
def document() -> Answer:
    """Return text, blocks, elements and the judgement so far."""
    key = key_of(request.args)
    store, page = desk().store, desk().documents.get(key.document)
    saved = store.judgement(key)
    paged = desk().documents.pages(key.document)
    drawn = paged is not None and paged.original is not None
    sizes = None if paged is None or not drawn else [[*paged.span(n), *paged.size(n)] for n in range(1, len(paged) + 1)]
    seen, parts = setting(store, "pooled"), {}
    if seen != "hidden":
        row = int(desk().documents.index.find([key.document])[0])
        tags = LINK_TYPES if setting(store, "elements") == "filtered" else ()
        parts = returned_parts(desk().runs().values(), key.topic, row, without=tags)
    shown = {
        "document": document_view(page),
        "state": state_of(saved),
        "changed": desks.changed_view(store, saved, page),
        "pooled": [(*span, names if seen == "named" else []) for span, names in parts.items()],
        "scale": store.scale,
        "grades": SCALES[store.scale],
        "snap": setting(store, "snap"),
        "pages": sizes,
        "suggested": suggestions(store, key, page),
    }
    return jsonify(shown)


@api.get("/upcoming")
def kept() -> Answer:
    """Return where the documents are that come after this one; nothing comes by itself where somebody adjudicates."""
    key = key_of(request.args)
    rows = () if key.assessor == ADJUDICATED else (row for row in _upcoming(*key[1:]) if row[:2] != key[1:])
    return jsonify({"documents": [_address(row, user()) for row in islice(rows, KEPT)]})


@pages.get("/worker.js")
def worker() -> Answer:
    """Return the script that keeps documents; its place says for which pages it may speak."""
    return current_app.send_static_file("worker.js")


@api.get("/state")
def state() -> Answer:
    """Return the judgement alone, for a page that comes back after a while."""
    return jsonify({"state": state_of(desk().store.judgement(key_of(request.args)))})


@api.post("/edit")
def edit() -> Answer:
    """Do one edit; the answer is sent after the commit."""
    values = body()
    key = key_of(values)
    page = desk().page(key.document)
    asked, age = parse_edit(values.get("edit")), values.get("age")
    if isinstance(age, int) and LATE <= age < 10**10:  # it has waited in a browser
        asked["made"] = (datetime.now(UTC) - timedelta(milliseconds=age)).isoformat(timespec="milliseconds")
    if helped := suggestions(desk().store, key, page):
        asked["source"] = {"assisted": helped[0]}
    saved = desk().store.edit(key, page, asked, actor=user(), **stamp(values))
    return jsonify({"state": state_of(saved)})


@api.get("/history")
def history() -> Answer:
    """Return what was done to a judgement, oldest first: who, when, what, and what it led to."""
    found = desk().store.history(key_of(request.args))
    shown = ({"at": at, "actor": actor, "edit": edit, "state": as_dict(state)} for at, actor, edit, state in found)
    return jsonify({"events": list(shown)})


@api.post("/back")
def back() -> Answer:
    """Go back to the state after one of the events of a judgement: one more event, which can be undone."""
    values = body()
    key, to = key_of(values), values.get("to")
    found = desk().store.history(key)
    if not isinstance(to, int) or not 1 <= to <= len(found):
        abort(400, "expected the number of an event")
    if any(edit.get("barrier") for _, _, edit, _ in found[to:]):
        abort(422, "the text has changed since; that state speaks of another text")
    edit = {"kind": "replace", "judgement": as_dict(found[to - 1][3]), "source": {"back": to}}
    saved = desk().store.edit(key, desk().page(key.document), edit, actor=user(), **stamp(values))
    return jsonify({"state": state_of(saved)})


@api.post("/reanchor")
def move() -> Answer:
    """Accept the changed text, with what was found again in it."""
    values = body()
    key = key_of(values)
    page = desk().documents.get(key.document)
    saved = reanchor(desk().store, key, page, drop_lost=values.get("drop_lost") is True, **stamp(values))
    return jsonify({"state": state_of(saved)})


def body() -> dict[str, Any]:
    """Return the JSON object that was sent; anything else is refused."""
    try:
        values = request.get_json()
        if b"\\u" in request.get_data() or b"\xed" in request.get_data():  # Python takes half a pair in UTF-8, too
            json_line(values)
    except RecursionError:
        abort(400, "nested too deeply")
    except UnicodeEncodeError:
        abort(400, "half a character (a lone surrogate) cannot be stored")
    if not isinstance(values, dict):
        abort(400, "a JSON object is needed")
    return values


def stamp(values: dict[str, Any]) -> dict[str, Any]:
    """Return the version that the editor saw and the token of this edit."""
    version, token = values.get("version"), values.get("token")
    if not isinstance(version, int) or not isinstance(token, str) or not 8 <= len(token) <= 80:
        abort(400, "a version and a token are needed")
    return {"version": version, "token": token}


def _page_asked_for() -> tuple[str, Pages, int]:
    """Return the document, its pages and the page that a request speaks of."""
    document = key_of(request.args).document
    held, page = desk().documents.pages(document), whole_number(request.args.get("page", ""))
    if held is None or not 1 <= page <= len(held):
        abort(404, "no such page")
    return document, held, page


@api.get("/picture")
def picture() -> Answer:
    """Return a page of a PDF as PNG, in so many pixels a point; the server rounds to halves."""
    document, held, page = _page_asked_for()
    try:
        scale = min(max(round(2 * float(request.args.get("scale", "1"))) / 2, 0.5), MOST_SCALE)
    except (ValueError, OverflowError):
        abort(400, "a scale is needed")
    found = desk().pictures.get((document, page, scale), lambda: draw_page(held.file(document), document, page, scale))
    return Answer(found, mimetype="image/png")


@api.get("/image")
def image() -> Answer:
    """Return an image of a document, by its number; which file that is says the document, and no request."""
    everything = desk().access.sees_all(user())
    document = desks.pooled_unit(request.args)[1] if everything else key_of(request.args).document
    number = whole_number(request.args.get("number", ""))
    found = desk().documents.image(document, number)
    if found is None:
        abort(404, "no such image")
    return Answer(found, mimetype=image_type(found))


@api.get("/words")
def words() -> Answer:
    """Return the words of a page: start and end in code points, box in points, direction of their line."""
    document, held, page = _page_asked_for()
    return jsonify({"words": held.words(page, desk().documents.plain(document).text)})
