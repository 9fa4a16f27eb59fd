"""Fetch & browse: effort-precision inside every article."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from focuseval.measures.generalised import generalised_precision
from focuseval.measures.xcg import browse, browse_effort_precision
from oracle import recall_base as slow_base
from oracle import xcg as slow
from strategies.element_runs import DOCUMENTS, Case, cases

LINKS = ("link",)


@given(cases(), st.sampled_from(["full", "filtered"]), st.sampled_from(["rank", "line"]))
def test_elements_of_each_article_are_a_list_of_their_own(case, kind, ideal):
    base = slow_base.full(case.assessments, case.quant, case.scale)
    base = base if kind == "full" else slow_base.filtered(base, LINKS)
    wanted = []
    for topic in case.counted:
        scores = []
        for document in DOCUMENTS:
            here = {x: g for x, g in base.items() if x[:2] == (topic, document)}
            results = [(topic, d, p) for d, p in case.run.get(topic, []) if d == document]
            if here:
                scores.append(float(slow.maep(results, here, ideal == "line")))
        wanted.append(np.mean(scores) if scores else np.nan)
    values = browse_effort_precision(case.matched(filtered_tags=LINKS), case.quant, kind, ideal)
    np.testing.assert_allclose(values, wanted, atol=1e-12)


def test_an_article_that_is_not_returned_scores_nothing():
    assessments = {("t1", d, "/a[1]"): (2, -1, 4, 4) for d in DOCUMENTS}
    case = Case("highlights", "spec", assessments, {"t1": [("d2", "/a[1]")]})
    np.testing.assert_array_equal(browse_effort_precision(case.matched()), [0.5])


def test_every_judged_article_takes_the_place_of_a_topic():
    # rows of the gold's articles: d1 for t1, t2, t3, then d2 for t1, t2, t3
    assessments = {("t1", d, path): (2, -1, 4, 4) for d in DOCUMENTS for path in ("/a[1]", "/a[1]/b[1]")}
    run = [("d2", "/a[1]"), ("unjudged", "/a[1]"), ("d1", "/a[1]/b[1]"), ("d1", "/z[1]")]
    m = Case("highlights", "spec", assessments, {"t1": run}).matched()
    apart = browse(m)
    assert apart.base.topic_of_article.tolist() == list(range(6))
    assert apart.bounds.tolist() == [0, 2, 2, 2, 3, 3, 3]
    assert apart.article.tolist() == [0, 0, 3]
    assert apart.code.tolist() == m.path_codes[[2, 3, 0]].tolist()


def test_effort_precision_may_be_the_score_of_an_article():
    # two elements of gain 1, one of them returned second: (1/2) / 2; the unjudged article scores nothing
    assessments = {("t1", "d1", f"/a[1]/b[{i}]"): (2, -1, 4, 4) for i in (1, 2)}
    run = [("d1", "/z[1]"), ("d1", "/a[1]/b[1]"), ("unjudged", "/a[1]")]
    m = Case("highlights", "spec", assessments, {"t1": run}).matched()
    np.testing.assert_allclose(generalised_precision(m, at=2, beta=1, score="ep", irr=1, n=1), [0.25 / 2])


def test_the_ideal_list_of_an_article_may_be_read_off_a_line():
    # gains 1 and 1/2; the second is returned first: the ideal list has as much at rank 1, or half-way to it
    assessments = {("t1", "d1", "/a[1]/b[1]"): (2, -1, 4, 4), ("t1", "d1", "/a[1]/b[2]"): (2, -1, 4, 2)}
    m = Case("highlights", "spec", assessments, {"t1": [("d1", "/a[1]/b[2]")]}).matched()
    np.testing.assert_allclose(browse_effort_precision(m), [1 / 2])
    np.testing.assert_allclose(browse_effort_precision(m, ideal="line"), [0.5 / 2])
