"""What the reader of a page has before its first command: one function for each kind of folder."""

import gzip
import json
import re
import shutil
import tomllib
from contextlib import closing
from pathlib import Path
from zlib import crc32

from blocks import ROOT, write_files
from focuseval.assessment import open_project
from focuseval.assessment.adjudication import decide
from focuseval.assessment.backup import back_up
from focuseval.assessment.models.client import ModelSettings
from focuseval.assessment.models.judging import draft_questions
from focuseval.data.topics import read_topics
from focuseval.example import ROOT as EXAMPLE
from focuseval.example import copy_example
from focuseval.formats.embedded import open_documents
from pdfs import paragraph, pdf
from strategies.model_server import NEAP, SPRING, ModelServer, answer, asked_text
from strategies.projects import DOCUMENTS, as_person, begin_project, command

FIVE = ROOT / "docs" / "howto" / "rag-in-five-minutes.md"


EXTENSION = Path(__file__).parent / "plugin"
"""The example package that adds a measure, a format, a chunker and a retriever."""


def installed(package: Path, site: Path) -> None:
    """Copy a package of one module to a folder of the path, with the metadata that installing writes."""
    declared = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version, groups = declared["name"], declared["version"], declared["entry-points"]
    meta = site / f"{name.replace('-', '_')}-{version}.dist-info"
    meta.mkdir(parents=True)
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in own.items()) for group, own in groups.items()]
    (meta / "entry_points.txt").write_text("\n".join(lines))
    for module in package.glob("*.py"):
        shutil.copy(module, site)


def extended(folder: Path) -> None:
    """The files of the first page, and the example package as if it were installed."""
    rag(folder)
    installed(EXTENSION, folder / "site")


def nothing(_: Path) -> None:
    """An empty folder."""


def rag(folder: Path) -> None:
    """The documents, the gold and the runs of the first page for RAG developers."""
    write_files(FIVE, folder)


def reports(folder: Path) -> None:
    """Two reports as PDFs, of three pages each, with running heads."""
    texts = {
        "harbour": {
            "Harbour report": ("The harbour was dredged to nine metres in", "May. Ships of 180 metres may enter."),
            "Tides": ("Spring tides come at new moon and at full", "moon, when sun and moon pull in one line."),
            "Storms": ("In January a storm surge raised the water", "by two metres above the predicted height."),
        },
        "survey": {
            "Survey of the coast": ("The coast lost a metre of land a year", "between the lighthouse and the mill."),
            "Method": ("Heights were measured by tide gauges and", "by satellites, and compared every month."),
            "Outlook": ("If nothing is done the lighthouse stands", "in the water in thirty years."),
        },
    }
    (folder / "reports").mkdir()
    for name, pages in texts.items():
        drawn = [
            [
                (72, 40, f"Port authority: {name}"),
                *paragraph(title, y=90),
                *paragraph(*lines, y=130),
                (300, 770, f"{n}"),
            ]
            for n, (title, lines) in enumerate(pages.items(), 1)
        ]
        (folder / f"reports/{name}.pdf").write_bytes(pdf(*drawn))


def old_and_new(folder: Path) -> None:
    """Two runs of one's own, under the names that pages on reports and history give them."""
    rag(folder)
    for name, run in {"old": "lines", "new": "windows", "run1": "lines", "run2": "windows", "run": "lines"}.items():
        shutil.copyfile(folder / f"{run}.jsonl", folder / f"{name}.jsonl")
    (folder / "scores").mkdir()


def sea(folder: Path) -> None:
    """What `focuseval demo sea` leaves."""
    copy_example(folder / "sea")
    command("index", folder / "sea" / "articles", "-o", folder / "sea" / "articles.idx")


def own_documents(folder: Path) -> None:
    """The README's folder of documents, questions, gold, chunks and a baseline; and the demo beside it."""
    shutil.copytree(EXAMPLE / "articles", folder / "docs")
    shutil.copyfile(EXAMPLE / "gold" / "gold.jsonl", folder / "gold.jsonl")
    shutil.copyfile(EXAMPLE / "runs" / "spans" / "paragraphs.jsonl", folder / "chunks.jsonl")
    questions(folder / "questions.tsv")
    run, docs = folder / "main.jsonl", folder / "docs"
    command("retrieve", docs, folder / "questions.tsv", "-o", run, "--unit", "passage:100/50")
    given = [folder / "gold.jsonl", run, "--docs", docs, "--profile", "rag"]
    command("score", *given, "--per-topic", "--format", "json", "-o", folder / "main.json")
    copy_example(folder / "demo")


def questions(path: Path) -> None:
    """The example's topics as lines of id, tab and question."""
    lines = [f"{topic.id}\t{topic.title}\n" for topic in read_topics(EXAMPLE / "topics.xml")]
    path.write_text("".join(lines), encoding="utf-8")


