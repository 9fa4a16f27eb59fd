"""People's sample: drawn once and extended, judged in its order, and estimated from as far as it is finished."""

import json
import re
import shutil
from contextlib import closing

import pytest
from click.testing import CliRunner

from focuseval.assessment import open_project
from focuseval.assessment.plan import Assessor, register, sampled_topics
from focuseval.assessment.progress import Overview
from focuseval.assessment.sampling import SampleState, model_named, sample_state
from focuseval.assessment.store import Key
from focuseval.assessment.web import Access, create_app
from focuseval.cli import main
from focuseval.errors import AssessError
from strategies.assessing import save
from strategies.projects import command
from strategies.sampled import MODEL_NAME, TOPICS, begin_sampled, judge


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampled")
    return folder, *begin_sampled(folder)


@pytest.fixture
def sea(begun, tmp_path):
    """The project's folder, where people's own sentences stand, and the runs."""
    folder, project, right = begun
    shutil.copytree(project, tmp_path / "sea")
    return tmp_path / "sea", right, (folder / "a.jsonl", folder / "b.jsonl")


def finish(project, right, topics, name="ann"):
    with closing(open_project(project)) as opened:
        register(opened.store, Assessor(name))
        for topic in topics:
            judge(opened, name, topic, int(right[int(topic[1:])]))


def estimated(project, runs, *more, code=0):
    words = ["estimate", str(project), *map(str, runs), "--model", "small", "-m", "spanR@1", *more]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    return done


def test_a_sample_is_an_event_with_its_seed_and_a_larger_one_keeps_its_order(sea):
    project, _, _ = sea
    first = command("project", "sample", project, 8, "--seed", 3).splitlines()[:8]
    second = command("project", "sample", project, 12, "--seed", 3).splitlines()[:12]
    assert second[:8] == first
    assert len(set(second)) == 12
    with closing(open_project(project)) as opened:
        assert sampled_topics(opened.store) == tuple(second)
        assert [edit["seed"] for _, edit in opened.store.project_events("sample")] == [3, 3]


def test_equal_seeds_give_equal_orders_at_once_or_in_steps(sea, tmp_path):
    project, _, _ = sea
    shutil.copytree(project, tmp_path / "again")
    command("project", "sample", project, 5)
    steps = command("project", "sample", project, 20).splitlines()[:20]
    assert command("project", "sample", tmp_path / "again", 20).splitlines()[:20] == steps
    assert steps != sorted(steps)


@pytest.mark.parametrize(("number", "said"), [(31, "at most the 30 pooled topics"), (4, "5 topics or more")])
def test_a_sample_that_cannot_be_is_refused_in_one_line(sea, number, said):
    command("project", "sample", sea[0], 5)
    told = command("project", "sample", sea[0], number, code=1)
    assert said in told
    assert len(told.splitlines()) == 1


def test_an_assessor_sees_sampled_topics_first_and_in_their_order(sea):
    project, _, _ = sea
    order = command("project", "sample", project, 4, "--seed", 1).splitlines()[:4]
    with closing(open_project(project)) as opened:
        seen = [row.topic for row in Overview(opened.store).of("ann")]
    assert seen[:4] == order
    assert seen[4:] == sorted(set(seen) - set(order))


@pytest.mark.parametrize(
    ("left", "finished", "waiting"), [((0, 0, 1, 0), 2, 1), ((1, 0, 0, 0), 0, 3), ((0, 0, 0, 0), 4, 0), ((), 0, 0)]
)
def test_only_the_beginning_of_the_order_counts_and_the_rest_waits(left, finished, waiting):
    state = SampleState(("a", "b", "c", "d")[: len(left)], left)
    assert (len(state.finished), state.waiting) == (finished, waiting)


