"""Topics in clusters: who belongs to whom, and what is then flipped, drawn and counted."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import focuseval as fe
from focuseval.errors import MissingDataError
from focuseval.inference import intervals
from focuseval.inference.clusters import Clusters, cluster_topics, shares_documents, standard_error
from focuseval.inference.comparison import compare
from focuseval.inference.intervals import interval
from focuseval.inference.paired import judge_pairs
from focuseval.inference.paired_tests import p_values
from focuseval.inference.sentences import shown_p
from focuseval.inference.settings import INTERVALS, TESTS, Settings
from reproductions.intervals import clustered

CODES = st.lists(st.integers(0, 5), min_size=3, max_size=24).map(lambda code: np.unique(code, return_inverse=True)[1])


def jsonl(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.fixture
def gold(tmp_path):
    """Six questions: two of each of a.md and b.md, one of both c.md and d.md, one of d.md."""
    documents = ("a.md", "a.md", "b.md", "b.md", "c.md", "d.md")
    lines = [
        {"topic": f"q{n}", "doc": doc, "relevance": 1, "group": "east" if n < 3 else "west", "tags": [f"by:{doc[0]}"]}
        for n, doc in enumerate(documents)
    ]
    lines += [{"topic": "q4", "doc": "d.md", "relevance": 2}, {"topic": "q5", "doc": "a.md", "relevance": 0}]
    return fe.read_gold(jsonl(tmp_path / "gold.jsonl", lines))


@pytest.mark.parametrize(
    ("by", "code"),
    [
        ("document", [0, 0, 1, 1, 2, 2]),
        ("group", [0, 0, 0, 1, 1, 1]),
        ("tag:by", [0, 0, 1, 1, 2, 3]),
        ({"q0": "x", "q1": "x", "q5": "x"}, [0, 0, 1, 2, 3, 0]),
    ],
)
def test_topics_are_clustered_by_relevant_documents_fields_tags_or_a_mapping(gold, by, code):
    found = cluster_topics(gold, gold.topics, by)
    assert found.code.tolist() == code
    assert found.number == max(code) + 1
    assert found.alone == (3 if isinstance(by, dict) else 0)
    assert found.take(np.array([3, 4])).code.tolist() == ([0, 0] if by == "group" else [0, 1])


def test_a_field_that_no_topic_has_is_refused_with_those_that_there_are(gold):
    with pytest.raises(MissingDataError, match=r"has a cluster by 'site'; there are document, group, and tag:NAME"):
        cluster_topics(gold, gold.topics, "site")


def test_documents_are_shared_where_most_relevant_ones_answer_several_topics(gold, tmp_path):
    assert shares_documents(gold)
    pooled = [{"topic": t, "doc": f"{t}{d}", "relevance": 1} for t in "xyz" for d in range(5)]
    pooled += [{"topic": t, "doc": "same", "relevance": 1} for t in "xyz"]
    assert not shares_documents(fe.read_gold(jsonl(tmp_path / "pooled.jsonl", pooled)))


@settings(max_examples=60, deadline=None)
@given(CODES, st.integers(0, 99))
def test_the_standard_error_is_that_of_the_definition(code, seed):
    """CR2 of Bell and McCaffrey (2002), from matrices, with Satterthwaite's degrees of freedom as Imbens and Kolesár
    (2016) have them: for topics that are as alike within a cluster as an analysis of variance says.
    """
    values = np.random.default_rng(seed).normal(0, 1, len(code))
    n, groups = len(code), [np.flatnonzero(code == g) for g in range(code.max() + 1)]
    mean, error, freedom = standard_error(values[None], Clusters("document", code))
    if len(groups) < 2:
        assert (error[0], freedom[0]) == (0, 0)
        return
    residual = np.eye(n) - np.full((n, n), 1 / n)
    columns, square = [], 0.0
    for own in groups:
        values_of, vectors = np.linalg.eigh(residual[np.ix_(own, own)])
        root = vectors @ np.diag(values_of**-0.5) @ vectors.T
        part = residual[own].T @ root @ np.ones(len(own)) / n
        columns.append(part)
        square += float(part @ values) ** 2
    centre, alike = values.mean(), 0.0
    if len(groups) < n:
        between = sum(len(own) * (values[own].mean() - centre) ** 2 for own in groups) / (len(groups) - 1)
        inside = sum(float(((values[own] - values[own].mean()) ** 2).sum()) for own in groups) / (n - len(groups))
        usual = (n - sum(len(own) ** 2 for own in groups) / n) / (len(groups) - 1)
        alike = min(1.0, max(0.0, (between - inside) / (between + (usual - 1) * inside)))
    covariance = np.where(code[:, None] == code, alike, 0.0) + (1 - alike) * np.eye(n)
    eigen = np.linalg.eigvalsh(np.array(columns) @ covariance @ np.array(columns).T)
    assert mean[0] == pytest.approx(values.mean())
    assert error[0] == pytest.approx(np.sqrt(square))
    assert freedom[0] == pytest.approx(eigen.sum() ** 2 / (eigen**2).sum(), rel=1e-6)


def test_degrees_of_freedom_are_of_each_row_and_have_no_unit():
    """Topics that agree everywhere, or only within their clusters, are no exception."""
    code = np.array([0, 0, 0, 0, 1, 1, 2, 3])
    clusters, alike = Clusters("document", code), np.array([0.2, 0.5, 0.1, 0.9])[code]
    rows = np.stack([np.random.default_rng(4).normal(5, 1, 8), alike, np.full(8, 0.25)])
    together = standard_error(rows, clusters)[2]
    assert together.tolist() == [standard_error(row[None], clusters)[2][0] for row in rows]
    assert standard_error(rows / 1000, clusters)[2] == pytest.approx(together)
    assert together[1] < together[2]
    assert np.isfinite(together).all()


@settings(max_examples=40, deadline=None)
@given(CODES, st.integers(0, 99))
def test_signs_flip_by_cluster(code, seed):
    values = np.random.default_rng(seed).integers(-2, 3, len(code)) / 2
    sums = np.array([values[code == g].sum() for g in range(code.max() + 1)])
    flips = [abs(float(np.dot(signs, sums))) >= abs(sums.sum()) - 1e-9 for signs in product((-1, 1), repeat=len(sums))]
    p = p_values(values[None], Settings(), clusters=Clusters("document", code))
    assert p[0] == pytest.approx(np.mean(flips))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("how", INTERVALS)
def test_clusters_of_one_topic_each_change_nothing(test, how):
    rows, rule = np.random.default_rng(1).normal(0.2, 1, (3, 12)), Settings(test, resamples=500, interval=how)
    alone, topics = judge_pairs(rows, rule, clusters=Clusters("document", np.arange(12))), judge_pairs(rows, rule)
    for name in ("p", "low", "high", "needed", "detectable", "units"):
        assert getattr(alone, name) == pytest.approx(getattr(topics, name)), name


def test_a_cluster_copied_within_itself_counts_once():
    """Ten copies of each question say no more than one: cluster by cluster the interval and p stay as they were."""
    rows, rule = np.random.default_rng(2).normal(0.3, 1, (2, 15)), Settings("t")
    once, copied = judge_pairs(rows, rule), Clusters("document", np.repeat(np.arange(15), 10))
    found = judge_pairs(np.repeat(rows, 10, axis=1), rule, clusters=copied)
    assert found.p == pytest.approx(once.p)
    assert (found.low, found.high) == (pytest.approx(once.low), pytest.approx(once.high))
    assert found.needed.tolist() == once.needed.tolist()


def test_one_cluster_says_nothing_about_others_and_few_of_them_cannot():
    rows, rule = np.full((1, 12), 0.5), Settings()
    one = judge_pairs(rows, rule, clusters=Clusters("document", np.zeros(12, np.int64)))
    assert (one.p[0], one.verdict(0)) == (1.0, "cannot tell: 1 cluster differs, no outcome could be significant")
    few = judge_pairs(rows, rule, clusters=Clusters("document", np.arange(12) % 4))
    assert few.verdict(0) == "cannot tell: 4 clusters differ, no outcome could be significant"


def test_stars_and_intervals_of_questions_that_share_documents_hold_their_level():
    """20 documents with 10 questions each, ICC .3: by question a third of the stars are false."""
    rows, documents = clustered([10] * 20, 1000, 3)
    for rule in (Settings(resamples=1000), Settings("t")):
        assert 0.04 <= (p_values(rows, rule, 1, clusters=documents) <= 0.05).mean() <= 0.06
        assert (p_values(rows, rule, 1) <= 0.05).mean() > 0.25
    low, high = interval(rows, Settings(), documents)
    assert 0.93 <= ((low <= 0) & (high >= 0)).mean() <= 0.97


def test_a_comparison_remarks_on_shared_documents_with_both_ps():
    rng = np.random.default_rng(4)
    values = np.array([rng.random(60), rng.random(60) - np.repeat(rng.normal(0.15, 0.3, 12), 5)])
    shared = Clusters("document", np.repeat(np.arange(12), 5))
    topics = tuple(map(str, range(60)))
    plain = compare("AP", ("a", "b"), topics, values, shared=shared)
    by = compare("AP", ("a", "b"), topics, values, clusters=shared)
    assert plain.by_document.p.tolist() == by.p.tolist()
    said = "The 60 topics share documents, but the test takes them as independent. Judged in 12 clusters by document, p"
    assert (
        plain.remarks()[0]
        == f"{said} would be {shown_p(by.p[0], by.settings)} in place of {shown_p(plain.p[0], by.settings)}."
    )
    assert by.by_document is None
    assert by.method.endswith("Holm over 1 pair, in 12 clusters by document")
    assert "clusters needed" in str(by)
    assert "the smallest difference that these clusters show" in by.notes()[2]
    assert "; clusters needed: " in by.notes()[2]
    assert "; topics needed: " in plain.notes()[2]
    assert "to show this one takes about" in by.conclusion().reason


def test_of_several_pairs_the_one_whose_p_grows_most_by_document_is_named():
    rng = np.random.default_rng(5)
    flat, steady = rng.random(60) / 10, np.repeat(rng.normal(0.3, 0.4, 12), 5)
    shared, topics = Clusters("document", np.repeat(np.arange(12), 5)), tuple(map(str, range(60)))
    found = compare("AP", ("a", "b", "c"), topics, np.array([flat, flat + 0.01, flat + steady]), shared=shared)
    grows = found.by_document.p - found.p
    k = max(range(3), key=lambda pair: grows[pair])
    both = (shown_p(one.p[k], found.settings) for one in (found.by_document, found))
    names = f"{found.runs[found.better[k]]} against {found.runs[found.worse[k]]}"
    assert grows[k] > 0
    changes = f"; the largest change is p = {' in place of '.join(both)} ({names})."
    told, own = int(found.by_document.significant.sum()), int(found.significant.sum())
    now = ", as now" if told == own else f" in place of {own}"
    assert found.remarks()[0].endswith(f"{told} of 3 pairs would differ significantly{now}{changes}")


@pytest.mark.parametrize("how", INTERVALS)
def test_intervals_by_cluster_hold_the_weighted_mean(how):
    rows, documents = clustered([2, 4, 6, 10, 40], 20, 1)
    low, high = interval(rows + 1, Settings(resamples=1000, interval=how), documents)
    assert ((low < rows.mean(axis=1) + 1) & (rows.mean(axis=1) + 1 < high)).all()


def test_only_the_topics_that_are_asked_for_link_documents(gold):
    """q4, which shares d.md with q5, is not asked for: q5 is alone, and topics elsewhere are no link."""
    found = cluster_topics(gold, ("q5", "q3", "q0", "q2"), "document")
    assert (found.by, found.code.tolist(), found.code.dtype) == ("document", [0, 1, 2, 1], np.int64)
    assert cluster_topics(gold, ("q1", "elsewhere", "q0"), "document").code.tolist() == [0, 1, 0]
    assert cluster_topics(gold, ("q4", "q5"), "document").code.tolist() == [0, 0]


def test_tags_and_fields_of_topics_that_have_others_or_none(tmp_path):
    tags = {
        "q0": ["lang:en", "site=a"],
        "q1": ["site=a", "x"],
        "q2": ["site=b"],
        "q3": [],
        "q4": None,
        "q5": ["Xsite=a"],
    }
    lines = [{"topic": t, "doc": t, "relevance": 1} | ({} if own is None else {"tags": own}) for t, own in tags.items()]
    lines[1] |= {"group": "east"}
    gold = fe.read_gold(jsonl(tmp_path / "gold.jsonl", lines))
    by = cluster_topics(gold, (*gold.topics, "other"), "tag:site")
    assert (by.code.tolist(), by.alone, by.by) == ([0, 0, 1, 2, 3, 4, 5], 4, "tag:site")
    assert cluster_topics(gold, (*gold.topics, "other"), "group").alone == 6
    assert cluster_topics(gold, ("q0", "q1"), {"q0": "one"}).by == "mapping"


def test_a_gold_in_memory_is_called_the_gold(gold):
    with pytest.raises(MissingDataError, match="no topic of the gold has a cluster by 'site'"):
        cluster_topics(replace(gold, file=""), gold.topics, "site")


def test_half_of_the_judgements_on_shared_documents_are_not_most(tmp_path):
    shared = [{"topic": t, "doc": "same", "relevance": 1} for t in "ab"]
    alone = [{"topic": t, "doc": f"{t}1", "relevance": 1} for t in "ab"]
    wrong = [{"topic": t, "doc": "other", "relevance": 0} for t in "ab"]
    assert not shares_documents(fe.read_gold(jsonl(tmp_path / "half.jsonl", shared + alone + wrong)))
    assert shares_documents(fe.read_gold(jsonl(tmp_path / "most.jsonl", shared + alone[1:] + wrong)))


def test_bca_draws_clusters_and_divides_by_the_topics_drawn(monkeypatch):
    """Two clusters whose topics agree: every resample is one of three means, whatever the sizes."""
    clusters, rows = Clusters("d", np.array([0, 0, 0, 1])), np.array([[1.0, 1.0, 1.0, 5.0], [2.0, 2.0, 2.0, 8.0]])
    settings_ = Settings(resamples=1000, interval="bca")
    low, high = interval(rows, settings_, clusters)
    assert (low.tolist(), high.tolist()) == ([1.0, 2.0], [5.0, 8.0])
    assert np.array(interval(rows, settings_, clusters, (1.5, 4.0))).tolist() == [[1.5, 2.0], [4.0, 4.0]]
    uneven, many = clustered([1, 2, 3, 10, 4, 6], 5, 2)
    whole = np.array(interval(uneven, settings_, many))
    assert whole != pytest.approx(np.array(interval(uneven, settings_)))
    assert np.array(interval(uneven + 3, settings_, many)) == pytest.approx(whole + 3)  # a shift moves both ends
    monkeypatch.setattr(intervals, "_CELLS", 2000)  # two rows at once: the same draws, the same clusters
    assert np.array(interval(uneven, settings_, many)) == pytest.approx(whole)
