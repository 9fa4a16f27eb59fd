"""What several finished: equal to a slow version that compares two people at a time, and kept up to date by the log."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.assessment.adjudication import SharedDocuments, decide, stale_decisions
from focuseval.assessment.agreement import agreements, alpha, alpha_of, finished
from focuseval.assessment.rules import Judgement
from focuseval.assessment.store import Key, Saved, Store
from focuseval.collection.rendering import Document, Element
from focuseval.data import highlights as spans
from focuseval.errors import AssessError
from oracle.agreement import cohen_kappa, correlation, krippendorff_alpha, overlap
from strategies.assessing import PAGE, mark, save
from strategies.pages import extents_of

LENGTH = 60
ELEMENTS = ((0, 60), (0, 30), (30, 60), (30, 30), (5, 12), (12, 30), (31, 59))
DOCUMENT = Document("d", "x" * LENGTH, tuple(Element(f"/a[{k}]", "a", *one, -1) for k, one in enumerate(ELEMENTS)))
TEXTS = (DOCUMENT.sha256, "another text")
NAMES = ("ann", "bob", "cy", "dee")

highlights = st.lists(st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 30)), max_size=3).map(
    lambda found: spans.merge((start, min(start + size, LENGTH)) for start, size in found)
)
judgements = st.builds(
    lambda marked, bep: Judgement(marked, bep if marked else None, "relevant" if marked else "not relevant"),
    highlights,
    st.none() | st.integers(0, LENGTH - 1),
)


@st.composite
def campaigns(draw):
    found = {}
    for name in NAMES:
        for topic, document in draw(st.sets(st.tuples(st.sampled_from("12"), st.sampled_from("abc")))):
            text = draw(st.sampled_from((*TEXTS[:1] * 3, *TEXTS)))
            saved = Saved(Key(name, topic, document), 1, draw(judgements), text, LENGTH, "2026")
            found.setdefault(name, {})[topic, document] = saved
    return found


def slowly(found, left, right):
    """Compare two people element by element, with the functions that take values and not sums."""
    shared = sorted(found[left].keys() & found[right].keys())
    pairs = [(found[left][unit], found[right][unit]) for unit in shared]
    pairs = [(a, b) for a, b in pairs if a.text_sha256 == b.text_sha256]
    judged = [(a.judgement, b.judgement) for a, b in pairs]
    labels = [[float(bool(pair[side].highlights)) for pair in judged] for side in (0, 1)]
    sets = [[{k for a, b in pair[side].highlights for k in range(a, b)} for pair in judged] for side in (0, 1)]
    jaccard, f = overlap([len(a & b) for a, b in zip(*sets, strict=True)], *([len(one) for one in s] for s in sets))
    specificity = [[], []]
    for side in (0, 1):
        for pair, marked in zip(pairs, sets[side], strict=True):
            known = ELEMENTS if pair[0].text_sha256 == DOCUMENT.sha256 else ()
            specificity[side] += [len(marked & set(range(a, b))) / (b - a) for a, b in known if a < b]
    distances = [abs(a.entry_point - b.entry_point) for a, b in judged if a.highlights and b.highlights]
    return {
        "documents": len(judged),
        "kappa": cohen_kappa(*labels),
        "jaccard": jaccard,
        "f": f,
        "elements": len(specificity[0]),
        "specificity": correlation(*specificity),
        "entry_points": len(distances),
        "distance": float(np.median(distances)) if distances else math.nan,
        "relevant": (sum(labels[0]), sum(labels[1])),
        "highlighted": tuple(sum(map(len, one)) for one in sets),
    }


@given(campaigns())
def test_agreement_equals_that_of_two_people_at_a_time(found):
    every = agreements(found, lambda _: extents_of(DOCUMENT))
    together = [pair for pair in combinations(found, 2) if found[pair[0]].keys() & found[pair[1]].keys()]
    assert [(one.left, one.right) for one in every] == together
    for one in every:
        wanted = slowly(found, one.left, one.right)
        for name, value in wanted.items():
            assert getattr(one, name) == pytest.approx(value, nan_ok=True, abs=1e-9), name


@given(campaigns())
def test_alpha_equals_that_of_a_table_of_everybody(found):
    units = sorted({unit for judged in found.values() for unit in judged})
    table = [
        [float(bool(judged[unit].judgement.highlights)) if unit in judged else math.nan for unit in units]
        for judged in found.values()
    ]
    wanted = krippendorff_alpha(table) if units else math.nan
    assert alpha(found) == pytest.approx(wanted, nan_ok=True)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(NAMES[:3]),
        st.sampled_from("abc"),
        st.sampled_from(("mark", "finish", "note", "decide", "look")),
        st.integers(0, 40),
    ),
    max_size=25,
)


def step(store, name, document, kind, at):
    key, page = Key(name, "1", document), Document(document, PAGE.text, PAGE.elements)
    if kind == "mark":
        save(store, mark(at, at + 6), key=key, page=page)
    elif kind == "finish":
        save(store, {"kind": "finish", "relevant": bool(store.judgement(key).judgement.highlights)}, key=key, page=page)
    elif kind == "note":
        save(store, {"kind": "note", "text": f"at {at}"}, key=key, page=page)
    elif kind == "decide" and store.judgement(key).judgement.finished:
        version = store.judgement(Key("adjudicated", *key[1:])).version
        decide(store, page, "1", "one", [name], version=version, token=f"t-{version}-{document}", actor="lea")


@given(STEPS)
def test_what_is_kept_in_memory_is_what_the_log_says(tmp_path_factory, steps):
    store = Store(tmp_path_factory.mktemp("shared") / "assess.db")
    shared = SharedDocuments(store, lambda _: extents_of(PAGE))
    for name, document, kind, at in steps:
        step(store, name, document, kind, at)
        if kind == "look":
            shared.documents()
    fresh, kept = SharedDocuments(store, lambda _: extents_of(PAGE)), shared.documents()
    assert [one[:-1] for one in kept] == [one[:-1] for one in fresh.documents()]
    found = finished(store)
    assert alpha_of(one.verdicts for one in kept) == pytest.approx(alpha(found), nan_ok=True)
    wanted = agreements(found, lambda _: extents_of(PAGE))
    assert [str(one) for one in shared.agreements()] == [str(one) for one in wanted]
    several = {(one.topic, one.document): one.stale for one in kept if one.stale}
    assert several.items() <= stale_decisions(store).items()
    store.close()


def test_a_document_that_is_gone_from_the_collection_is_compared_without_its_elements(store):
    for name in NAMES[:2]:
        for kind in ("mark", "finish"):
            step(store, name, "a", kind, 3)

    def gone(name):
        raise AssessError(f"the collection has no document {name!r}")

    (pair,) = SharedDocuments(store, gone).agreements()
    assert (pair.documents, pair.jaccard, pair.elements) == (1, 1.0, 0)
    assert math.isnan(pair.specificity)


def test_the_history_of_one_document_is_found_without_reading_the_whole_log(store):
    for number in range(300):
        key = Key("ann", "1", f"d{number}")
        save(store, mark(0, 6), key=key, page=Document(f"d{number}", PAGE.text, PAGE.elements))
    steps = []
    store.database.read().set_progress_handler(lambda: steps.append(1), 10)
    store.sources(Key("ann", "1", "d7"))
    store.last_event(Key("ann", "1", "d7"))
    store.database.read().set_progress_handler(None, 0)
    assert len(steps) < 20, "ten steps of SQLite's machine each; a scan takes some for every event"
