"""TREC RAG, runs: ranked segments of documents, six columns; ``--docs`` gives the segments.

::

    topic Q0 segment rank score run
    2024-105741 Q0 msmarco_v2.1_doc_16_287012450#4_490828734 1 0.97 VSM

Read and ranked as TREC runs are: by **score**, descending. With ``--docs SEGMENTS``, the segment files of the
collection (see 'focuseval formats trec-rag'), every segment becomes a span of its document, and several segments of one
document are several results. Without it segments are scored as whole documents are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import Place
from focuseval.formats import trec_run
from focuseval.formats.trec_rag import segments_in, unknown_segment

if TYPE_CHECKING:
    from focuseval.collection.segments import Segments
    from focuseval.data.run import Run
    from focuseval.formats.source import Source


def read(source: Source, documents: Any = None) -> Run:
    """Return the run of segments as a run of spans; as it is where no segments are given."""
    run = trec_run.read(source)
    segments = segments_in(documents, run.document, run.file)
    return run if segments is None else place_run(run, segments)


def place_run(run: Run, segments: Segments) -> Run:
    """Return a run of segments as a run of spans; the ranking stays, and an unknown segment is refused."""
    rows = segments.find(run.document)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        row = int(unknown[0])
        name, number = run.document[row].as_py(), len(run.document.take(unknown).unique())
        line = row + 1 if run.line is None else int(run.line[row])
        raise unknown_segment(name, number, run.topics[run.topic[row]], Place(run.file or "<run>", line))
    document, start, end = segments.document.take(rows), segments.start[rows], segments.end[rows]
    return replace(run, document=document, start=start, end=end, keys=None)
