"""Small random collections: highlighted documents, and runs that return spans of them in any order."""

from hypothesis import strategies as st

from oracle import highlighted as slow

LENGTH = 24
DOCUMENTS = ("d1", "d2", "d3", "d4")
UNJUDGED = ("u1", "u2")


@st.composite
def spans(draw, most=4, length=LENGTH):
    """Spans that may touch, overlap, nest or be empty."""
    edges = st.integers(0, length)
    pairs = draw(st.lists(st.tuples(edges, edges), max_size=most))
    return [(min(pair), max(pair)) for pair in pairs]


@st.composite
def judged_document(draw):
    length = LENGTH + draw(st.integers(0, 30))
    marked = [(s, e) for s, e in draw(spans(3)) if s < e]
    bep = draw(st.integers(0, LENGTH)) if draw(st.booleans()) else -1  # maybe in a document without relevance, too
    return {"length": length, "spans": marked, "bep": bep}


@st.composite
def golds(draw, topics=3):
    """Topic → document → judgement; topics without relevance and empty topics included."""
    names = [f"t{number}" for number in range(draw(st.integers(1, topics)))]
    return {name: draw(st.dictionaries(st.sampled_from(DOCUMENTS), judged_document(), max_size=4)) for name in names}


@st.composite
def results(draw, most=8):
    document = st.sampled_from(DOCUMENTS + UNJUDGED)
    found = draw(st.lists(st.tuples(document, st.integers(0, LENGTH), st.integers(0, LENGTH)), max_size=most))
    return [(name, min(a, b), max(a, b)) for name, a, b in found]


@st.composite
def runs(draw, gold, most=8):
    """Topic → results, in any order of topics; some topics are not answered, some results are repeated."""
    answered = draw(st.permutations(list(gold)))
    answered = answered[: draw(st.integers(0, len(answered)))]
    found = {name: draw(results(most)) for name in answered}
    return {name: rows + rows[:1] if draw(st.booleans()) else rows for name, rows in found.items()}


@st.composite
def collections(draw):
    """Return a gold and a run as dictionaries."""
    gold = draw(golds())
    return gold, draw(runs(gold))


def usable(name, gold, run):
    """Whether the measure has anything to say: some topic counts, the run shares documents, entry points exist."""
    counted = [judged for judged in gold.values() if slow.relevant_documents(judged)]
    documents = {document for judged in gold.values() for document in judged}
    shares = {document for t, results in run.items() if slow.relevant_documents(gold[t]) for document, _, _ in results}
    entry = any(token in name for token in ("bep", "BEPD", "EPRUM"))
    beps = any(slow.number_of_beps(judged) for judged in counted)
    return bool(counted) and (not shares or shares & documents) and (beps or not entry)