def test_estimate_uses_the_longest_finished_beginning_and_says_what_waits(sea):
    project, right, runs = sea
    order = command("project", "sample", project, 20, "--seed", 5).splitlines()[:20]
    finish(project, right, [*order[:12], *order[14:16]])
    done = estimated(project, runs, "--json")
    found = json.loads(done.stdout)
    assert (found["runs"][0]["people"]["topics"], found["runs"][0]["topics"]) == (12, TOPICS)
    assert (
        f"12 of 20 sampled topics are finished in their order, and 2 more wait behind topic {order[12]}" in done.stderr
    )
    assert "2 documents to do" in done.stderr
    assert "random" not in done.stderr
    told = estimated(project, runs, "--merge", "union").stderr
    assert told.count("judged documents: 28 single") == 1


def test_judgements_of_topics_that_were_not_drawn_are_left_out_and_counted(sea):
    project, right, runs = sea
    order = command("project", "sample", project, 12, "--seed", 5).splitlines()[:12]
    others = [topic for topic in (f"q{n:02}" for n in range(TOPICS)) if topic not in order][:2]
    finish(project, right, [*order, *others])
    done = estimated(project, runs, "--json")
    assert json.loads(done.stdout)["runs"][0]["people"]["topics"] == 12
    assert "left out: 4 judgements of 2 topics not drawn at random" in done.stderr


def test_a_topic_with_a_document_to_do_is_not_finished(sea):
    project, right, _ = sea
    order = command("project", "sample", project, 3).splitlines()[:3]
    finish(project, right, order[:1])
    with closing(open_project(project)) as opened:
        judge(opened, "ann", order[1], 0, documents=1)
        assert sample_state(opened.store).left == (0, 1, 2)


def test_without_a_sample_a_project_is_refused_or_declared(sea):
    project, right, runs = sea
    finish(project, right, [f"q{n:02}" for n in range(14)])
    told = estimated(project, runs, code=1).stderr
    assert "draw one with 'focuseval project sample'" in told
    assert len(told.splitlines()) == 1
    found = json.loads(estimated(project, runs, "--random", "--json").stdout)
    assert found["runs"][0]["people"]["topics"] == 14


def test_a_sample_whose_first_topic_is_not_finished_says_what_to_do(sea):
    project, right, runs = sea
    order = command("project", "sample", project, 12).splitlines()[:12]
    finish(project, right, order[1:])
    told = estimated(project, runs, code=1).stderr
    assert f"the sample's first topic, {order[0]}" in told
    assert "11 finished behind it wait" in told


def test_topics_that_the_model_has_not_finished_are_left_out_and_counted(sea, tmp_path):
    project, right, runs = sea
    order = command("project", "sample", project, 12).splitlines()[:12]
    finish(project, right, order)
    rest = next(topic for topic in (f"q{n:02}" for n in range(TOPICS)) if topic not in order)
    with closing(open_project(project)) as opened:
        page, key = opened.documents.plain("other"), (MODEL_NAME, rest, "other")
        saved = opened.store.judgement(type(next(iter(opened.store.judged())))(*key))
        opened.store.edit(saved.key, page, {"kind": "reopen"}, version=saved.version, token="reopened again")
    done = estimated(project, runs, "--json")
    assert json.loads(done.stdout)["runs"][0]["topics"] == TOPICS - 1
    assert f"{MODEL_NAME} has not finished 1 topic, which is left out" in done.stderr


@pytest.mark.parametrize("name", ["small", "model:small", MODEL_NAME, MODEL_NAME.removeprefix("model:")])
def test_a_model_is_found_by_its_whole_name_or_by_the_part_before_the_hash(sea, name):
    with closing(open_project(sea[0])) as opened:
        assert model_named(opened.store, name) == MODEL_NAME
        with pytest.raises(AssessError, match=f"found 'large'; there are {MODEL_NAME}"):
            model_named(opened.store, "large")


