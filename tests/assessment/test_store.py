import random
import sqlite3
import threading
from contextlib import closing

import pytest

from focuseval.assessment.database import Database
from focuseval.assessment.store import Key, Store
from focuseval.collection.rendering import Document
from focuseval.errors import AssessError, ChangedTextError, ConflictError, StorageError
from strategies.assessing import ANN, PAGE, TEXT, Model, mark, save


def test_what_was_saved_is_there_after_a_restart(tmp_path):
    first = Store(tmp_path / "assess.db")
    saved = save(first, mark(0, 5))
    first.close()
    second = Store(tmp_path / "assess.db")
    assert second.judgement(ANN) == saved
    assert second.quotes(ANN) == [(0, 5, "Title")]
    second.close()


def test_every_commit_is_on_the_disk_before_it_is_acknowledged(tmp_path, monkeypatch):
    monkeypatch.setattr(Database, "_connect", Database._connect.__wrapped__)  # other tests do not wait for the disk
    store = Store(tmp_path / "assess.db")
    for connection in (store.database.read(), store.database._writer):
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    store.close()


def test_random_edits_undo_and_redo_agree_with_the_model(store):
    chance, model = random.Random(7), Model()
    for _ in range(250):
        edit = model.choose(chance)
        model.step(edit)
        assert model.agrees(save(store, edit).judgement)
    assert model.agrees(store.judgement(ANN).judgement)
    assert store.timeline(ANN).now == store.judgement(ANN).judgement
    assert [TEXT[start:end] for start, end, _ in store.quotes(ANN)] == [quote for *_, quote in store.quotes(ANN)]


def test_undo_goes_back_to_the_beginning_and_redo_to_the_end(store):
    states = [save(store, mark(k, k + 1)).judgement for k in range(0, 40, 2)]
    back = [save(store, {"kind": "undo"}).judgement for _ in states]
    assert back == [*states[-2::-1], store.timeline(ANN).past[0]]
    with pytest.raises(AssessError, match="nothing to undo"):
        save(store, {"kind": "undo"})
    assert [save(store, {"kind": "redo"}).judgement for _ in states] == states
    with pytest.raises(AssessError, match="nothing to redo"):
        save(store, {"kind": "redo"})


@pytest.mark.parametrize("remark", [{"kind": "flag", "on": True}, {"kind": "note", "text": "odd"}])
def test_undoing_a_remark_brings_the_finished_state_back(store, remark):
    save(store, mark(0, 5))
    done = save(store, {"kind": "finish", "relevant": True}).judgement
    assert save(store, remark).judgement.status == "in progress"
    assert save(store, {"kind": "undo"}).judgement == done
    assert save(store, {"kind": "redo"}).judgement.status == "in progress"


def test_an_edit_of_an_old_version_gives_the_newer_state_and_changes_nothing(store):
    newer = save(store, mark(0, 5))
    with pytest.raises(ConflictError) as conflict:
        save(store, mark(6, 10), version=0)
    assert conflict.value.newer == newer == store.judgement(ANN)


def test_a_retry_is_done_once_and_answered_with_the_state(store):
    first = save(store, mark(0, 5), version=0, token="same")
    again = save(store, mark(0, 5), version=0, token="same")
    assert again == first
    assert len(list(store.events())) == 1


def test_a_refused_edit_leaves_no_trace(store):
    with pytest.raises(AssessError):
        save(store, {"kind": "finish", "relevant": True})
    assert list(store.events()) == []
    assert store.judgement(ANN).version == 0


def test_assessors_do_not_see_each_other(store):
    save(store, mark(0, 5))
    bob = Key("bob", "1", "a/one")
    assert store.judgement(bob).version == 0
    save(store, mark(6, 10), key=bob)
    assert store.judgement(ANN).judgement.highlights == ((0, 5),)


def test_the_log_says_who_when_and_what_and_cannot_be_rewritten(store):
    save(store, mark(0, 5), actor="lead")
    (event,) = store.events()
    assert (event["actor"], event["assessor"], event["edit"]["kind"]) == ("lead", "ann", "highlight")
    assert event["at"].endswith("+00:00")
    for statement in ("DELETE FROM events", "UPDATE events SET actor = 'eve'"):
        with pytest.raises(StorageError, match="append-only"), store.database.write() as connection:
            connection.execute(statement)
    assert len(list(store.events())) == 1


def test_a_changed_text_is_refused(store):
    save(store, mark(0, 5))
    changed = Document("a/one", "New " + TEXT)
    with pytest.raises(ChangedTextError, match="re-anchor"):
        save(store, {"kind": "flag", "on": True}, page=changed)


