"""A sweep says what cutting, retrieving, scoring and comparing one after the other say."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import focuseval as fe
from building import gold_of, run_of
from focuseval.cli import main
from focuseval.collection.chunks import extent
from focuseval.collection.tokens import TiktokenEncoding
from focuseval.errors import FocusevalError
from focuseval.inference.settings import Settings
from focuseval.report.charts.chart import names_beside
from focuseval.retrieval.swept import Sweep
from strategies.tokenizers import encoding, train

TEXTS = {
    f"d{number}": f"The harbour of town {name} is old. Ships come in with the tide. The {name} light is tall.\n\n"
    f"Pilots of {name} know the channel. They read the {name} tables of the moon, and wait."
    for number, name in enumerate(("Ayr", "Brill", "Cork", "Delft", "Emden", "Fowey", "Genoa", "Hull"))
}
SPECS = ("characters:40", "characters:60/30", "sentences:1", "words:8/4")


def judged():
    rows = []
    for doc, text in TEXTS.items():
        name = text.split()[4]
        for quote, query in ((f"The {name} light is tall.", f"{name} light"), (f"the {name} tables", f"tables {name}")):
            start = text.index(quote)
            rows.append(
                {
                    "topic": f"{doc}-{start}",
                    "query": query,
                    "doc": doc,
                    "spans": [{"start": start, "end": start + len(quote)}],
                }
            )
    return rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for doc, text in TEXTS.items():
        Path("docs", f"{doc}.txt").write_text(text, encoding="utf-8")
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged()), encoding="utf-8")
    return tmp_path


@pytest.fixture
def gold(folder):
    return fe.read_gold("gold.jsonl", index=fe.open_documents("docs"))


def run(*arguments):
    return CliRunner().invoke(main, list(arguments), catch_exceptions=False)


def test_every_number_is_that_of_the_commands_one_after_the_other(gold):
    index = fe.open_documents("docs")
    found = fe.sweep(gold, index, SPECS)
    assert found.names == SPECS
    for number, spec in enumerate(SPECS):
        chunks = fe.chunk(index, spec)
        alone = fe.retrieve(index, gold.queries, chunks=chunks)
        scores = fe.evaluate(gold, [alone], found.scores.measures, index=index, chunks=chunks)
        np.testing.assert_array_equal(found.scores.values[number], scores.values[0])
        assert found.extents[number] == extent(chunks, index)
    compared = found.scores.compare(found.measure)
    for number, stands in enumerate(found.standings):
        if number == found.order[0]:
            assert (found.names[number], stands.word, stands.p) == (found.best, "leads", None)
            continue
        pair = compared.pair(0, found.order.index(number))
        assert stands.p == compared.corrected[pair]
        assert stands.difference == compared.difference[pair]
        assert (stands.word == "worse") == compared.significant[pair]


def test_passages_of_words_are_retrieved_as_by_retrieve(gold):
    index = fe.open_documents("docs")
    found = fe.sweep(gold, index, ["words:8/4"], measures=["spanR@100c"])
    run = fe.retrieve(index, gold.queries, unit="passage:8/4")
    scores = fe.evaluate(gold, [run], ["spanR@100c"], index=index)
    np.testing.assert_array_equal(found.scores.values[0, :, 0], scores.values[0, :, 0])


def test_equal_chunkings_are_hardly_ever_called_worse(gold):
    """The best of ten is chosen by looking: of families of equal systems about one in twenty may have a loser."""
    rng = np.random.default_rng(1)
    found = fe.sweep(gold, "docs", ["characters:40"] * 10, measures=["spanR@100c"])
    wrong = 0
    for _ in range(200):
        scores = replace(found.scores, values=rng.normal(size=found.scores.values.shape))
        made = Sweep(SimpleNamespace(scores=scores), found.chunks, found.extents, Settings(test="t", resamples=1))
        wrong += any(stands.word == "worse" for stands in made.standings)
    assert wrong <= 16  # with a correction over the pairs with the best alone it would be 25


def test_own_runs_are_scored_in_the_order_of_the_chunkings(gold):
    index = fe.open_documents("docs")
    runs = [fe.retrieve(index, gold.queries, chunks=fe.chunk(index, spec)) for spec in SPECS]
    own, made = (fe.sweep(gold, index, SPECS, retriever) for retriever in (runs, "bm25"))
    np.testing.assert_array_equal(own.scores.values, made.scores.values)
    assert own.names == SPECS
    swapped = fe.sweep(gold, index, SPECS, runs[::-1])
    assert "are not chunks of characters:40; are runs and chunkings in the same order?" in swapped.remarks()[0]


def test_a_function_may_retrieve(gold):
    def lengths(units, questions):
        return units.run({topic: (units.end - units.start).astype(float) for topic in questions})

    found = fe.sweep(gold, "docs", ["characters:40", "characters:60"], lengths, measures=["IoU@1"])
    assert [len(run) for run in found.evaluation.sources] == [
        len(fe.units(fe.open_documents("docs"), spec)) * len(gold.topics) for spec in ("characters:40", "characters:60")
    ]


def test_with_a_tokenizer_budgets_and_cost_are_in_tokens(gold):
    found = fe.sweep(gold, "docs", ["tokens:20", "characters:40"], tokenizer=TiktokenEncoding(encoding()))
    assert found.scores.measures[:4] == ("spanR@500t", "spanR@250t", "spanR@1000t", "IoU@500t")
    assert found.scores.signature.endswith("tokenizer:tiktoken:tiny")
    assert all(text.tokens > 0 for text in found.extents)
    assert "tokens" in found.table().headings


def test_questions_may_come_from_topics(gold):
    bare = gold_of({topic: {"d0": {"spans": [(0, 9)], "length": 99}} for topic in gold.topics[:2]})
    with pytest.raises(FocusevalError, match="the gold: no topic has a question to retrieve for"):
        fe.sweep(bare, TEXTS, ["characters:40"])
    found = fe.sweep(bare, TEXTS, ["characters:40"], topics=dict.fromkeys(bare.topics, "harbour of Ayr"))
    assert found.scores.mean[0, 0] == 1


def test_what_cannot_be_swept_is_refused(gold):
    with pytest.raises(FocusevalError, match="expected at least one way to cut documents, found none"):
        fe.sweep(gold, "docs", [])
    with pytest.raises(FocusevalError, match="a run for each of the 2 chunkings in their order, found 1"):
        fe.sweep(gold, "docs", ["characters:40", "words:8"], [run_of({"d0-63": [("d0", 0, 9)]})])
    with pytest.raises(FocusevalError, match="results need a place in their document"):
        fe.sweep(gold, "docs", ["characters:40"], [run_of({"d0-63": [("d0",)]})])


def letters(texts):
    return np.array([[text.lower().count(letter) + 0.01 for letter in "aeiostlmw"] for text in texts], np.float32)


def test_a_grid_retrieves_every_chunking_by_every_retriever(gold):
    index = fe.open_documents("docs")
    specs, ways = ("characters:40", "sentences:1"), ("bm25", "dense", "hybrid")
    found = fe.sweep(gold, index, specs, ways, ["IoU@1"], embedder=letters)
    assert found.names == tuple(f"{spec} with {way}" for spec in specs for way in ways)
    for number, name in enumerate(found.names):
        spec, _, way = name.partition(" with ")
        cut = fe.chunk(index, spec)
        alone = fe.retrieve(index, gold.queries, chunks=cut, retriever=way, embedder=letters)
        scores = fe.evaluate(gold, [alone], found.scores.measures, index=index, chunks=cut)
        np.testing.assert_array_equal(found.scores.values[number], scores.values[0])
        assert found.made_by[number].vectors == (0 if way == "bm25" else len(fe.units(index, chunks=cut)))
    told, table = found.to_json(), found.table()
    assert table.title.startswith("Use ")
    assert {"vectors", "ms a question", "frontier"} <= set(table.headings)
    for said in (
        found.scores.signature,
        json.dumps(told["retrievers"]),
        str(table.notes),
        told["chunkings"][0]["cost"]["retriever"],
    ):
        assert "language=english" in said
        assert "stemmer=Snowball" in said
    assert "embedder=a function cosine" in found.scores.signature
    assert "hybrid k1=1.2 b=0.75" in found.scores.signature
    assert len(found.factors) == 3
    assert found.factors[0].startswith("By chunking alone, over every retriever: ")
    assert found.factors[1].startswith("By retriever alone, over every chunking: ")


def test_main_effects_and_interaction_are_those_of_the_values(gold):
    found = fe.sweep(gold, "docs", ["characters:40", "sentences:1"], ["bm25", "dense"], ["IoU@1"], embedder=letters)
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.01, size=(4, len(gold.topics)))
    for effect, said in (
        ([0.9, 0.5, 0.4, 0.0], "Nothing shows that"),
        ([0.9, 0.1, 0.2, 0.8], "depend on each other: which"),
    ):
        values = found.scores.values.copy()
        values[:, :, 0] = np.array(effect)[:, None] + noise
        made = replace(found, evaluation=SimpleNamespace(scores=replace(found.scores, values=values)))
        assert said in made.factors[2]
        if said == "Nothing shows that":
            assert made.factors[0].endswith("characters:40 is better than sentences:1.")
            assert made.factors[1].endswith("bm25 is better than dense.")


def test_the_frontier_holds_what_nothing_cheaper_equals(gold):
    found = fe.sweep(gold, "docs", ["sentences:1", "characters:60/30", "sentences:1"], measures=["IoU@1"])
    assert found.frontier == (True, False, True)
    assert found.equal() == []
    same = fe.sweep(
        gold, "docs", ["words:8", "words:8/8", fe.chunk(fe.open_documents("docs"), "sentences:1")], measures=["IoU@1"]
    )
    assert same.equal() == []  # one name, which is said twice
    renamed = replace(fe.chunk(fe.open_documents("docs"), "words:8"), name="mine")
    assert fe.sweep(gold, "docs", ["words:8", renamed], measures=["IoU@1"]).equal() == [
        "words:8 and mine cut the same chunks."
    ]


def test_a_plain_sweep_names_its_retriever_too(gold):
    found = fe.sweep(gold, "docs", ["sentences:1"], language="none")
    assert "retriever:BM25 k1=1.2 b=0.75 mix=0 idf=units language=none stemmer=none" in found.scores.signature
    assert any(note.startswith("Retriever: BM25 k1=1.2") for note in found.table().notes)


def test_names_and_runs_are_not_mixed(gold):
    with pytest.raises(FocusevalError, match=r"expected names of retrievers or runs, found both \('run.txt'\)"):
        fe.sweep(gold, "docs", ["sentences:1", "words:8"], ["bm25", "run.txt"])
    with pytest.raises(FocusevalError, match="expected an embedder, or vectors and query vectors, found neither"):
        fe.sweep(gold, "docs", ["sentences:1"], ["bm25", "dense"])


def test_processes_change_nothing(gold):
    one, two = (fe.sweep(gold, "docs", SPECS, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.scores.values, two.scores.values)


def test_one_chunking_is_the_best_of_one(gold):
    found = fe.sweep(gold, "docs", ["characters:40"])
    assert found.sentence() == f"characters:40: spanR@2000c is {found.scores.mean[0, 0]:.4f} over 16 topics."
    assert "Chunkings, best first" in str(found)
    assert "<table" in found._repr_html_()


def test_chunkings_that_score_the_same_are_not_called_best(gold):
    found = fe.sweep(gold, "docs", ["characters:40"] * 3)
    assert found.advice().endswith("all score the same on every topic, and none costs clearly less.")
    said = "All 3 chunkings score the same on every topic. The highest mean spanR@2000c is 1"
    assert found.sentence().startswith(f"{found.advice()} {said}")
    assert [stands.word for stands in found.standings] == ["leads", "cannot tell", "cannot tell"]
    assert {stands.reason for stands in found.standings[1:]} == {"both score the same on every topic"}
    report = found.report()
    assert "is best" not in str(report.remarks)


def test_a_sweep_says_what_its_comparison_says(gold):
    found = fe.sweep(gold, "docs", SPECS, measures=["IoU@1"])
    assert found.sentence().startswith(f"{found.advice()} {found.comparison.conclusion('chunking').headline}")
    words = {place: found.standings[number].word for place, number in enumerate(found.order)}
    level = found.comparison.groups[0]
    assert {place for place, word in words.items() if word == "worse"} == set(words) - set(level)


def test_gaps_are_said_and_the_cheapest_of_the_best_is_named(gold):
    found = fe.sweep(gold, "docs", ["characters:40", "characters:40/10", "characters:10/40"], measures=["spanR@80c"])
    title, notes = found.table().title, found.table().notes
    assert (title, f"{title} {notes[0]}") == (found.advice(), found.sentence())
    assert found.cheapest in notes[0]
    assert notes[-1] == f"characters:10/40: {found.extents[2].left_out:,} characters in no chunk."
    assert found.extents[found.names.index(found.cheapest)].characters == min(
        text.characters for text, stands in zip(found.extents, found.standings, strict=True) if stands.word != "worse"
    )


def test_the_command_prints_a_row_for_every_chunking(folder):
    done = run("sweep", "gold.jsonl", "--docs", "docs", "--chunks", *SPECS, "-m", "spanR@80c", "--format", "csv")
    assert done.exit_code == 0
    lines = [line.split(",") for line in done.stdout.splitlines()]
    head = next(line for line in lines if line[0] == "chunking")
    assert head[1:6] == ["against the best", "p (Holm)", "rank", "spanR@80c", "ceiling(spanR)"]
    assert {line[0] for line in lines if line[0] in SPECS} == set(SPECS)


def test_the_command_prints_json(folder):
    done = run("sweep", "gold.jsonl", "--docs", "docs", "--chunks", *SPECS, "--format", "json")
    told = json.loads(done.stdout)
    found = fe.sweep("gold.jsonl", "docs", SPECS)
    assert told == found.to_json()
    assert {"chunks", "characters", "tokens", "left_out", "times"} <= told["chunkings"][0]["cost"].keys()
    assert told["chunkings"][0]["against_best"] == {"verdict": "leads", "difference": None, "p_corrected": None}


def test_the_command_takes_files_of_chunks_and_runs(folder):
    for number, spec in enumerate(("characters:40", "sentences:1")):
        assert run("chunk", "docs", spec, "-o", f"chunks{number}.jsonl").exit_code == 0
        index = fe.open_documents("docs")
        gold = fe.read_gold("gold.jsonl", index=index)
        made = fe.retrieve(index, gold.queries, chunks=fe.chunk(index, f"chunks{number}.jsonl"))
        fe.write_run(made, f"run{number}.jsonl", "run-jsonl")
    given = ["gold.jsonl", "--docs", "docs", "--chunks", "chunks0.jsonl", "chunks1.jsonl"]
    own = run("sweep", *given, "--retriever", "run0.jsonl", "run1.jsonl", "--format", "json")
    assert own.exit_code == 0, own.output
    measures = [
        {c["chunking"]: c["measures"] for c in json.loads(done)["chunkings"]}
        for done in (own.stdout, run("sweep", *given, "--format", "json").stdout)
    ]
    assert measures[0] == measures[1]
    assert set(measures[0]) == {"chunks0", "chunks1"}


def test_the_page_is_a_report_that_draws_quality_against_cost(folder):
    done = run("sweep", "gold.jsonl", "--docs", "docs", "--chunks", *SPECS, "-o", "sweep.html")
    assert done.exit_code == 0
    page = Path("sweep.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Quality against cost" in page
    chart = fe.sweep("gold.jsonl", "docs", SPECS).report().chart("chunking-cost")
    assert [row[0] for row in chart.rows] == [row[0] for row in fe.sweep("gold.jsonl", "docs", SPECS).table().rows]
    scale = chart.spec["layer"][1]["encoding"]["color"]["scale"]
    assert set(scale["domain"]) == {row[-2] for row in chart.rows}  # nothing that is not drawn
    assert "#D55E00" not in scale["range"]  # orange is B
    assert done.stderr.splitlines()[-1].startswith("sweep.html: ")


def test_the_report_and_the_table_judge_alike(gold):
    found = fe.sweep(gold, "docs", SPECS, measures=["spanR@80c"])
    report = found.report()
    assert report.about.test == found.comparison.method
    assert report.first.runs[0].run == found.best


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--chunks", "characters:40"], 2, "A sweep cuts documents: give them with --docs or --index."),
        (["--docs", "docs"], 2, "Missing option '--chunks'"),
        (["--docs", "docs", "--chunks", "letters:40"], 2, "found 'letters:40'"),
        (
            ["--docs", "docs", "--chunks", "words:4", "--retriever", "a", "b"],
            2,
            "found 2; give as many runs as chunkings",
        ),
        (["--docs", "docs", "--chunks", "tokens:4"], 2, "expected a tokenizer"),
        (
            ["--docs", "docs", "--chunks", "words:4", "-m", "spanR@9t"],
            1,
            "spanR@9t: a budget of tokens needs a tokenizer",
        ),
    ],
)
def test_the_command_refuses_in_one_line(folder, arguments, code, said):
    done = run("sweep", "gold.jsonl", *arguments)
    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.output


def test_the_command_counts_tokens(folder):
    tokenizer = train(folder / "tokenizer.json")
    done = run(
        "sweep",
        "gold.jsonl",
        "--docs",
        "docs",
        "--chunks",
        "tokens:20/10",
        "--tokenizer",
        tokenizer,
        "--format",
        "json",
    )
    told = json.loads(done.stdout)
    assert told["decides"] == "spanR@500t"
    assert told["signature"].partition("tokenizer:tokenizers:tokenizer.json@")[2]
    assert run("score", "gold.jsonl", "gold.jsonl", "--docs", "docs").exit_code == 1


def test_the_ceiling_of_a_sweep_is_that_of_score(folder):
    Path("run.jsonl").write_text(
        json.dumps({"topic": judged()[0]["topic"], "doc": "d0", "start": 0, "end": 99}) + "\n", encoding="utf-8"
    )
    given = ["gold.jsonl", "run.jsonl", "--docs", "docs", "-m", "ceiling(IoU)", "--chunks", "characters:40", "--json"]
    told = json.loads(run("score", *given).stdout)["runs"][0]["measures"]["ceiling(IoU)"]
    found = fe.sweep("gold.jsonl", "docs", ["characters:40"])
    assert told == found.scores.means()["characters:40"]["ceiling(IoU)"]


def test_score_takes_a_tokenizer(folder):
    tokenizer = train(folder / "tokenizer.json")
    row = {"topic": judged()[0]["topic"], "doc": "d0", "start": 0, "end": 99}
    Path("run.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    given = ["gold.jsonl", "run.jsonl", "--docs", "docs", "-m", "spanR@5000t", "--tokenizer", tokenizer]
    done = run("score", *given, "--format", "json")
    assert done.exit_code == 0
    assert "tokenizer:tokenizers:tokenizer.json@" in json.loads(done.stdout)["signature"]
    base = run("score", *given, "--per-topic", "--format", "json", "-o", "base.json")
    assert base.exit_code == 0
    gated = run("gate", "--baseline", "base.json", *given)
    assert gated.exit_code == 0, gated.output


@pytest.mark.parametrize("logarithmic", [False, True])
def test_names_never_hide_each_other_nor_a_point(logarithmic):
    points = [*((str(n), 100.0 + n, 0.5) for n in range(5)), ("low", 1000.0, 0.0)]
    layers = names_beside(points, ("run", "x", "y"), 0.5, logarithmic=logarithmic)
    heights = [row["y"] for layer in layers for row in layer["data"]["values"]]
    apart = np.diff(sorted(heights))
    assert apart.min() > 0.045 * 0.5 - 1e-9
    assert max(heights) == 0.5, "the last of the neighbours has nothing to its right"
    (alone,) = names_beside([("alone", 7, 0.5)], ("run", "x", "y"), 0.5, logarithmic=logarithmic)
    assert alone["data"]["values"] == [{"run": "alone", "x": 7, "y": 0.5}]


def test_the_chunks_of_every_run_are_its_own_in_other_processes_too(gold):
    index = fe.open_documents("docs")
    chunks = [fe.chunk(index, spec) for spec in SPECS]
    runs = [fe.retrieve(index, gold.queries, chunks=cut) for cut in chunks]
    one, two = (fe.evaluate(gold, runs, ["ceiling(IoU)"], index=index, chunks=chunks, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)
    assert len(set(one.mean[:, 0].tolist())) > 1
    with pytest.raises(FocusevalError, match="expected the chunks of 4 runs, found those of 3; give one each"):
        fe.evaluate(gold, runs, ["ceiling(IoU)"], index=index, chunks=chunks[:3])


def test_the_table_of_the_page_on_chunkers_is_what_the_command_prints(shared_data):
    page = (Path(__file__).parents[2] / "docs" / "howto" / "compare-chunkers.md").read_text(encoding="utf-8")
    head, *rows = [line.split("  ") for line in page.splitlines() if line.startswith("    ") and "  " in line.strip()]
    head, *rows = ([cell.strip() for cell in row if cell.strip()] for row in (head, *rows[:4]))
    data = shared_data / "chroma_chunking_evaluation"
    found = fe.sweep(data / "questions_df.csv", data / "corpora", [row[0] for row in rows]).table()
    columns = [found.headings.index(name) for name in head]
    assert [[line[place] for place in columns] for line in found.cells()] == rows


def test_what_stores_a_little_less_text_in_many_more_chunks_is_not_advised(gold):
    found = fe.sweep(gold, "docs", ["sentences:1", "sentences:3"], measures=["spanR@2000c"])
    few = found.names.index("sentences:3")
    assert found.extents[1 - few].characters < found.extents[few].characters
    assert found.extents[1 - few].chunks > found.extents[few].chunks
    assert found.advice().startswith("Use sentences:3")
