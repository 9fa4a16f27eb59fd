"""A model's judgements are called so wherever they appear, and are in no gold unless the model is named."""

import json

import pytest

from focuseval.assessment.adjudication import merge_judgements
from focuseval.assessment.golds import Whose, build_gold, chosen_assessor, project_gold
from focuseval.assessment.plan import MODEL, Assessor, assessors, register
from focuseval.assessment.web import Access, create_app
from focuseval.errors import AssessError
from strategies.model_server import NEAP, SPRING, answer, asked_text
from strategies.projects import DOCUMENTS, TIDES, as_person, command


@pytest.fixture
def label(ask, project):
    """A model that marks one passage; a person marked another one."""
    as_person(project, "ann", {DOCUMENTS[0]: (NEAP,)})
    return ask(lambda body, _: answer([SPRING] if SPRING in asked_text(body) else [])).assessor


def quoted(gold):
    return gold.passages.quote.to_pylist()


def test_a_merge_is_of_people_unless_the_model_is_named(project, label):
    merged = merge_judgements(project.store, "union", imported=True)
    assert {saved.key.assessor for one in merged.values() for saved in one.of} == {"ann"}
    with_model = project_gold(project.folder, merge="union", include=[label])
    assert quoted(with_model) == [SPRING, NEAP]
    assert with_model.attributes[TIDES]["assessor"] == f"ann, {label}"
    assert quoted(project_gold(project.folder, merge="union")) == [NEAP]


def test_a_gold_without_a_name_is_a_persons_and_never_a_models(project, label):
    assert chosen_assessor(project.store, Whose()) == "ann"
    assert quoted(project_gold(project.folder)) == [NEAP]
    assert quoted(project_gold(project.folder, assessor=label)) == [SPRING]


def test_a_model_alone_must_be_named_too(ask, project):
    done = ask(lambda *_: answer())
    with pytest.raises(AssessError, match=f"expected an assessor among {done.assessor}; name one"):
        chosen_assessor(project.store, Whose())


def test_an_unknown_name_to_include_is_refused(project, label):
    with pytest.raises(AssessError, match="to include, found 'model:none@0'"):
        merge_judgements(project.store, "union", include=["model:none@0"])


def test_nobody_else_gets_a_models_name(project, label, tmp_path):
    with pytest.raises(AssessError, match="begins the names of language models alone"):
        register(project.store, Assessor("model:me"))
    with pytest.raises(AssessError, match="begins the names of language models alone"):
        register(project.store, Assessor("me", MODEL))
    with pytest.raises(AssessError, match="is the name of a model assessor"):
        register(project.store, Assessor(label))
    file = tmp_path / "j.jsonl"
    file.write_text(json.dumps({"topic": TIDES, "doc": DOCUMENTS[0], "spans": [], "assessor": "model:x@1"}))
    assert "begins the names" in command("project", "import", project.folder, file, code=1)


def test_people_come_first_among_the_assessors(project, label):
    assert [one.label for one in assessors(project.store)] == ["ann", label]


def test_the_adjudicators_page_has_the_model_beside_the_people_and_not_among_them(project, label):
    """Union and intersection are of the people, unless the adjudicator ticks the model."""
    host = "127.0.0.1:4321"
    topics = {topic.id: topic for topic in project.topics}
    access = Access(b"k" * 32, frozenset({host}), assessor="ann")
    http = create_app(project.store, project.documents, topics.values(), access).test_client()
    with http.get(f"/enter?token={access.token}", base_url=f"http://{host}"):
        pass
    query = {"topic": TIDES, "document": DOCUMENTS[0]}
    shown = http.get("/api/sides", base_url=f"http://{host}", query_string=query).json["sides"]
    assert [(side["label"], side["imported"]) for side in shown] == [("ann", False), (label, True)]


def test_every_export_names_the_model(project, label, tmp_path):
    for wanted in ("gold-jsonl", "inex-2005", "inex-2008", "trec-qrels", "everything"):
        target = tmp_path / wanted
        said = command("project", "export", project.folder, target, "--to", wanted, "--assessor", label)
        files = [path for path in (*target.rglob("*"), *tmp_path.glob(f"{wanted}*")) if path.is_file()]
        assert label in "".join(path.read_text(encoding="utf-8") for path in files), wanted
        assert wanted == "everything" or f"these are the judgements of {label}" in said
    mine = build_gold(project.store, "ann")
    assert mine.attributes[TIDES]["assessor"] == "ann"


def test_commands_take_a_model_into_a_merge_by_name(project, label, tmp_path):
    run = tmp_path / "run.jsonl"
    run.write_text(json.dumps({"topic": TIDES, "doc": DOCUMENTS[0], "rank": 1, "score": 1.0, "start": 0, "end": 2000}))
    scored = []
    for number, more in enumerate(((), ("--include", label))):
        out = tmp_path / f"{number}.json"
        command("score", project.folder, run, "-m", "charP", "--merge", "union", "--format", "json", "-o", out, *more)
        scored.append(json.loads(out.read_text())["runs"][0]["measures"]["charP"])
    assert scored[1] / scored[0] == pytest.approx((len(SPRING) + len(NEAP)) / len(NEAP))
