"""Notes, quotes and names may hold other line ends of Unicode; every file of JSON lines gives them back."""

import json
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.assessment import open_project
from focuseval.assessment.archive import open_archive, write_archive
from focuseval.assessment.exchange import export_everything, import_everything, import_judgements
from focuseval.assessment.plan import Assessor, Pooled, register
from focuseval.assessment.pool import Contributor, Pool, project_pool, read_pool, write_pool
from focuseval.assessment.sessions import Sessions
from focuseval.assessment.store import Key, Store
from focuseval.assessment.users import User, UsersFile, add_user, read_users
from focuseval.collection.rendering import Document
from focuseval.data.fields import numbered_lines
from strategies.assessing import mark, save
from strategies.projects import DOCUMENTS, TIDES, judged_project

SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\x1e\r"
TEXTS = st.text(st.sampled_from(f"ab {SEPARATORS}") | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
LINES = settings(max_examples=25, deadline=None)


@LINES
@given(text=TEXTS, note=TEXTS)
def test_an_export_brings_notes_and_quotes_back(text, note):
    page = Document("d", text)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store(Path(folder) / "a.db")) as store,
        closing(Store(Path(folder) / "b.db")) as copy,
    ):
        register(store, Assessor("ann"))
        key = Key("ann", "1", "d")
        for edit in (mark(0, len(text), text=text), {"kind": "note", "text": note}):
            save(store, edit, key, page)
        exported = b"".join(export_everything(store))
        import_everything(copy, numbered_lines(exported.decode()))
        assert copy.quotes(key) == [(0, len(text), text)]
        assert copy.judgement(key).judgement.note == note
        assert b"".join(export_everything(copy)) == exported


@LINES
@given(text=TEXTS)
def test_judgements_from_elsewhere_keep_their_quotes(text):
    line = {"topic": "1", "doc": "d", "spans": [{"start": 0, "end": len(text), "quote": text}], "assessor": "model"}
    with tempfile.TemporaryDirectory() as folder, closing(Store(Path(folder) / "a.db")) as store:
        lines = json.dumps(line, ensure_ascii=False) + "\n\n"
        imported = import_judgements(store, lines, lambda name: Document(name, text), topics={"1"}, actor="lea")
        assert (imported.judgements, imported.moved) == (1, 0)
        assert store.quotes(Key("model", "1", "d")) == [(0, len(text), text)]


@LINES
@given(name=TEXTS, topic=TEXTS)
def test_a_pool_keeps_its_names(name, topic):
    pool = Pool((Contributor(name, name),), (Pooled(topic, name, 0, 1, 1, (0,)),), depth=3)
    with tempfile.TemporaryDirectory() as folder:
        write_pool(pool, Path(folder) / "pool.jsonl")
        assert read_pool(Path(folder) / "pool.jsonl") == pool


@LINES
@given(name=TEXTS)
def test_sessions_are_revoked_whatever_the_name(name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.jsonl"
        sessions = Sessions(path)
        cookie, other = sessions.begin(name), sessions.begin("other")
        Sessions(path).revoke(name)
        sessions.end(other)
        sessions.forget()
        again = Sessions(path)
        assert not again.lives(cookie)
        assert not again.lives(other)
        assert again.lives(again.begin(name))


@LINES
@given(names=st.sets(TEXTS.filter(lambda name: name.isprintable() and not set(name) & set("#:/\\ ")), min_size=1))
def test_users_come_back_by_their_names(names):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "users"
        path.write_text("".join(f"{name}:lead:scrypt$16384$8$1$AAAA$AAAA\n" for name in names), encoding="utf-8")
        assert read_users(path) == {name: User(name, "lead", "scrypt$16384$8$1$AAAA$AAAA") for name in names}
        add_user(path, "ann", "long enough")
        assert set(UsersFile(path)) == names | {"ann"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with finished judgements."""
    with closing(open_project(judged_project(tmp_path_factory.mktemp("archived")))) as opened:
        yield opened


@settings(max_examples=6, deadline=None)
@given(note=TEXTS)
def test_an_archive_brings_notes_and_pooled_documents_back(project, note):
    key, page = Key("one", TIDES, DOCUMENTS[0]), project.documents.plain(DOCUMENTS[0])
    save(project.store, {"kind": "note", "text": note}, key, page)
    save(project.store, {"kind": "finish", "relevant": True}, key, page)
    with tempfile.TemporaryDirectory() as folder, closing(Store(Path(folder) / "copy.db")) as copy:
        write_archive(project.store, project.documents, project.topics, Path(folder) / "sea.zip", imported=True)
        archive = open_archive(Path(folder) / "sea.zip")
        import_everything(copy, numbered_lines(archive.text("judgements.jsonl")))
        assert copy.judgement(key).judgement.note == note
        assert archive.documents().keys() == set(DOCUMENTS)
        (Path(folder) / "pool.jsonl").write_bytes(archive.read("pool.jsonl"))
        assert read_pool(Path(folder) / "pool.jsonl").entries == project_pool(project.store).entries
