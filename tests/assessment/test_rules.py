import pytest

from focuseval.assessment.rules import (
    _APPLY,
    FINISHED,
    Judgement,
    apply,
    as_dict,
    check,
    from_dict,
    inferred,
    parse_edit,
    ungraded,
    warnings,
)
from focuseval.collection.rendering import Document
from focuseval.errors import AssessError
from strategies.assessing import PAGE, TEXT, mark

TITLE, BOLD = "/article[1]/title[1]", "/article[1]/p[1]/b[1]"


def after(*edits, start=None, scale="highlights"):
    judgement = start or Judgement()
    for edit in edits:
        check(judgement, edit, PAGE, scale=scale)
        judgement = apply(judgement, edit)
    return judgement


def test_the_entry_point_is_the_first_highlighted_character_until_it_is_set():
    highlighted = after(mark(11, 16), mark(6, 10))
    assert highlighted.entry_point == 6
    assert after({"kind": "entry", "position": 2}, start=highlighted).entry_point == 2
    assert after({"kind": "entry", "position": 2}, {"kind": "entry", "position": None}, start=highlighted).bep is None


def test_highlights_are_added_and_taken_away():
    assert after(mark(0, 5), mark(11, 16)).highlights == ((0, 5), (11, 16))
    assert after(mark(0, 16), mark(5, 11, "unhighlight")).highlights == ((0, 5), (11, 16))
    assert after(mark(0, len(TEXT))).highlights == ((0, len(TEXT)),)


def test_relevant_needs_a_highlight():
    with pytest.raises(AssessError, match=r"^a relevant document needs at least one highlight$"):
        after({"kind": "finish", "relevant": True})
    assert after(mark(0, 5), {"kind": "finish", "relevant": True}).status == "relevant"


def test_not_relevant_has_no_highlight_and_no_entry_point():
    with pytest.raises(
        AssessError, match=r"^a document with highlights is relevant; remove them to finish it as not relevant$"
    ):
        after(mark(0, 5), {"kind": "finish", "relevant": False})
    done = after({"kind": "entry", "position": 3}, {"kind": "finish", "relevant": False})
    assert (done.status, done.entry_point) == ("not relevant", None)


REMARKS = ({"kind": "flag", "on": True}, {"kind": "flag", "on": False}, {"kind": "note", "text": "odd"})
CHANGES = (mark(0, 2), {"kind": "entry", "position": 1}, {"kind": "grade", "paths": [TITLE], "grade": "1"})


@pytest.mark.parametrize("edit", [*REMARKS, *CHANGES, mark(0, 2, "unhighlight"), {"kind": "reopen"}])
@pytest.mark.parametrize("relevant", [True, False])
def test_any_edit_reopens_a_finished_document(edit, relevant):
    start = Judgement(((0, 5),), grades={"/article[1]": "2", TITLE: "2"}) if relevant else Judgement()
    done = after({"kind": "finish", "relevant": relevant}, start=start, scale="exhaustivity")
    assert done.status in FINISHED
    assert after(edit, start=done, scale="exhaustivity").status == "in progress"


def test_every_kind_of_edit_is_known_to_reopen_or_to_decide():
    tried = {edit["kind"] for edit in (*REMARKS, *CHANGES)} | {"unhighlight", "reopen"}
    assert set(_APPLY) - tried == {"finish", "skip", "replace"}


@pytest.mark.parametrize("edit", REMARKS)
@pytest.mark.parametrize("status", ["todo", "in progress", "skipped"])
def test_a_remark_leaves_a_document_that_is_not_finished_as_it_was(edit, status):
    assert after(edit, start=Judgement(status=status)).status == status


@pytest.mark.parametrize("kind", ["highlight", "unhighlight"])
@pytest.mark.parametrize(("start", "end"), [(-1, 3), (5, 5), (7, 3), (0, len(TEXT) + 1)])
def test_a_span_outside_the_text_is_refused(kind, start, end):
    with pytest.raises(AssessError, match=rf"^the span {start}–{end} does not lie inside the {len(TEXT)} characters$"):
        after({"kind": kind, "start": start, "end": end, "quote": ""})


@pytest.mark.parametrize("kind", ["highlight", "unhighlight"])
def test_a_quote_that_is_not_the_text_is_refused(kind):
    with pytest.raises(AssessError, match=r"^the quote is not the text at 0–5; reload the document$"):
        after({"kind": kind, "start": 0, "end": 5, "quote": "title"})


@pytest.mark.parametrize("position", [-1, len(TEXT)])
def test_an_entry_point_outside_the_text_is_refused(position):
    with pytest.raises(AssessError, match=rf"^the entry point {position} lies outside the {len(TEXT)} characters$"):
        after({"kind": "entry", "position": position})
    assert [after({"kind": "entry", "position": at}).bep for at in (0, len(TEXT) - 1)] == [0, len(TEXT) - 1]


def test_an_entry_point_outside_the_highlights_is_a_warning_only():
    judgement = after(mark(6, 10), {"kind": "entry", "position": 0}, {"kind": "finish", "relevant": True})
    assert judgement.status == "relevant"
    assert warnings(judgement, TEXT) == ("the best entry point lies outside the highlighted text",)


def test_a_highlight_of_white_space_and_an_entry_point_alone_are_warnings():
    assert warnings(after(mark(5, 6)), TEXT) == ("1 highlight holds white space only",)
    assert warnings(after(mark(5, 6), mark(10, 11)), TEXT) == ("2 highlights hold white space only",)
    assert warnings(Judgement(bep=3), TEXT) == ("there is an entry point, but nothing is highlighted",)


