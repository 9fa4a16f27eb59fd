"""A project of thirty questions, each about one document, that a model has judged; and two runs."""

import json

import numpy as np

from focuseval.assessment import open_project
from focuseval.assessment.plan import MODEL, Assessor, register
from focuseval.assessment.pool import keep_run
from focuseval.assessment.rules import Judgement, as_dict
from focuseval.assessment.store import Key

TOPICS = 30
MODEL_NAME = "model:small@1f00ba12"


def sentences(number):
    return [f"Sentence {part} of document {number} speaks of things." for part in range(10)]


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def begin_sampled(folder):
    """Return the project's folder; its topics are q00 to q29, and each has the documents dNN and other."""
    (folder / "docs").mkdir()
    for number in range(TOPICS):
        (folder / "docs" / f"d{number:02}.txt").write_text(" ".join(sentences(number)))
    (folder / "docs" / "other.txt").write_text("Nothing of interest.")
    topics = write(folder / "topics.jsonl", [{"id": f"q{n:02}", "query": f"What is {n}?"} for n in range(TOPICS)])
    pool = [{"pool": 1, "depth": 1, "size": None, "order": "runs", "seed": 0, "runs": []}]
    for n in range(TOPICS):
        for rank, doc in enumerate((f"d{n:02}", "other"), 1):
            pool.append({"topic": f"q{n:02}", "doc": doc, "runs": 1, "best": rank, "by": [], "batch": 0})
    write(folder / "pool.jsonl", pool)
    begin = {"topics": str(topics), "pool": str(folder / "pool.jsonl")}
    rng = np.random.default_rng(1)
    right = rng.integers(0, 10, TOPICS)
    with_model = open_project(folder / "sea", collection=str(folder / "docs"), **begin)
    register(with_model.store, Assessor(MODEL_NAME, MODEL, "a test"))
    seen = np.where(rng.random(TOPICS) < 0.8, right, rng.integers(0, 10, TOPICS))
    for n in range(TOPICS):
        judge(with_model, MODEL_NAME, f"q{n:02}", int(seen[n]))
    for name, skill in (("a", 0.9), ("b", 0.3)):
        rows = []
        for n in range(TOPICS):
            part = int(right[n]) if rng.random() < skill else int(rng.integers(0, 10))
            start = " ".join(sentences(n)).index(sentences(n)[part])
            rows.append({"topic": f"q{n:02}", "doc": f"d{n:02}", "rank": 1, "start": start, "end": start + 40})
        run = write(folder / f"{name}.jsonl", rows)
        keep_run(folder / "sea", run.name, run.read_bytes(), index=None)
    with_model.close()
    return folder / "sea", right


def judge(project, name, topic, part, documents=2):
    """Let somebody finish the documents of a topic: one sentence of the first is relevant."""
    number = int(topic[1:])
    for document in (f"d{number:02}", "other")[:documents]:
        page = project.documents.plain(document)
        spans = ()
        if document != "other":
            start = page.text.index(sentences(number)[part])
            spans = ((start, start + 40),)
        judgement = Judgement(spans, status="relevant" if spans else "not relevant")
        edit = {"kind": "replace", "judgement": as_dict(judgement)}
        key = Key(name, topic, document)
        project.store.edit(key, page, edit, version=0, token=f"{name} {topic} {document}")
