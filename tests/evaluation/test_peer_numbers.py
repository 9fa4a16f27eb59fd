"""Other tools' numbers: equal to what their own code printed, and set beside ours with the reason.

The expected figures come from running chunking_evaluation (commit d451fc4, `_scores_from_dataset_and_retrievals` and
`_full_precision_score`) and legalbenchrag (commit 431bc8f, `QAResult`, `BenchmarkResult`) once, on the run of
`peer_case` and on the examples below; their code is not part of this project.
"""

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from evaluation.peer_case import chunks, corpora, questions, retrieved
from focuseval.cli import main
from focuseval.collection.chunks import Chunks
from focuseval.errors import MeasureError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_gold
from focuseval.measures.catalogue import MEASURES
from focuseval.measures.matching import match
from focuseval.measures.peers import _CHUNKS, PEERS, peer_named, texts
from focuseval.measures.prepared import prepare
from strategies.highlighted import collections

CHROMA = {"chroma:recall@5": 0.8744695211, "chroma:precision@5": 0.1151893573, "chroma:iou@5": 0.1123977256}
CHROMA_OMEGA = 0.3068768132
CHROMA_RECALL_OF_CORPUS = {
    "state_of_the_union": 0.9146421293544341,
    "wikitexts": 0.8737733716131516,
    "finance": 0.8919330653858667,
    "chatlogs": 0.8595285550578456,
    "pubmed": 0.8359832344765701,
}
LEGALBENCH = {"legalbenchrag:recall@5": 1.1141713930, "legalbenchrag:precision@5": 0.1454734863}


@pytest.fixture(scope="module")
def case(shared_data):
    """The gold, the run and the chunker's chunks."""
    data = shared_data / "chroma_chunking_evaluation"
    sizes, asked = corpora(data), questions(data)
    run = run_of({f"q{n + 1}": retrieved(n, *question, sizes) for n, question in enumerate(asked)})
    names, starts, ends = zip(*((c, s, e) for c, length in sizes.items() for s, e in chunks(length)), strict=True)
    return read_gold(data / "questions_df.csv"), run, Chunks(pa.array(names), np.array(starts), np.array(ends))


def test_chromas_numbers_are_those_of_its_own_code(case):
    gold, run, every = case
    scores = evaluate(gold, run, compat="chroma", chunks=every)
    means = scores.means()["run"]
    assert {name: means[name] for name in CHROMA} == pytest.approx(CHROMA, abs=1e-10)
    assert means["chroma:precision_omega"] == pytest.approx(CHROMA_OMEGA, abs=1e-10)
    assert max(means.values()) <= 1


def test_chromas_recall_of_every_corpus_is_that_of_its_own_code(case):
    gold, run, _ = case
    scores = evaluate(gold, run, ["spanR@5"], compat="chroma")
    column = scores.values[0, :, scores.measures.index("chroma:recall@5")]
    corpus = np.array(gold.documents.to_pylist())[gold.articles.document]
    means = {name: column[corpus == name].mean() for name in CHROMA_RECALL_OF_CORPUS}
    assert means == pytest.approx(CHROMA_RECALL_OF_CORPUS, abs=1e-12)


def test_legalbenchs_numbers_are_those_of_its_own_code(case):
    gold, run, _ = case
    means = evaluate(gold, run, ["spanR@5", "spanP@5"], compat="legalbenchrag").means()["run"]
    assert {name: means[name] for name in LEGALBENCH} == pytest.approx(LEGALBENCH, abs=1e-10)
    assert means["spanR@5"] < 1 < means["legalbenchrag:recall@5"]