def test_exhaustivity_rises_to_every_container_and_the_highest_wins():
    grades = inferred(PAGE, {TITLE: "1", BOLD: "2"})
    assert grades == {TITLE: "1", "/article[1]": "2", BOLD: "2", "/article[1]/p[1]": "2"}
    assert inferred(PAGE, {BOLD: "?", "/article[1]": "1"})["/article[1]"] == "1"


def test_2005_needs_a_grade_wherever_text_is_highlighted():
    highlighted = after(mark(0, 16), scale="exhaustivity")
    assert ungraded(PAGE, highlighted, "exhaustivity") == [
        "/article[1]",
        TITLE,
        "/article[1]/p[1]",
        BOLD,
    ]
    with pytest.raises(AssessError, match=r"^4 elements have no exhaustivity yet, the first is /article\[1\]$"):
        after({"kind": "finish", "relevant": True}, start=highlighted, scale="exhaustivity")
    graded = after({"kind": "grade", "paths": [TITLE, BOLD], "grade": "?"}, start=highlighted, scale="exhaustivity")
    assert ungraded(PAGE, graded, "exhaustivity") == []
    assert after({"kind": "finish", "relevant": True}, start=graded, scale="exhaustivity").status == "relevant"
    taken_back = after({"kind": "grade", "paths": [BOLD], "grade": None}, start=graded, scale="exhaustivity")
    assert taken_back.grades == {TITLE: "?"}
    again = after({"kind": "grade", "paths": [BOLD], "grade": "2"}, start=taken_back, scale="exhaustivity")
    assert again.grades == {TITLE: "?", BOLD: "2"}
    assert after({"kind": "finish", "relevant": True}, start=highlighted).status == "relevant", (
        "grades are asked for in 2005"
    )


def test_exhaustivity_outside_2005_mode_and_of_unknown_elements_is_refused():
    grade = {"kind": "grade", "paths": ["/x[1]"], "grade": "2"}
    with pytest.raises(AssessError, match=r"^on the project's scale nothing is graded, found '2'$"):
        check(Judgement(), grade, PAGE)
    with pytest.raises(AssessError, match=r"^the document has no element /x\[1\]$"):
        after(grade, scale="exhaustivity")


PLAIN = {"highlights": [], "bep": None, "status": "todo", "flagged": False, "note": "", "grades": {}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"highlights": [[0, 4], [4, 8]]}, "the highlights overlap, touch or leave the text"),
        ({"highlights": [[0, len(TEXT) + 1]]}, "the highlights overlap, touch or leave the text"),
        ({"bep": len(TEXT)}, f"the entry point {len(TEXT)} lies outside the text"),
        ({"bep": -1}, "the entry point -1 lies outside the text"),
        ({"status": "relevant"}, "the status 'relevant' does not fit 0 highlights"),
        ({"status": "not relevant", "highlights": [[0, 4]]}, "the status 'not relevant' does not fit 1 highlights"),
        ({"status": "perfect"}, "the status 'perfect' does not fit 0 highlights"),
    ],
)
def test_a_replacement_obeys_the_same_rules(change, told):
    with pytest.raises(AssessError) as caught:
        check(Judgement(), {"kind": "replace", "judgement": {**PLAIN, **change}}, PAGE)
    assert str(caught.value) == told
    assert from_dict(PLAIN) == Judgement()


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"highlights": [[0, 4], [5, len(TEXT)]], "status": "relevant", "bep": 0},
        {"highlights": [[0, 4]], "status": "in progress", "bep": len(TEXT) - 1},
        {"status": "not relevant"},
        {"status": "skipped", "note": "odd", "flagged": True, "grades": {TITLE: "2"}},
    ],
)
def test_a_judgement_is_replaced_by_another_whole(change):
    values = {**PLAIN, **change}
    replaced = after({"kind": "replace", "judgement": values}, start=Judgement(((7, 9),), 3, "relevant"))
    assert as_dict(replaced) == values
    assert from_dict(as_dict(replaced)) == replaced


def test_an_empty_text_has_room_for_no_highlight_and_that_is_allowed():
    check(Judgement(), {"kind": "replace", "judgement": PLAIN}, Document("empty", ""))


def test_a_judgement_stored_without_grades_has_none():
    assert from_dict({name: value for name, value in PLAIN.items() if name != "grades"}) == Judgement()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"kind": "replace", "judgement": {}},
        {"kind": ["highlight"]},
        {"kind": "highlight", "start": 0, "end": True, "quote": "T"},
        {"kind": "highlight", "start": 0, "end": 2**40, "quote": "T"},
        {"kind": "highlight", "start": "0", "end": 1, "quote": "T"},
        {"kind": "highlight", "start": 0, "end": 1},
        {"kind": "note", "text": "x" * 20_001},
        {"kind": "grade", "paths": [1], "grade": "2"},
        {"kind": "grade", "paths": [], "grade": "3"},
        {"kind": "finish", "relevant": "yes"},
    ],
)
def test_what_no_rule_can_read_is_refused_at_the_door(data):
    with pytest.raises(AssessError):
        parse_edit(data)


def test_what_an_edit_does_not_need_does_not_get_in():
    assert parse_edit({"kind": "undo", "barrier": True, "judgement": 1}) == {"kind": "undo"}
