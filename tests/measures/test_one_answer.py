"""``validate`` and ``score`` agree about every run: what one calls invalid, the other refuses, in the same words."""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.measures.tasks import TASKS

TWO = [("1", "d1", 1, 0, 10), ("1", "d2", 2, 0, 10)]


def jsonl(*results, **more):
    keys = ("topic", "doc", "rank", "start", "end")
    return "".join(json.dumps(dict(zip(keys, result, strict=False)) | more) + "\n" for result in results)


RUNS = {
    "nothing wrong": jsonl(*TWO),
    "a repeated result": jsonl(*TWO, ("1", "d2", 3, 0, 10)),
    "a result that comes back": jsonl(*TWO, ("1", "d1", 3, 0, 10)),
    "an empty span": jsonl(*TWO, ("1", "d2", 3, 20, 20)),
    "a span past the end": jsonl(*TWO, ("1", "d3", 3, 20, 500)),
    "an unknown document": jsonl(*TWO, ("1", "nowhere", 3, 20, 25)),
    "overlap": jsonl(*TWO, ("1", "d2", 3, 5, 15)),
    "overlap in a topic without gold": jsonl(*TWO, ("9", "d1", 1, 5, 15), ("9", "d1", 2, 5, 12)),
    "articles that come back in a topic without gold": jsonl(
        *TWO, ("9", "d1", 1, 0, 2), ("9", "d2", 2, 0, 2), ("9", "d1", 3, 4, 6)
    ),
    "overlap in a topic without relevance": jsonl(*TWO, ("3", "d1", 1, 5, 15), ("3", "d1", 2, 5, 12)),
    "ranks with a gap": jsonl(*TWO, ("1", "d3", 5, 0, 5)),
    "ranks that repeat": jsonl(*TWO, ("1", "d3", 2, 0, 5)),
    "a topic in two blocks": jsonl(TWO[0], ("2", "d1", 1, 0, 10), TWO[1]),
    "a topic in two lists": jsonl(TWO[0], ("2", "d1", 1, 0, 10), ("1", "d2", 1, 0, 10)),
    "rising scores": jsonl(TWO[0], score=1) + jsonl(TWO[1], score=2),
    "a score that is no number": jsonl(TWO[0], score=1) + jsonl(TWO[1]).replace("}", ', "score": NaN}'),
    "a key twice": jsonl(TWO[0]).replace("}", ', "rank": 1}'),
    "more than 1500 results": jsonl(*(("1", f"d{n % 3}", n, n, n + 1) for n in range(1, 1503))),
    "overlap beyond 1500 results": jsonl(*(("1", f"d{n}", n, 0, 1) for n in range(1, 1502)), ("1", "d1", 1502, 0, 10)),
    "documents": jsonl(("1", "d1", 1), ("1", "d2", 2)),
    "a document twice": jsonl(("1", "d1", 1), ("1", "d2", 2), ("1", "d2", 3)),
    "a TREC run": "1 Q0 d1 1 9 R\n1 Q0 d2 2 8 R\n",
    "a TREC run with a document twice": "1 Q0 d1 1 9 R\n1 Q0 d2 2 8 R\n1 Q0 d2 3 7 R\n",
    "nested elements": "1 Q0 d1 1 9 R /a[1]\n1 Q0 d1 2 8 R /a[1]/b[1]\n",
    "no topic": '<inex-submission participant-id="1" run-id="R" task="Focused"></inex-submission>',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("one-answer")
    gold = [
        {"topic": topic, "doc": f"d{n}", "spans": [] if topic == "3" else [{"start": 0, "end": 10}], "length": 2000}
        for topic in "123"
        for n in (1, 2)
    ]
    (made / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    docs = [{"id": f"d{n}", "text": "abcdefghij" * (5 if n == 3 else 200)} for n in range(1, 4)]
    (made / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in docs))
    return made


def focuseval(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False)


@pytest.mark.parametrize("rules", [("--task", task.name) for task in TASKS] + [("--profile", "inex2009")], ids=" ".join)
@pytest.mark.parametrize("name", RUNS)
def test_validate_and_score_give_one_answer(folder, name, rules):
    run = folder / "run"
    run.write_text(RUNS[name])
    for docs in ([], ["--docs", folder / "docs.jsonl"]):
        if docs and name == "nested elements":
            continue  # the documents have no elements
        checked = focuseval("validate", run, *rules, *docs, "--format", "json")
        scored = focuseval("score", folder / "gold.jsonl", run, *rules, *docs, "-m", "P@5")
        assert (checked.exit_code, scored.exit_code) in {(0, 0), (1, 1)}, scored.stderr
        first = [one for one in json.loads(checked.stdout)["findings"] if one["level"] == "error"][:1]
        if first and first[0]["rule"] in {"overlap", "interleaved", "second-result"}:
            assert f"run:{first[0]['line']}: topic {first[0]['topic']}: {first[0]['what']} (" in scored.stderr


@pytest.mark.parametrize("name", ["a repeated result", "an empty span"])
def test_what_the_measures_have_a_rule_for_is_a_warning(folder, name):
    """A repeated result gains nothing, an empty span costs and gains nothing."""
    run = folder / "run"
    run.write_text(RUNS[name])
    answer = focuseval("validate", run, "--task", "thorough")
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[-1].endswith(": valid for task thorough: 1 warning")
    assert focuseval("validate", run, "--task", "thorough", "--strict").exit_code == 1


def test_overlap_beyond_the_cut_off_of_a_profile_is_not_scored_and_not_refused(folder):
    run = folder / "run"
    run.write_text(RUNS["overlap beyond 1500 results"])
    given = ("--profile", "inex2009", "--task", "focused")
    assert focuseval("validate", run, *given).exit_code == 0
    assert focuseval("score", folder / "gold.jsonl", run, *given, "-m", "P@5").exit_code == 0
    assert focuseval("validate", run, "--task", "focused").exit_code == 1
    assert focuseval("score", folder / "gold.jsonl", run, "--task", "focused", "-m", "P@5").exit_code == 1


def test_a_repaired_run_is_scored(folder):
    run = folder / "run"
    run.write_text(RUNS["overlap in a topic without gold"])
    given = ("score", folder / "gold.jsonl", run, "--task", "focused", "-m", "P@5")
    assert (focuseval(*given).exit_code, focuseval(*given, "--repair").exit_code) == (1, 0)