def test_legalbenchs_sample_gives_what_its_own_code_prints(shared_data):
    """Four chunks of 100 characters around every snippet: at −50, 0, −30 and +400 from its start."""
    gold = read_gold(shared_data / "legalbenchrag_format" / "sample_benchmark.json")
    names, found = gold.documents.to_pylist(), {topic: [] for topic in gold.topics}
    p = gold.passages
    for topic, document, start in zip(p.topic.tolist(), p.document.tolist(), p.start.tolist(), strict=True):
        found[gold.topics[topic]] += [(names[document], start + d, start + d + 100) for d in (-50, 0, -30, 400)]
    values = evaluate(gold, run_of(found), ["spanR", "spanP"], compat="legalbenchrag").per_topic()["run"]
    printed = [
        (2.1153846153846154, 0.55),
        (1.8608695652173912, 0.535),
        (1.4482758620689655, 0.49),
    ]
    theirs = [(v["legalbenchrag:recall"], v["legalbenchrag:precision"]) for v in values.values()]
    assert theirs == [pytest.approx(pair) for pair in printed]


def test_overlapping_chunks_give_legalbench_a_recall_of_1_2_and_ours_of_1():
    gold = gold_of({"q": {"d": {"spans": [(0, 100)]}}})
    scores = evaluate(gold, run_of({"q": [("d", 0, 60), ("d", 40, 100)]}), ["spanR@5"], compat="legalbenchrag")
    assert scores.means()["run"] == {"spanR@5": 1.0, "legalbenchrag:recall@5": 1.2}
    (said,) = scores.remarks()
    assert said.startswith("run: legalbenchrag:recall@5 differs from spanR@5 in 1 of 1 topic, with values up to 1.2: ")
    assert said.endswith(": chunks overlap, and it counts the text that they share once for each of them (in 1 topic)")


def test_overlapping_references_cost_chroma_a_quarter_of_its_recall_and_us_nothing():
    gold = gold_of({"q": {"d": {"spans": [(0, 100), (50, 150)]}}})
    scores = evaluate(gold, run_of({"q": [("d", 0, 150)]}), ["spanR@1", "IoU@1", "spanP@1"], compat="chroma")
    means = scores.means()["run"]
    assert (means["spanR@1"], means["chroma:recall@1"]) == (1.0, 0.75)
    assert means["IoU@1"] == means["chroma:iou@1"] == means["chroma:precision@1"] == 1.0
    assert "references overlap" in scores.remarks()[0]
    assert scores.remarks()[1].endswith("chroma:iou@1 equals IoU@1 in the 1 topic")


def test_a_touching_chunk_counts_for_chroma_and_not_for_us():
    gold = gold_of({"q": {"d": {"spans": [(0, 50)]}}})
    scores = evaluate(gold, run_of({"q": [("d", 0, 50), ("d", 50, 100)]}), ["ceiling(IoU)"], compat="chroma")
    assert scores.means()["run"] == {"ceiling(IoU)": 1.0, "chroma:precision_omega": 0.5}
    assert "touches" in scores.remarks()[0]


def test_a_chunk_one_character_away_from_a_reference_touches_it_not():
    gold = gold_of({"q": {"d": {"spans": [(0, 50)]}}})
    scores = evaluate(gold, run_of({"q": [("d", 0, 50), ("d", 51, 100)]}), ["ceiling(IoU)"], compat="chroma")
    assert scores.means()["run"] == {"ceiling(IoU)": 1.0, "chroma:precision_omega": 1.0}


@pytest.mark.parametrize(
    ("at", "repeated"), [(None, [True, False, False]), (2, [True, False, False]), (1, [False] * 3)]
)
def test_chunks_that_share_a_character_are_told_from_those_that_touch(at, repeated):
    gold = gold_of({name: {"d": {"spans": [(0, 50)]}} for name in "abc"})
    run = run_of({"a": [("d", 0, 11), ("d", 10, 20)], "b": [("d", 0, 10), ("d", 10, 20)]})
    assert _CHUNKS.holds(match(run, prepare(gold)), at).tolist() == repeated


