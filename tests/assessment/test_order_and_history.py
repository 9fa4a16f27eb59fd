"""In which order documents are judged, and the history of a judgement with the way back."""

import json

import pytest

from focuseval.assessment.exchange import export_everything, import_everything
from focuseval.assessment.plan import Pooled, add_to_pool, pool, put_in_order
from focuseval.assessment.pool import ordered
from focuseval.assessment.store import Store
from focuseval.data.fields import numbered_lines
from focuseval.errors import FocusevalError
from focuseval.formats import read_run
from strategies.assessing import mark

UNITS = [Pooled("1", f"d{k}", runs=1 + k % 3, best=k + 1) for k in range(9)]


@pytest.fixture
def campaign(store):
    add_to_pool(store, UNITS, actor="lea")
    return store


def names(rows):
    return [row.document for row in rows]


def change(store, by, **others):
    rows = ordered(store, by, **others)
    put_in_order(store, [row[:2] for row in rows], by, seed=others.get("seed"), actor="lea")


def test_an_order_is_an_event_that_an_import_replays(campaign, tmp_path):
    change(campaign, "random", seed=7)
    drawn = names(pool(campaign))
    assert sorted(drawn) == sorted(one.document for one in UNITS)
    assert drawn != names(UNITS)
    ((_, edit),) = campaign.project_events("order")
    assert (edit["by"], edit["seed"]) == ("random", 7)
    again = Store(tmp_path / "again.db")
    import_everything(again, numbered_lines(b"".join(export_everything(campaign)).decode()))
    assert names(pool(again)) == drawn
    again.close()
    change(campaign, "rank")
    assert names(pool(campaign)) == ["d2", "d5", "d8", "d1", "d4", "d7", "d0", "d3", "d6"]


def test_those_come_first_that_move_the_comparison_of_the_runs_most(campaign, tmp_path):
    lists = {"a": ["d0", "d1", "d2", "d3"], "b": ["d0", "d3", "d1", "d2"], "c": ["d0", "d1", "d3", "d2"]}
    runs = []
    for run, found in lists.items():
        lines = [f"1 Q0 {name} {rank} {9 - rank} {run}\n" for rank, name in enumerate(found, 1)]
        (tmp_path / run).write_text("".join(lines))
        runs.append(read_run(tmp_path / run))
    # discounts 1, .631, .5, .431: d3 is at 4, 2, 3; d1 at 2, 3, 2; d2 at 3, 4, 4; d0 always first, d4 nowhere
    assert names(ordered(campaign, "comparison", runs=runs))[:3] == ["d3", "d1", "d2"]
    with pytest.raises(FocusevalError, match="two runs or more"):
        ordered(campaign, "comparison")
    with pytest.raises(FocusevalError, match="expected rank, random"):
        ordered(campaign, "backwards")


def test_a_lead_changes_the_order_on_the_page_of_the_pool(together, pooled):
    lea, ann = together("lea"), together("ann")
    assert ann.post("/pool/order", data={"by": "random", "csrf": ann.csrf}).status_code == 403
    assert lea.post("/pool/order", data={"by": "random", "csrf": lea.csrf}).status_code == 302
    ((_, edit),) = pooled.project_events("order")
    assert f"at random (seed {edit['seed']})" in lea.get("/pool").text
    refused = lea.post("/pool/order", data={"by": "comparison", "csrf": lea.csrf})
    assert (refused.status_code, "kept with the project" in refused.text) == (422, True)


def test_a_judgement_goes_back_to_any_state_and_the_log_keeps_all(together, pooled, pages):
    ann, bob = together("ann"), together("bob")
    text = pages.get("a/tides").text
    for version, edit in enumerate(
        [mark(0, 5, text=text), mark(15, 38, text=text), {"kind": "finish", "relevant": True}]
    ):
        ann.edit(edit, version=version, token=f"token-{version:04}")
    events = ann.get("/api/history", topic="11", document="a/tides").json["events"]
    assert [(event["actor"], event["edit"]["kind"], event["state"]["status"]) for event in events] == [
        ("ann", "highlight", "in progress"),
        ("ann", "highlight", "in progress"),
        ("ann", "finish", "relevant"),
    ]
    where = {"topic": "11", "document": "a/tides", "version": 3, "token": "token-back"}
    state = ann.post("/api/back", {**where, "to": 1}).json["state"]
    assert (state["highlights"], state["status"], state["version"]) == ([[0, 5]], "in progress", 4)
    undone = ann.edit({"kind": "undo"}, version=4, token="token-undo").json["state"]
    assert (undone["highlights"], undone["status"]) == ([[0, 5], [15, 38]], "relevant")
    for wrong in (0, 9, "1", None):
        assert ann.post("/api/back", {**where, "version": 5, "token": "token-more", "to": wrong}).status_code == 400
    assert bob.get("/api/history", topic="11", document="a/tides").json["events"] == [], "everybody sees their own"
    assert json.loads(json.dumps(list(pooled.events())))[-1]["edit"] == {"kind": "undo"}