def test_a_plan_says_whether_runs_can_be_told_apart_and_how_many_more_topics_would_do(sea):
    project, right, runs = sea
    order = command("project", "sample", project, 20, "--seed", 5).splitlines()[:20]
    finish(project, right, order[:11])
    done = estimated(project, runs, "--plan", "--within", "1", "--json")
    (plan,) = json.loads(done.stdout)["plan"]
    assert plan["told_apart"] or 1 <= plan["fewest"] <= plan["most"]
    assert json.loads(done.stdout)["anytime"]
    shown = " ".join(estimated(project, runs, "--plan", "--within", "0.001").stdout.split())
    assert "Not even all 30 topics judged by people would show a difference of 0.001 with probability .8." in shown


def test_the_page_shows_the_sample_the_estimate_and_when_to_stop(sea):
    project, right, _ = sea
    order = command("project", "sample", project, 14, "--seed", 5).splitlines()[:14]
    finish(project, right, order[:12])
    with closing(open_project(project)) as opened:
        access = Access(b"secret", frozenset({"localhost"}), assessor="ann")
        app = create_app(opened.store, opened.documents, opened.topics, access)
        client = app.test_client()
        client.get(f"/enter?token={access.token}", headers={"Host": "localhost"})
        page = client.get("/estimate?measure=spanR@1", headers={"Host": "localhost"}).get_data(as_text=True)
        plain = client.get("/", headers={"Host": "localhost"}).get_data(as_text=True)
    assert "12 of 14 sampled topics finished in the order of the sample" in " ".join(page.split())
    assert re.findall(r"<td>(\w+)</td>", page)[:2] == ["a", "b"], "as the runs are called elsewhere, by name"
    assert "95 % interval at any time" in page
    assert "When to stop" in page
    assert "14 topics of a random sample" in plain
    assert [plain.index(f"sample: {place} of 14") for place in range(1, 15)] == sorted(
        plain.index(f"sample: {place} of 14") for place in range(1, 15)
    )


@pytest.mark.parametrize("number", [0, 1])
def test_the_page_of_a_sample_that_has_just_begun_alarms_nobody_and_claims_nothing(sea, number):
    project, right, _ = sea
    order = command("project", "sample", project, 3, "--seed", 5).splitlines()[:3]
    finish(project, right, order[:number])
    with closing(open_project(project)) as opened:
        access = Access(b"secret", frozenset({"localhost"}), assessor="ann")
        client = create_app(opened.store, opened.documents, opened.topics, access).test_client()
        client.get(f"/enter?token={access.token}", headers={"Host": "localhost"})
        page = client.get("/estimate?measure=spanR@1", headers={"Host": "localhost"}).get_data(as_text=True)
    assert 'class="problem"' not in page
    assert (f"Nothing to estimate before topic {order[0]} is finished." in page) == (number == 0)
    assert ("1 of 3 sampled topics is finished" in page) == (number == 1)
    assert not re.findall(r"\[\d", page), "one topic has no interval"


def test_the_page_takes_assisted_topics_when_told_and_never_says_where_the_project_is(sea):
    project, right, _ = sea
    order = command("project", "sample", project, 14, "--seed", 5).splitlines()[:14]
    with closing(open_project(project)) as opened:
        access = Access(b"secret", frozenset({"localhost"}), assessor="ann")
        client = create_app(opened.store, opened.documents, opened.topics, access).test_client()
        client.get(f"/enter?token={access.token}", headers={"Host": "localhost"})

        def page(**query):
            found = client.get("/estimate", query_string={"measure": "spanR@1"} | query, headers={"Host": "localhost"})
            return found.get_data(as_text=True)

        for topic in order[:12]:
            judge(opened, "ann", topic, int(right[int(topic[1:])]))
        key, text = Key("ann", order[0], "other"), opened.documents.plain("other")
        helped = {"source": {"assisted": MODEL_NAME}}
        save(opened.store, {"kind": "flag", "on": False, **helped}, key, text)
        save(opened.store, {"kind": "finish", "relevant": False, **helped}, key, text)
        assert "found 1 topic with them" in (refused := page())
        assert "tick the box to use them" in refused
        assert str(project) not in refused
        assert "When to stop" in page(assisted="yes")
