"""A project of two documents for one topic of the embedded example, and two imported assessors."""

import json

from click.testing import CliRunner

from focuseval.assessment import open_project
from focuseval.assessment.plan import Assessor, pool, register
from focuseval.assessment.rules import Judgement, as_dict
from focuseval.assessment.store import Key
from focuseval.cli import main
from focuseval.example import ROOT

TIDES = "101"
DOCUMENTS = ("water/tide", "water/rock-pool")


def command(*arguments, code=0, stdin=None):
    """Run focuseval and return all that it said."""
    told = CliRunner().invoke(main, [*map(str, arguments)], input=stdin)
    assert told.exit_code == code, told.output
    return told.output


def begin_project(folder, collection=ROOT / "articles"):
    """A project in which nothing is judged yet."""
    pool = [{"pool": 1, "depth": 1, "size": None, "order": "runs", "seed": 0, "runs": []}]
    for rank, name in enumerate(DOCUMENTS, 1):
        pool.append({"topic": TIDES, "doc": name, "runs": 1, "best": rank, "by": [], "batch": 0})
    (folder / "pool.jsonl").write_text("".join(json.dumps(line) + "\n" for line in pool))
    begin = {"topics": str(ROOT / "topics.xml"), "pool": str(folder / "pool.jsonl")}
    open_project(folder / "sea", collection=str(collection), **begin).close()
    return folder / "sea"


def judgements(folder, name, *spans):
    """A file of judgements: the spans in the first document, nothing in the second."""
    lines = [
        {"topic": TIDES, "doc": DOCUMENTS[0], "spans": [{"start": a, "end": b} for a, b in spans], "assessor": name},
        {"topic": TIDES, "doc": DOCUMENTS[1], "spans": [], "assessor": name},
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def judged_project(folder, **others):
    """A project with the judgements of "one" and "two"."""
    project = begin_project(folder, **others)
    command("project", "import", project, judgements(folder, "one", (100, 200), (300, 340)))
    command("project", "import", project, judgements(folder, "two", (150, 250)))
    return project


def as_person(project, name, marked):
    """Let a person judge the whole pool: document, or topic and document → passages."""
    register(project.store, Assessor(name))
    for row in pool(project.store):
        page = project.documents.plain(row.document)
        quotes = marked.get((row.topic, row.document), marked.get(row.document, ()))
        spans = tuple((page.text.index(quote), page.text.index(quote) + len(quote)) for quote in quotes)
        judgement = Judgement(spans, status="relevant" if spans else "not relevant")
        edit = {"kind": "replace", "judgement": as_dict(judgement)}
        key = Key(name, row.topic, row.document)
        project.store.edit(key, page, edit, version=0, token=f"{name} {row.topic} {row.document}")