def judged_elsewhere(path: Path) -> None:
    """The example's highlights as judgements of an assessor, in place of work in the browser."""
    judged = [json.loads(line) for line in (EXAMPLE / "gold" / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps({key: row[key] for key in ("topic", "doc", "spans")} | {"assessor": "gold"}) for row in judged]
    path.write_text("\n".join(lines), encoding="utf-8")


def articles_and_topics(folder: Path) -> None:
    """A folder of documents, and topics."""
    shutil.copytree(EXAMPLE / "articles", folder / "articles")
    questions(folder / "topics.tsv")
    judged_elsewhere(folder / "judged.jsonl")


def sea_to_judge(folder: Path) -> None:
    """The demo's folder, and judgements in place of work in the browser."""
    sea(folder)
    judged_elsewhere(folder / "judged.jsonl")


def element_run(folder: Path) -> None:
    """A run of elements, topics, a gold and an index, each under the name that explanations give it."""
    shutil.copyfile(EXAMPLE / "runs" / "focused" / "careful.xml", folder / "run.xml")
    shutil.copyfile(EXAMPLE / "topics.xml", folder / "topics.xml")
    shutil.copyfile(EXAMPLE / "gold" / "gold.jsonl", folder / "gold.jsonl")
    command("index", EXAMPLE / "articles", "-o", folder / "sea.idx")


def offsets_run(folder: Path) -> None:
    """A run and a gold of 2009, with offsets."""
    shutil.copyfile(EXAMPLE / "runs" / "relevant-in-context" / "careful.txt", folder / "run.txt")
    shutil.copyfile(EXAMPLE / "gold" / "qrels.txt", folder / "qrels.txt")


def wikipedia(folder: Path) -> None:
    """Two articles of INEX's Wikipedia."""
    (folder / "wikipedia").mkdir()
    for number in ("9996", "10013"):
        text = f"<article><name>{number}</name><body><p>First.</p><p>Second.</p></body></article>"
        (folder / "wikipedia" / f"{number}.xml").write_text(text, encoding="utf-8")


def several_machines(folder: Path) -> None:
    """A collection, a gold and two runs of documents."""
    wikipedia(folder)
    (folder / "qrels.txt").write_text("1 0 9996 1\n1 0 10013 0\n", encoding="utf-8")
    (folder / "a.txt").write_text("1 Q0 9996 1 2.0 a\n1 Q0 10013 2 1.0 a\n", encoding="utf-8")
    (folder / "b.txt").write_text("1 Q0 10013 1 2.0 b\n1 Q0 9996 2 1.0 b\n", encoding="utf-8")


def tides(folder: Path) -> None:
    """A folder of one's own documents, two articles of the example."""
    (folder / "documents").mkdir()
    for name in ("tide", "rock-pool"):
        shutil.copyfile(EXAMPLE / "articles" / "water" / f"{name}.xml", folder / "documents" / f"{name}.xml")


def chroma(folder: Path) -> None:
    """Questions and a corpus as chunking_evaluation keeps them, and a SQuAD file with a run; the texts are ours."""
    text = "Boil water. Stir well. Add the leaves. Stir well. Serve."
    (folder / "corpora").mkdir()
    (folder / "corpora" / "tea.md").write_text(text, encoding="utf-8")
    reference = json.dumps([{"content": "Add the leaves.", "start_index": 22, "end_index": 37}])
    quoted = reference.replace('"', '""')
    (folder / "questions_df.csv").write_text(f'question,references,corpus_id\nWhen?,"{quoted}",tea\n', encoding="utf-8")
    answers = [{"text": "Stir well", "answer_start": 12}]
    asked = {"context": text, "qas": [{"id": "q1", "question": "What then?", "answers": answers}]}
    squad = {"version": "1.1", "data": [{"title": "Tea", "paragraphs": [asked]}]}
    (folder / "xquad.en.json").write_text(json.dumps(squad), encoding="utf-8")
    run = {"topic": "q1", "doc": "Tea", "rank": 1, "start": 0, "end": 22}
    (folder / "run.jsonl").write_text(json.dumps(run) + "\n", encoding="utf-8")


def segments(folder: Path) -> None:
    """A part of the segmented MS MARCO: the segments that the page shows."""
    page = ROOT / "docs" / "howto" / "trec-rag.md"
    write_files(page, folder)
    (folder / "msmarco_v2.1_doc_segmented").mkdir()
    packed = gzip.compress((folder / "segments.jsonl").read_bytes())
    (folder / "msmarco_v2.1_doc_segmented" / "00.json.gz").write_bytes(packed)


def spans_of_others(folder: Path) -> None:
    """A gold and a run of spans, as lines of JSON and with spans behind the ids of documents."""
    gold = {"topic": "q1", "doc": "a", "spans": [{"start": 0, "end": 10}]}
    run = {"topic": "q1", "doc": "a", "start": 0, "end": 5, "rank": 1}
    (folder / "gold.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    (folder / "run.jsonl").write_text(json.dumps(run) + "\n", encoding="utf-8")
    (folder / "qrels.txt").write_text("q1 0 a#0-10 1\n", encoding="utf-8")
    (folder / "run.txt").write_text("q1 Q0 a#0-5 1 2.0 mine\n", encoding="utf-8")


def judged_by_two(folder: Path) -> None:
    """The demo's folder, and a project over the pool of its runs in which ann and bob have judged everything."""
    sea(folder)
    runs = sorted((folder / "sea" / "runs" / "focused").iterdir())
    command("pool", *runs, "-o", folder / "pool.jsonl")
    begin = {"collection": str(folder / "sea" / "articles"), "topics": str(folder / "sea" / "topics.xml")}
    found = marked()
    with closing(open_project(folder / "judging", pool=str(folder / "pool.jsonl"), **begin)) as project:
        as_person(project, "ann", found)
        as_person(project, "bob", {unit: [text[: len(text) // 2] for text in some] for unit, some in found.items()})
        page = project.documents.plain("water/tide")
        decide(project.store, page, "101", "union", ["ann", "bob"], version=0, token="decided", actor="ann")
        back_up(project.store, folder / "judging" / "backups")
    for name in ("bob", "ann"):
        add = ("project", "users", "add", folder / "judging", name, "--users", folder / "people")
        command(*add, stdin="password\n" * 2)
    for number, run in enumerate(runs, 1):
        shutil.copyfile(run, folder / f"run{number}.xml")
    shutil.copyfile(EXAMPLE / "runs" / "thorough" / "hasty.xml", folder / "new.xml")
    shutil.copyfile(EXAMPLE / "runs" / "focused" / "careful.xml", folder / "run.xml")


def marked() -> dict[tuple[str, str], list[str]]:
    """Topic and document → the relevant passages of the embedded example."""
    lines = (EXAMPLE / "gold" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return {(one["topic"], one["doc"]): [span["quote"] for span in one["spans"]] for one in map(json.loads, lines)}


def judged_by_one(folder: Path) -> None:
    """A project of two documents that a person has judged, and two runs."""
    begin_project(folder).rename(folder / "judging")
    for number, name in enumerate(("careful", "coarse"), 1):
        shutil.copyfile(EXAMPLE / "runs" / "focused" / f"{name}.xml", folder / f"run{number}.xml")
    with closing(open_project(folder / "judging")) as project:
        as_person(project, "ann", {DOCUMENTS[0]: (SPRING, NEAP)})


def afternoon(folder: Path) -> None:
    """The articles of the demo, and what a person would mark for the questions that the model drafts from them."""
    sea(folder)
    index = open_documents(folder / "sea" / "articles")
    with ModelServer(as_a_model) as server:
        settings = ModelSettings(server.url, "llama3.1:8b", window=1500)
        drafts = draft_questions(index, settings, folder / "scratch.db", questions=50).lines
    marked = {
        (one["topic"], one["doc"]): [{"start": s["start"], "end": s["end"]} for s in one["spans"]] for one in drafts
    }
    lines = (
        {"topic": one["topic"], "doc": name, "spans": marked.get((one["topic"], name), [])}
        for one in drafts
        for name in index.ids.to_pylist()
    )
    (folder / "people.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def drafting_model(text: str, asked: str) -> str:
    """Draft a question from a sentence, or mark the sentence that such a question is about; of some, the next one."""
    sentences = [part for part in re.split(r"(?<=[.!?])\s+", " ".join(text.split())) if len(part) > 60]
    about = re.search(r"What is known of (.*)\?", asked)
    if about is None:
        quote = sentences[len(sentences) // 2]
        words = " ".join(quote.split()[:8]).rstrip(".,;:")
        return json.dumps({"question": f"What is known of {words}?", "answer": words, "quotes": [quote]})
    found = [place for place, part in enumerate(sentences) if about[1] in part]
    if not found:
        return answer()
    first = found[0] + (crc32(about[1].encode()) % 4 == 0)
    return answer(sentences[first : first + 2])


def as_a_model(body: dict, _: int) -> str:
    """Answer as a model that marks one passage well, one with a slip, and one that it made up; or drafts questions."""
    asked = body["messages"][-1]["content"]
    if "You write questions" in body["messages"][0]["content"] or "What is known of" in asked:
        return drafting_model(asked_text(body), asked)
    quotes = [SPRING, NEAP.replace("shrinks", "shrinked"), "Tides are made by whales."]
    return answer(quotes if SPRING in asked_text(body) else [])
