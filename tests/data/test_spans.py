"""Spans as arrays equal spans as sets of characters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.spans import crowded, fragments, overlapping, union, unseen

LENGTH = 20
GROUPS = 3


@st.composite
def rows(draw, most=12):
    """(group, start, end) with start ≤ end: empty, touching, nested and repeated spans included."""
    edges = st.integers(0, LENGTH)
    found = draw(st.lists(st.tuples(st.integers(0, GROUPS - 1), edges, edges), max_size=most))
    return [(group, min(a, b), max(a, b)) for group, a, b in found]


def columns(found):
    return tuple(np.array([row[i] for row in found], np.int64) for i in range(3))


def characters(found):
    return {(group, i) for group, start, end in found for i in range(start, end)}


@given(rows())
def test_the_union_holds_the_same_characters_in_disjoint_spans(found):
    merged = union(*columns(found))
    spans = list(zip(merged.group.tolist(), merged.start.tolist(), merged.end.tolist(), strict=True))
    assert characters(spans) == characters(found)
    assert sum(end - start for _, start, end in spans) == len(characters(found))
    assert spans == sorted(spans)
    assert [found[row][:2] for row in merged.source] == [span[:2] for span in spans]
    assert merged.total(GROUPS).tolist() == [sum(g == group for g, _ in characters(found)) for group in range(GROUPS)]


@given(rows(), rows())
def test_covered_counts_the_shared_characters_of_each_span(found, asked):
    covered = union(*columns(found)).covered(*columns(asked))
    assert covered.tolist() == [len(characters(found) & characters([row])) for row in asked]


@given(rows(), rows())
def test_unseen_counts_what_no_earlier_span_covers(found, inside):
    seen, new, new_inside = set(), [], []
    for row in found:
        text = characters([row]) - seen
        new.append(len(text))
        new_inside.append(len(text & characters(inside)))
        seen |= text
    assert unseen(*columns(found)).tolist() == new
    assert unseen(*columns(found), within=union(*columns(inside))).tolist() == new_inside


@given(rows())
def test_crowded_spans_are_in_a_chain_of_overlaps_and_the_others_overlap_nothing(found):
    busy = set(crowded(*columns(found)).tolist())
    for i, row in enumerate(found):
        shares = any(characters([row]) & characters([other]) for j, other in enumerate(found) if i != j)
        assert shares == (i in busy)


def test_sparse_groups_are_handled_like_dense_ones():
    assert unseen([2**30, 7, 2**30], [0, 0, 3], [5, 5, 9]).tolist() == [5, 5, 4]


@given(rows(), rows())
def test_overlapping_pairs_are_those_that_share_a_character(some, others):
    i, j = overlapping(columns(some), columns(others))
    shared = {(a, b) for a, x in enumerate(some) for b, y in enumerate(others) if characters([x]) & characters([y])}
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == sorted(shared)


@given(rows(), rows(), st.lists(st.integers(0, LENGTH), min_size=GROUPS, max_size=GROUPS))
def test_fragments_cut_texts_into_pieces_that_are_wholly_in_or_out(some, others, lengths):
    *spans, inside_of = fragments(np.array(lengths), union(*columns(some)), union(*columns(others)))
    texts = {(group, i) for group, length in enumerate(lengths) for i in range(length)}
    parts = list(zip(*(column.tolist() for column in spans), strict=True))
    assert characters(parts) == texts
    for flags, given_spans in zip(inside_of, (some, others), strict=True):
        inside = [part for part, flag in zip(parts, flags.tolist(), strict=True) if flag]
        assert characters(inside) == characters(given_spans) & texts
