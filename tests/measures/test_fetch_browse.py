"""Fetch & browse: effort-precision inside every article."""

import numpy as np
from hypothesis import given

from focuseval.measures.fetch_browse import browse_effort_precision
from oracle import recall_base as slow_base
from oracle import xcg as slow
from strategies.element_runs import DOCUMENTS, Case, cases


@given(cases())
def test_elements_of_each_article_are_a_list_of_their_own(case):
    base = slow_base.full(case.assessments, case.quant, case.scale)
    wanted = []
    for topic in case.counted:
        scores = []
        for document in DOCUMENTS:
            here = {x: g for x, g in base.items() if x[:2] == (topic, document)}
            results = [(topic, d, p) for d, p in case.run.get(topic, []) if d == document]
            if here:
                scores.append(float(slow.maep(results, here)))
        wanted.append(np.mean(scores) if scores else np.nan)
    np.testing.assert_allclose(browse_effort_precision(case.matched(), case.quant), wanted, atol=1e-12)


def test_an_article_that_is_not_returned_scores_nothing():
    assessments = {("t1", d, "/a[1]"): (2, -1, 4, 4) for d in DOCUMENTS}
    case = Case("highlights", "spec", assessments, {"t1": [("d2", "/a[1]")]})
    np.testing.assert_array_equal(browse_effort_precision(case.matched()), [0.5])
