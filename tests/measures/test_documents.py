"""Measures of documents: array code equals the definitions, and worked examples come out as they are printed."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import MeasureError
from oracle import documents as slow

DOCUMENTS = [f"d{number}" for number in range(9)]
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1)
RANKING = st.lists(st.sampled_from([*DOCUMENTS, "u1", "u2"]), unique=True)


def scored(qrels, run, names, **policies):
    gold = gold_of({t: {d: {"grade": g} for d, g in own.items()} for t, own in qrels.items()}, scale="trec")
    return fe.evaluate(gold, run_of(run), list(names), **policies)


@given(st.lists(st.tuples(GRADES, RANKING), min_size=1, max_size=4))
def test_every_measure_equals_its_definition_on_every_topic(topics):
    qrels = {f"q{n}": grades for n, (grades, _) in enumerate(topics)}
    run = {f"q{n}": ranking for n, (_, ranking) in enumerate(topics)}
    definitions = {
        "RBP(p=0.5)": lambda g, r: slow.rbp(g, r, Fraction(1, 2)),
        "RBP(rel=2, p=0.8)@3": lambda g, r: slow.rbp(g, r[:3], Fraction(4, 5), 2),
        "ERR@3": lambda g, r: slow.err(g, r, 3),
        "ERR(max_rel=3)": lambda g, r: slow.err(g, r, None, 3),
        "Judged@4": lambda g, r: slow.judged_share(g, r, 4),
        "Judged": lambda g, r: slow.judged_share(g, r, None),
        "SetF(beta=2)": lambda g, r: slow.set_values(g, r, beta=2)[1],
    }
    for rel in (1, 2):
        definitions |= {
            f"AP(rel={rel})": lambda g, r, rel=rel: slow.average_precision(g, r, rel),
            f"GMAP(rel={rel})": lambda g, r, rel=rel: slow.average_precision(g, r, rel),
            f"Bpref(rel={rel})": lambda g, r, rel=rel: slow.bpref(g, r, rel),
            f"infAP(rel={rel})": lambda g, r, rel=rel: slow.inferred_ap(g, r, rel),
            f"SetP(rel={rel})": lambda g, r, rel=rel: slow.set_values(g, r, rel)[0],
            f"SetF(rel={rel})": lambda g, r, rel=rel: slow.set_values(g, r, rel)[1],
            f"SetAP(rel={rel})": lambda g, r, rel=rel: slow.set_values(g, r, rel)[2],
        }
        for level in (0.0, 0.1, 0.25, 0.5, 0.7, 1.0):
            for rule in ("trec_eval9", "trec_eval10"):
                name = f"IPrec(rel={rel}, rule={rule})@{level}"
                definitions[name] = lambda g, r, x=level, rel=rel, rule=rule: slow.interpolated(g, r, x, rel, rule)
    if not any(slow.relevant(grades, 1) for grades in qrels.values()):
        return
    if run and not {d for r in run.values() for d in r} & {d for g in qrels.values() for d in g}:
        return
    found = scored(qrels, run, definitions).per_topic()["run"]
    for topic, grades in qrels.items():
        wanted = {name: value for name, value in definitions.items() if slow.relevant(grades, 1 + ("rel=2" in name))}
        if slow.relevant(grades, 1):
            assert found[topic] == pytest.approx(
                {n: float(v(grades, run[topic])) for n, v in wanted.items()}, abs=1e-12
            )


@pytest.mark.parametrize(
    ("grades", "ranking", "name", "value"),
    [
        ({"a": 1, "b": 1, "n": 0}, "anb", "Bpref", 0.5),
        ({"a": 1, "b": 1, "p": -1}, "apb", "infAP", 1),
        ({"a": 1, "b": 1}, "xab", "IPrec@0.5", 2 / 3),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "abuvwxyz", "SetP", 0.25),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "abuvwxyz", "SetF", 1 / 3),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "abuvwxyz", "SetAP", 0.125),
        ({"a": 1, "b": 1}, "axb", "RBP(p=0.8)", 0.328),
        ({"a": 1, "b": 2}, "ab", "ERR@2", 1 / 16 + 3 / 16 * 15 / 16 / 2),
        ({"a": 1, "b": 0, "c": -1}, "axbyc", "Judged@5", 0.6),
        ({"a": 1, "b": 0, "c": -1}, "abc", "Judged@5", 1),
        ({"a": 1, "b": 2}, "ab", "AP(rel=2)", 0.5),
        ({"a": 1, "b": 2}, "ab", "P(rel=2)@2", 0.5),
        ({"a": 1, "b": 2}, "ab", "R(rel=2)@1", 0),
        ({"a": 1, "b": 2}, "ab", "RR(rel=2)", 0.5),
        ({"a": 1, "b": 2}, "ab", "Rprec(rel=2)", 0),
        ({"a": 1, "b": 2}, "ab", "Success(rel=2)@2", 1),
    ],
)
def test_a_worked_example(grades, ranking, name, value):
    assert scored({"q": grades}, {"q": [*ranking]}, [name]).means()["run"][name] == pytest.approx(value, abs=1e-5)


def test_a_topic_without_a_document_of_the_grade_is_left_out_of_that_mean_alone():
    scores = scored({"q1": {"a": 2}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["a"]}, ["AP", "AP(rel=2)"])
    assert scores.means()["run"] == {"AP": 1, "AP(rel=2)": 1}
    assert scores.excluded(0) == {"AP": 0, "AP(rel=2)": 1}


def test_what_means_nothing_is_refused():
    with pytest.raises(MeasureError, match=r"^RBP\(p=1\): expected a probability below 1$"):
        scored({"q": {"a": 1}}, {"q": ["a"]}, ["RBP(p=1)"])
    with pytest.raises(MeasureError, match=r"^ERR\(max_rel=4\): the gold has a grade of 5; write max_rel=5$"):
        scored({"q": {"a": 5}}, {"q": ["a"]}, ["ERR@5"])
    with pytest.raises(MeasureError, match=r"^AP\(rel=0\): expected 1 or more$"):
        fe.parse("AP(rel=0)")
    assert scored({"q": {"a": 5}}, {"q": ["a"]}, ["ERR(max_rel=9999)"]).means()["run"] == {"ERR(max_rel=9999)": 0}


QRELS = {
    "1": {"a": 2, "b": 0, "c": 1, "d": 4, "e": -1, "f": 0, "g": 3},
    "2": {"a": 1, "h": 1, "i": 0, "j": 2},
    "3": {"b": 0, "k": 1},
    "4": {"a": 0, "b": 0},
    "5": {"c": 0},
    "6": {"d": 1},
}
RUN = {"1": [*"fauecbdv"], "2": [*"ixja"], "3": [*"by"], "4": [*"az"]}
PRINTED = {
    # trec_eval 10.0-rc3 (commit f425365), means with -c and with -c -l2; topics 4 and 5 have no relevant document
    "map": (0.1017, 0.0992),
    "gm_map": (0.0003, 0.0003),
    "Rprec": (0.0972, 0.0556),
    "bpref": (0.0417, 0.0370),
    "recip_rank": (0.1389, 0.1389),
    "iprec_at_recall_0.10": (0.1667, 0.1389),
    "iprec_at_recall_0.50": (0.1548, 0.1032),
    "P_5": (0.1333, 0.0667),
    "recall_5": (0.1944, 0.2222),
    "infAP": (0.1088, 0.1012),
    "ndcg_cut_5": (0.1137, 0.1137),
    "map_cut_3": (0.0394, 0.0833),
    "success_1": (0, 0),
    "set_P": (0.1458, 0.0833),
    "set_recall": (0.2361, 0.2778),
    "set_map": (0.1024, 0.0694),
    "set_F": (0.1786, 0.1273),
}


@pytest.mark.parametrize("rel", [1, 2])
def test_means_are_those_that_trec_eval_prints_where_topics_without_relevance_score_zero(rel):
    names = {}
    for theirs in PRINTED:
        asked = fe.parse(theirs)
        given = [*(["rule=trec_eval10"] if "iprec" in theirs else []), *(["rel=2"] if rel == 2 else [])]
        inside = f"({', '.join(given)})" if given and asked.measure.name != "nDCG" else ""
        names[theirs] = f"{asked.measure.name}{inside}{f'@{asked.at}' if asked.at else ''}"
    means = scored(QRELS, RUN, names.values(), empty_topics="zero").means()["run"]
    assert {theirs: round(means[ours], 4) for theirs, ours in names.items()} == {
        theirs: values[rel - 1] for theirs, values in PRINTED.items()
    }


def test_without_c_trec_eval_averages_over_answered_topics():
    # the same tool, over the qrels of topics 1 to 4
    wanted = {"map": 0.1525, "gm_map": 0.0017, "bpref": 0.0625, "P_5": 0.2, "infAP": 0.1632, "set_F": 0.2679}
    scores = scored(QRELS, RUN, wanted, empty_topics="zero", missing="skip")
    assert {name: round(value, 4) for name, value in scores.means()["run"].items()} == wanted
    assert scores.counts[0].topics == 4


IR_MEASURES = {
    # ir_measures 0.4.3: RBP by cwl-eval 1.0.12, ERR by gdeval (which prints five decimals), Judged by itself
    "1": (0.29434879999999997, 0.2578125, 0.09375, 0.20592, 0.8, 2 / 3, 0.75),
    "2": (0.23039999999999997, 0.125, 0.0625, 0.0752, 0.75, 2 / 3, 0.75),
    "3": (0, None, 0, 0, 0.5, 0.5, 0.5),
}


def test_what_trec_eval_does_not_have_equals_ir_measures():
    names = ["RBP(p=0.8)", "RBP(rel=2, p=0.5)", "ERR@3", "ERR@10", "Judged@5", "Judged@3", "Judged@20"]
    found = scored(QRELS, RUN, names).per_topic()["run"]
    for topic, wanted in IR_MEASURES.items():
        known = {name: value for name, value in zip(names, wanted, strict=True) if value is not None}
        assert found[topic] == pytest.approx(known, abs=5e-6)
