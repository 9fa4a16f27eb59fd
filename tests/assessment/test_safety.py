"""Backups, the check, and texts that changed."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.assessment.backup import Backups, back_up
from focuseval.assessment.check import check_project
from focuseval.assessment.store import Store
from focuseval.collection.rendering import Document
from focuseval.errors import AssessError
from focuseval.placing.anchor import diff, nearest, propose
from strategies.assessing import ANN, PAGE, TEXT, mark, save


def gone(document):
    raise AssessError(f"the collection has no document {document}")


def test_a_backup_is_a_whole_project(store, tmp_path):
    saved = save(store, mark(0, 5))
    copy = Store(back_up(store, tmp_path / "backups"))
    assert copy.judgement(ANN) == saved
    assert list(copy.events()) == list(store.events())
    copy.close()


def test_a_backup_is_made_at_the_start_and_only_when_something_changed(store, tmp_path):
    backups = Backups(store, tmp_path / "b", interval=3600)
    backups.start()
    assert len(list((tmp_path / "b").iterdir())) == 1
    assert backups.once() is None
    save(store, mark(0, 5))
    assert backups.once() is not None
    backups.stop()


def test_a_backup_that_fails_is_told_and_tried_again(store, tmp_path, caplog, monkeypatch):
    backups = Backups(store, tmp_path / "b", interval=0.01)
    backups.start()
    save(store, mark(0, 5))
    monkeypatch.setattr("focuseval.assessment.backup.back_up", _full_disk)
    while not caplog.records:
        time.sleep(0.01)
    monkeypatch.undo()
    while len(list((tmp_path / "b").glob("*.db"))) < 2:
        time.sleep(0.01)
    backups.stop()
    assert "no backup this time: no space" in caplog.text


def _full_disk(*_):
    raise OSError("no space")


def test_a_sound_project_has_no_defects(store):
    save(store, mark(0, 5))
    checked = check_project(store, lambda _: PAGE)
    assert str(checked) == "1 judgement, 1 highlight, 1 event: no defect; only a copy tells whether any are missing"


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("UPDATE highlights SET quote = 'Other'", "the quote at 0–5 is not the text"),
        ("UPDATE highlights SET start = 1", "the log gives another judgement"),
        ("UPDATE judgements SET status = 'relevant'", "the log gives another judgement"),
        ("DELETE FROM judgements", "the table has no judgement"),
    ],
)
def test_what_was_tampered_with_is_found(store, damage, complaint):
    save(store, mark(0, 5))
    with store.database.write() as connection:
        connection.execute(damage)
    assert any(complaint in defect for defect in check_project(store, lambda _: PAGE).defects)


def test_a_changed_or_missing_document_is_reported(store):
    save(store, mark(0, 5))
    (defect,) = check_project(store, lambda _: Document("a/one", TEXT + "!")).defects
    assert "the text has changed" in defect
    (defect,) = check_project(store, gone).defects
    assert "no document a/one" in defect


def test_a_damaged_file_is_found(store, tmp_path):
    for start in range(0, 40, 2):
        save(store, mark(start, start + 1))
    path = back_up(store, tmp_path / "b")
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 3 + 100] = b"\xff" * 100
    path.write_bytes(data)
    damaged = Store(path)
    assert any("restore a backup" in defect for defect in check_project(damaged, lambda _: PAGE).defects)
    damaged.close()


@given(st.text("ab", max_size=30), st.text("ab", min_size=1, max_size=3), st.integers(0, 30))
def test_the_nearest_occurrence_is_the_one_a_search_of_all_gives(text, quote, start):
    places = [k for k in range(len(text)) if text.startswith(quote, k)]
    distances = sorted(abs(place - start) for place in places)
    place, verdict = nearest(text, quote, start)
    if not places:
        assert (place, verdict) == (None, "lost")
    elif len(distances) > 1 and distances[0] == distances[1]:
        assert (place, verdict) == (None, "tie")
    else:
        assert abs(place - start) == distances[0]
        assert verdict == ("same" if place == start else "moved")


def test_highlights_and_entry_point_move_with_their_text(store):
    save(store, mark(0, 5))
    save(store, mark(11, 16))
    saved = save(store, {"kind": "entry", "position": 12})
    proposal = propose(saved.judgement.bep, store.quotes(ANN), "Title: some more, then Some first words.")
    assert [one.verdict for one in proposal.highlights] == ["same", "moved"]
    assert proposal.spans == ((0, 5), (28, 33))
    assert proposal.bep == 29
    assert proposal.complete


def test_a_lost_quote_keeps_a_proposal_from_being_complete_and_shows_a_diff(store):
    saved = save(store, mark(6, 22))
    proposal = propose(saved.judgement.bep, store.quotes(ANN), TEXT.replace("first", "1st"))
    assert not proposal.complete
    lines = diff("Some first words", TEXT.replace("first", "1st"), 6)
    assert "-Some first words" in lines
    assert any(line.startswith("+") and "1st" in line for line in lines)
