"""Document measures equal trec_eval's (through pytrec_eval) for every topic, ties and grades included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe

pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier (trec_eval's own code) is not installed")

NAMES = {
    "AP": "map", "RR": "recip_rank", "Rprec": "Rprec", "nDCG": "ndcg", "nDCG@5": "ndcg_cut_5", "P@5": "P_5",
    "P@10": "P_10", "R@5": "recall_5", "nDCG@10": "ndcg_cut_10",
    "AP@5": "map_cut_5", "Success@1": "success_1", "Success@5": "success_5", "MAP@10": "map_cut_10",
    "Recall@10": "recall_10",
    "Precision@5": "P_5", "NDCG@5": "ndcg_cut_5", "HitRate@10": "success_10", "MRR": "recip_rank",
}  # fmt: skip
TOPICS = st.sampled_from(["q1", "q2", "q10"])
DOCUMENTS = st.sampled_from([f"d{number}" for number in range(12)])


@given(
    qrels=st.dictionaries(TOPICS, st.dictionaries(DOCUMENTS, st.integers(-1, 3), min_size=1), min_size=1),
    run=st.dictionaries(
        TOPICS, st.dictionaries(DOCUMENTS, st.sampled_from([0.1, 0.5, 0.25, 3.0, -2.0, 1e-9, 16777217.0])), min_size=1
    ),
)
def test_a_topic_has_trec_evals_value(tmp_path_factory, qrels, run):
    if not any(grade > 0 for topic in qrels if run.get(topic) for grade in qrels[topic].values()):
        return
    folder = tmp_path_factory.mktemp("trec")
    lines = [f"{topic} 0 {document} {grade}\n" for topic in qrels for document, grade in qrels[topic].items()]
    (folder / "qrels").write_text("".join(lines))
    lines = [f"{topic} Q0 {d} 0 {score!r} tag\n" for topic in run for d, score in run[topic].items()]
    (folder / "run").write_text("".join(lines))
    documents = {d for topic in run for d in run[topic]} & {d for topic in qrels for d in qrels[topic]}
    if not documents:
        return
    # Where no grade is above 0, trec_eval's loop over grades may never end; such topics are in no mean of ours.
    judged = {topic: grades for topic, grades in qrels.items() if max(grades.values()) > 0}
    truth = pytrec_eval.RelevanceEvaluator(judged, set(NAMES.values())).evaluate({t: d for t, d in run.items() if d})
    gold = fe.read_gold(folder / "qrels", format="trec-qrels")
    scores = fe.evaluate(gold, fe.read_run(folder / "run", format="trec-run"), list(NAMES))
    found = scores.per_topic()["tag"]
    for topic, values in truth.items():
        if topic in found:
            assert found[topic] == pytest.approx({ours: values[theirs] for ours, theirs in NAMES.items()}, abs=1e-12)