def test_references_of_a_topic_without_relevance_are_nobodys():
    gold = gold_of({"a": {"d": {"spans": [(0, 50)]}}, "b": {"d": {"grade": 0, "spans": [(0, 9)]}}})
    m = match(run_of({"a": [("d", 0, 11), ("d", 20, 30)]}), prepare(gold))
    assert [texts(m, at).references.tolist() for at in (None, 1)] == [[50], [50]]
    assert [texts(m, at).chunks.tolist() for at in (None, 1)] == [[21], [11]]


def test_a_name_that_is_no_peer_has_none():
    assert [peer_named(peer.name) for peer in PEERS] == list(PEERS)
    assert peer_named("inex_eval") is None
    assert peer_named(None) is None


def by_pairs(judged, results):
    """The tools' definitions, chunk by chunk and reference by reference."""
    references = [(d, s, e) for d, info in judged.items() for s, e in info["spans"]]
    shown = {(d, i) for d, s, e in results for i in range(s, e)}
    marked = {(d, i) for d, s, e in references for i in range(s, e)}
    length, total = (sum(e - s for _, s, e in spans) for spans in (results, references))
    pairs = sum(max(0, min(e, b) - max(s, a)) for d, s, e in results for other, a, b in references if d == other)
    missed = sum((d, i) not in shown for d, s, e in references for i in range(s, e))
    parts = {
        "legalbenchrag:recall": (pairs, total),
        "legalbenchrag:precision": (pairs, length),
        "chroma:recall": (len(shown & marked), total),
        "chroma:precision": (len(shown & marked), length),
        "chroma:iou": (len(shown & marked), length + missed),
    }
    return {name: part / whole if whole else 0.0 for name, (part, whole) in parts.items()}


@given(collections(), st.sampled_from([None, 1, 3]))
def test_array_code_follows_the_tools_definitions(case, at):
    gold, run = case
    cut = f"@{at}" if at else ""
    counted = [topic for topic in gold if any(info["spans"] for info in gold[topic].values())]
    known = {document for judged in gold.values() for document in judged}
    returned = {document for topic in counted for document, _, _ in run.get(topic, [])}
    if not counted or (returned and not returned & known):
        return
    for peer in PEERS:
        names = [f"{name}{cut}" for name in ("spanR", "spanP", "IoU")]
        values = evaluate(gold_of(gold), run_of(run), names, compat=peer.name).per_topic()["run"]
        for topic in counted:
            slow = by_pairs(gold[topic], run.get(topic, [])[:at])
            theirs = {name: value for name, value in values[topic].items() if name.startswith(peer.name)}
            assert theirs == pytest.approx({name: slow[name.removesuffix(cut)] for name in theirs})


def test_no_number_of_another_tool_passes_for_a_measure_of_ours():
    ours = {measure.name for measure in MEASURES}
    assert not ours & {twin.theirs.name for peer in PEERS for twin in peer.twins}


def test_a_measure_without_a_twin_is_refused_and_the_twins_are_named():
    gold, run = gold_of({"q": {"d": {"spans": [(0, 50)]}}}), run_of({"q": [("d", 0, 50)]})
    with pytest.raises(MeasureError, match="legalbenchrag has numbers of its own for spanR@k, spanP@k"):
        evaluate(gold, run, ["IoU@5", "spanR@2000c"], compat="legalbenchrag")


def test_the_command_prints_both_numbers_and_says_why_on_the_standard_error(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"topic": "q", "doc": "d", "spans": [{"start": 0, "end": 100}]}\n')
    (tmp_path / "run.jsonl").write_text(
        '{"topic": "q", "doc": "d", "start": 0, "end": 60}\n{"topic": "q", "doc": "d", "start": 40, "end": 100}\n'
    )
    files = [str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl")]
    done = CliRunner().invoke(main, ["score", *files, "--compat", "legalbenchrag", "-m", "spanR@2"])
    assert done.exit_code == 0
    assert "1.0000" in done.stdout
    assert "1.2000" in done.stdout
    assert "once for each of them" in done.stderr
