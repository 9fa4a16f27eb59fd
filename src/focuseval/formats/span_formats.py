"""The formats of RAG and passage collections, as values of the list of formats."""

from __future__ import annotations

from focuseval.formats import sniff_spans as sniff
from focuseval.formats.format import Format

_HERE = "focuseval.formats"
_GOLD = frozenset({"spans", "queries"})

SPAN_RUNS: tuple[Format, ...] = (
    Format(
        "trec-genomics-run", "run", "TREC Genomics runs: passages by byte offset; needs the documents",
        f"{_HERE}.genomics_run", sniff.genomics_run, frozenset({"span", "rank", "score"}), located=True,
    ),
    Format(
        "trec-rag-run", "run", "TREC RAG runs: segments of documents, which --docs gives", f"{_HERE}.trec_rag_run",
        sniff.segments_run, frozenset(), aliases=("trec-rag",), located=True,
    ),
)  # fmt: skip
"""Runs; told before INEX and TREC runs, whose columns are as many."""

SPAN_GOLDS: tuple[Format, ...] = (
    Format(
        "legalbench-rag", "gold", "LegalBench-RAG: snippets of files, in JSON", f"{_HERE}.legalbench",
        sniff.legalbench, _GOLD | {"tags"}, aliases=("legalbench", "legalbenchrag"),
    ),
    Format(
        "chunking-evaluation", "gold", "chunking_evaluation: references with quotes, in CSV", f"{_HERE}.chroma",
        sniff.chroma, _GOLD | {"quotes"}, aliases=("chroma",), suffixes=(".csv",), located=True,
    ),
    Format(
        "squad", "gold", "the SQuAD family: answers in paragraphs; contains its documents", f"{_HERE}.squad",
        sniff.squad, _GOLD | {"quotes"}, aliases=("xquad", "squad2"), located=True,
    ),
    Format(
        "qasper", "gold", "Qasper: evidence as text in papers; contains its documents", f"{_HERE}.qasper",
        sniff.qasper, frozenset(),
    ),
    Format(
        "qasper-highlighted", "gold", "Qasper, read for the highlighted sentences; by name only",
        f"{_HERE}.qasper_highlighted", sniff.nothing, frozenset(),
    ),
    Format(
        "natural-questions", "gold", "Natural Questions: long answers by byte; contains its pages",
        f"{_HERE}.natural_questions", sniff.natural_questions, frozenset(), aliases=("nq",), located=True,
    ),
    Format(
        "kilt", "gold", "KILT: provenance by paragraph and character; needs the pages", f"{_HERE}.kilt",
        sniff.kilt, frozenset(), located=True,
    ),
    Format(
        "trec-genomics", "gold", "TREC Genomics gold: passages by byte offset; needs the documents",
        f"{_HERE}.genomics", sniff.genomics, frozenset(), aliases=("genomics",), located=True,
    ),
    Format(
        "trec-rag", "gold", "TREC RAG gold: graded segments of documents, which --docs gives", f"{_HERE}.trec_rag",
        sniff.segments_gold, frozenset(), located=True,
    ),
)  # fmt: skip
"""Gold; told before INEX and TREC assessments as text. What says nothing can only be read."""
