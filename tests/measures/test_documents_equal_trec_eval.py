"""Document measures equal trec_eval's (through pytrec_eval) for every topic, ties and grades included."""

from math import exp

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
    "Bpref": "bpref", "infAP": "infAP", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "SetAP": "set_map",
    **{f"IPrec@0.{tenth}": f"iprec_at_recall_0.{tenth}0" for tenth in range(10)}, "IPrec@1": "iprec_at_recall_1.00",
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
    gold, ours = fe.read_gold(folder / "qrels", format="trec-qrels"), fe.read_run(folder / "run", format="trec-run")
    answered = {t: d for t, d in run.items() if d}
    for rel in (1, 2):
        names = {with_rel(name, rel): theirs for name, theirs in NAMES.items() if rel == 1 or "DCG" not in name.upper()}
        asked = {*names.values(), "gm_map"}
        truth = pytrec_eval.RelevanceEvaluator(judged, asked, relevance_level=rel).evaluate(answered)
        truth = {topic: values for topic, values in truth.items() if max(qrels[topic].values()) >= rel}
        scores = fe.evaluate(gold, ours, [*names, with_rel("GMAP", rel)], missing="skip")
        found = scores.per_topic()["tag"]
        for topic, values in truth.items():
            mine = {name: value for name, value in found[topic].items() if name in names}
            assert mine == pytest.approx({name: values[theirs] for name, theirs in names.items()}, abs=1e-12)
        if truth:
            mean = exp(sum(values["gm_map"] for values in truth.values()) / len(truth))
            assert scores.means()["tag"][with_rel("GMAP", rel)] == pytest.approx(mean)


def with_rel(name, rel):
    """A measure with the least grade of a relevant document: P(rel=2)@5."""
    head, at, cutoff = name.partition("@")
    return f"{head}(rel={rel}){at}{cutoff}" if rel > 1 else name
