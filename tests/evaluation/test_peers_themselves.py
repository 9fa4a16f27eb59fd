"""``--compat`` beside the peers' own code, topic by topic, where that code can be imported.

Neither chunking_evaluation nor legalbenchrag is on PyPI: put their repositories on ``PYTHONPATH`` to run these tests.
Without them the figures in `test_peer_numbers`, which that code once printed, hold the line.
"""

import numpy as np
import pyarrow as pa
import pytest

from building import run_of
from evaluation.peer_case import SHOWN, chunks, corpora, questions, retrieved
from focuseval.collection.chunks import Chunks
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_gold

WHY = "{} is not at hand: put its repository on PYTHONPATH"


@pytest.fixture(scope="module")
def data(shared_data):
    """The folder of chunking_evaluation's questions and corpora."""
    return shared_data / "chroma_chunking_evaluation"


@pytest.fixture(scope="module")
def found(data):
    """What the run of `peer_case` returns for every question."""
    sizes = corpora(data)
    return [retrieved(number, *question, sizes) for number, question in enumerate(questions(data))]


def ours(data, found, measures, **options):
    run = run_of({f"q{number + 1}": spans for number, spans in enumerate(found)})
    return evaluate(read_gold(data / "questions_df.csv"), run, measures, **options).values[0, :, 1::2]


def record(corpus, start, end):
    return {"start_index": start, "end_index": end, "corpus_id": corpus}


@pytest.mark.filterwarnings("ignore")
def test_chunking_evaluation_computes_the_same_for_every_question(data, found):
    name = "chunking_evaluation.evaluation_framework.base_evaluation"
    theirs = pytest.importorskip(name, reason=WHY.format("chunking_evaluation"), exc_type=ImportError)
    peer = object.__new__(theirs.BaseEvaluation)  # its constructor opens a vector store
    peer.questions_csv_path = str(data / "questions_df.csv")
    peer._load_questions_df()
    shown = [[record(*span) for span in spans] for spans in found]
    iou, recall, precision = peer._scores_from_dataset_and_retrievals(shown, [SHOWN] * len(shown))
    mine = ours(data, found, ["spanR@5", "spanP@5", "IoU@5"], compat="chroma")
    assert mine == pytest.approx(np.array([recall, precision, iou]).T, abs=1e-12)
    every = [(corpus, *span) for corpus, length in corpora(data).items() for span in chunks(length)]
    omega, _ = peer._full_precision_score([record(*span) for span in every])
    names, starts, ends = zip(*every, strict=True)
    given = Chunks(pa.array(names), np.array(starts), np.array(ends))
    mine = ours(data, found, ["ceiling(IoU)"], compat="chroma", chunks=given)
    assert mine[:, 0] == pytest.approx(np.array(omega), abs=1e-12)


def test_legalbenchrag_computes_the_same_for_every_question(data, found):
    theirs = pytest.importorskip("legalbenchrag.run_benchmark", reason=WHY.format("legalbenchrag"))
    types = pytest.importorskip("legalbenchrag.benchmark_types")
    values = []
    for (corpus, references), spans in zip(questions(data), found, strict=True):
        snippets = [types.Snippet(file_path=corpus, span=span) for span in references]
        chunks_ = [types.RetrievedSnippet(file_path=c, span=(s, e), score=1.0) for c, s, e in spans]
        asked = types.QAGroundTruth.model_construct(query="", snippets=snippets, tags=[])  # references may overlap
        result = theirs.QAResult.model_construct(qa_gt=asked, retrieved_snippets=chunks_)
        values.append((result.recall, result.precision))
    mine = ours(data, found, ["spanR@5", "spanP@5"], compat="legalbenchrag")
    assert mine == pytest.approx(np.array(values), abs=1e-12)