def test_a_full_disk_refuses_the_edit_and_keeps_everything_before(tmp_path):
    store = Store(tmp_path / "assess.db")
    writer = store.database._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages + 20}")
    page, key = Document("big", "x" * 200_000), Key("ann", "1", "big")
    kept, full = 0, None
    while full is None:
        try:
            save(store, mark(kept * 1_000, kept * 1_000 + 900, text=page.text), key=key, page=page)
            kept += 1
        except StorageError as error:
            full = str(error)
    assert "full" in full
    assert kept > 0
    assert len(store.judgement(key).judgement.highlights) == kept == len(list(store.events()))
    writer.execute("PRAGMA max_page_count = 1000000")
    assert save(store, {"kind": "flag", "on": True}, key=key, page=page).version == kept + 1
    store.close()


def test_threads_on_one_document_never_lose_an_acknowledged_edit(store):
    acknowledged, lock = [], threading.Lock()

    def work(worker):
        for number in range(15):
            while True:
                seen = store.judgement(ANN)
                try:
                    edit = {"kind": "note", "text": f"{seen.judgement.note} {worker}-{number}"}
                    store.edit(ANN, PAGE, edit, version=seen.version, token=f"{worker}-{number}")
                    break
                except ConflictError:
                    continue
            with lock:
                acknowledged.append(f"{worker}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(store.judgement(ANN).judgement.note.split()) == sorted(acknowledged)


def test_an_edit_may_be_the_first_thing_that_a_process_or_a_thread_does(tmp_path):
    store = Store(tmp_path / "assess.db")
    edits = threading.Thread(target=lambda: store.edit(ANN, PAGE, mark(0, 3), version=0, token="first"), daemon=True)
    edits.start()
    edits.join(timeout=30)
    assert not edits.is_alive(), "the thread waits for a lock that it holds itself"
    assert store.judgement(ANN).version == 1
    store.close()


def test_a_thread_whose_first_read_finds_the_log_removed_in_its_own_edit_says_so(tmp_path):
    database, refused = Database(tmp_path / "assess.db"), []
    with database.write() as connection:
        connection.execute("CREATE TABLE kept (row)")

    def edit():
        try:
            with database.write() as connection:
                connection.execute("INSERT INTO kept VALUES (1)")
                (tmp_path / "assess.db-wal").unlink()
                database.read()
        except StorageError as error:
            refused.append(str(error))

    edits = threading.Thread(target=edit, daemon=True)
    edits.start()
    edits.join(timeout=30)
    assert not edits.is_alive(), "the copy waits for the end of the edit that waits for the copy"
    assert "all until now is in" in "".join(refused)
    (copy,) = tmp_path.glob("rescued-*.db")
    with closing(sqlite3.connect(copy)) as rescued:
        assert rescued.execute("SELECT * FROM kept").fetchall() == []
    database.close()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path):
    store = Store(tmp_path / "assess.db")
    store.database._writer.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(StorageError, match="newer focuseval"):
        Store(tmp_path / "assess.db")


def test_a_file_that_is_no_database_is_one_line(tmp_path):
    (tmp_path / "assess.db").write_bytes(b"this is not a database" * 100)
    with pytest.raises(StorageError, match="not a database"):
        Store(tmp_path / "assess.db")


@pytest.mark.parametrize("damage", [b"this is not a database" * 100, None])
def test_a_file_that_cannot_be_opened_leaves_no_connection_open(tmp_path, monkeypatch, damage):
    path, opened, connect = tmp_path / "assess.db", [], sqlite3.connect

    def recorded(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    if damage is None:
        newer = Store(path)
        newer.database._writer.execute("PRAGMA user_version = 99")
        newer.close()
    else:
        path.write_bytes(damage)
    monkeypatch.setattr(sqlite3, "connect", recorded)
    with pytest.raises(StorageError):
        Store(path)
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            connection.execute("SELECT 1")
    assert opened


def test_closing_a_store_closes_the_connections_of_every_thread(tmp_path):
    store, opened = Store(tmp_path / "assess.db"), []
    readers = [threading.Thread(target=lambda: opened.append(store.database.read())) for _ in range(3)]
    [reader.start() for reader in readers]
    [reader.join() for reader in readers]
    opened += [store.database.read(), store.database._writer]
    store.close()
    assert len({id(connection) for connection in opened}) == 5
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            connection.execute("SELECT 1")


def test_a_token_used_again_for_another_document_is_refused(store):
    save(store, mark(0, 5), token="the-same")
    other = Document("a/two", TEXT)
    with pytest.raises(AssessError, match="was used for another document"):
        save(store, mark(0, 5), key=ANN._replace(document="a/two"), page=other, token="the-same")
    assert store.judged() == [ANN]
