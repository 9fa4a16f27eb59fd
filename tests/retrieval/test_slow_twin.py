"""Scores and lists equal those of a slow program that keeps every unit's words, on random trees."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.collection.chunks import Chunks
from focuseval.collection.documents import in_memory
from focuseval.collection.parse import Raw, parse_documents
from focuseval.data.topics.topic import plain_topic
from focuseval.engine import native
from focuseval.measures.checks import check
from focuseval.retrieval.retrieving import retrieve
from focuseval.retrieval.settings import RetrievalSettings
from oracle import retrieval as slow
from strategies import retrieval as random

TASKS = ("thorough", "focused", "relevant-in-context", "best-in-context", "fetch-browse", "spans")

settings_of_elements = st.builds(
    RetrievalSettings,
    tags=st.sampled_from([(), (), ("sec", "p")]),
    min_words=st.sampled_from([1, 2, 3]),
    k1=st.sampled_from([1.2, 0.0, 2.0]),
    b=st.sampled_from([0.75, 0.0, 1.0]),
    mix=st.sampled_from([0.0, 0.5, 1.0]),
    idf=st.sampled_from(["documents", "units"]),
    language=st.sampled_from(["english", "none"]),
    task=st.sampled_from(TASKS),
    limit=st.sampled_from([1, 3, 1500]),
)
settings_of_others = st.builds(
    RetrievalSettings,
    unit=st.sampled_from(["document", "passage:2", "passage:3/1", "passage:4/3", "passage:2/3"]),
    mix=st.sampled_from([0.0, 0.3]),
    idf=st.sampled_from(["documents", "units"]),
    language=st.sampled_from(["english", "none"]),
    task=st.sampled_from(TASKS),
    limit=st.sampled_from([2, 1500]),
)


def collection(documents, blocks=1):
    raws = [Raw(f"d{number}", f"d{number}.xml", xml.encode(), "xml") for number, xml in enumerate(documents)]
    cuts = np.array_split(np.arange(len(raws)), blocks)
    return in_memory([parse_documents([raws[i] for i in cut])[0] for cut in cuts if len(cut)], "random")


def rows(run):
    paths = [None] * len(run) if run.path is None else run.path.to_pylist()
    start = [-1] * len(run) if run.start is None else run.start.tolist()
    end = [-1] * len(run) if run.end is None else run.end.tolist()
    return [
        (document, path or (first, last))
        for document, path, first, last in zip(run.document.to_pylist(), paths, start, end, strict=True)
    ]


def places(listed):
    return [(f"d{unit.document}", unit.path or (unit.start, unit.end)) for unit, _ in listed]


def compare(documents, query, asked, blocks=1):
    full = asked.resolved()
    tags = {tag for xml in documents for tag in random.TAGS if f"<{tag}>" in xml}
    if set(asked.tags) - tags:
        asked, full = (RetrievalSettings(**{**vars_of(one), "tags": ()}) for one in (asked, full))
    index = collection(documents, blocks)
    topic = plain_topic("1", query)
    run = retrieve(index, [topic], **vars_of(asked))
    twin = slow.Slow([slow.Page(n, xml, full.language) for n, xml in enumerate(documents)], full)

    def weigh(terms):
        return slow.weights(terms, full.language)

    if full.cas == "ignore" or topic.query is None:
        found = twin.found(weigh(topic.terms))
    else:
        found = twin.structured(topic.query, topic.terms, weigh)
    expected = twin.listed(found, full.task, full.limit)
    assert rows(run) == places(expected)
    assert run.score.tolist() == pytest.approx([score for _, score in expected], abs=2e-9)
    assert list(check(run, full.task, index)) == []


def vars_of(one):
    return {name: getattr(one, name) for name in RetrievalSettings.__dataclass_fields__}


@given(random.collections, random.queries, settings_of_elements, st.sampled_from([1, 2]))
@settings(max_examples=2 * settings.default.max_examples)
def test_elements_are_scored_and_listed_as_by_the_slow_twin(documents, query, asked, blocks):
    compare(documents, query, asked, blocks)


@given(random.collections, random.queries, settings_of_others)
@settings(max_examples=2 * settings.default.max_examples)
def test_documents_and_passages_are_scored_and_listed_as_by_the_slow_twin(documents, query, asked):
    compare(documents, query, asked)


@st.composite
def chunkings(draw):
    """Documents, and spans in each that may overlap, nest, repeat or be empty."""
    documents = draw(random.collections)
    lengths = collection(documents).lengths.tolist()
    edges = [st.integers(0, length) for length in lengths]
    return documents, [draw(st.lists(st.tuples(edge, edge).map(sorted).map(tuple), max_size=6)) for edge in edges]


@given(chunkings(), random.queries, st.sampled_from([0.0, 0.3]), st.sampled_from(["documents", "units"]))
@settings(max_examples=2 * settings.default.max_examples)
def test_chunks_are_scored_and_listed_as_by_the_slow_twin(chunked, query, mix, idf):
    documents, spans = chunked
    flat = [(f"d{number}", start, end) for number, own in enumerate(spans) for start, end in own]
    names, start, end = zip(*flat, strict=True) if flat else ((), (), ())
    cut = Chunks(pa.array(names, pa.string()), np.array(start, np.int64), np.array(end, np.int64), "mine")
    index, topic = collection(documents), plain_topic("1", query)
    run = retrieve(index, [topic], chunks=cut, mix=mix, idf=idf)
    full = RetrievalSettings("chunks:mine", mix=mix, idf=idf).resolved()
    twin = slow.Slow([slow.Page(n, xml, full.language) for n, xml in enumerate(documents)], full, spans)
    expected = twin.found(slow.weights(topic.terms, full.language))
    assert rows(run) == places(expected)
    assert run.score.tolist() == pytest.approx([score for _, score in expected])


@given(
    random.collections,
    random.structured,
    settings_of_elements,
    st.sampled_from(["strict", "vague", "SV", "VS", "ignore"]),
)
@settings(max_examples=2 * settings.default.max_examples)
def test_structured_queries_are_scored_and_listed_as_by_the_slow_twin(documents, query, asked, cas):
    compare(documents, query, RetrievalSettings(**{**vars_of(asked), "cas": cas}))


@given(random.collections, random.queries, settings_of_elements | settings_of_others)
@settings(max_examples=80, deadline=None)
def test_without_a_compiler_words_and_scores_are_the_same(documents, query, asked):
    runs, asked = [], replace(asked, tags=())
    with pytest.MonkeyPatch.context() as patch:
        for library in (native.library(), None):
            patch.setattr(native, "library", lambda found=library: found)
            runs.append(retrieve(collection(documents, 2), {"1": query}, **vars_of(asked)))
    assert rows(runs[0]) == rows(runs[1])
    assert runs[0].score.tolist() == runs[1].score.tolist()
