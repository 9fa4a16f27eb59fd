"""One module per family; `MEASURES`, the explicit tuple; `parse`, from a name to what was asked."""

from focuseval.measures.ceiling import CEILING
from focuseval.measures.characters import CHARACTERS
from focuseval.measures.documents import DOCUMENTS
from focuseval.measures.entry_point import ENTRY_POINT
from focuseval.measures.eprum import EPRUM
from focuseval.measures.fetch_browse import MEASURES as FETCH_BROWSE
from focuseval.measures.generalised import GENERALISED
from focuseval.measures.hixeval import HIXEVAL
from focuseval.measures.i2 import MEASURES as I2
from focuseval.measures.i3 import MEASURES as I3
from focuseval.measures.measure import Asked, Budget, Measure, Parameter
from focuseval.measures.names import parse
from focuseval.measures.nxcg import MEASURES as NXCG
from focuseval.measures.prum import MEASURES as PRUM
from focuseval.measures.spans import RAG
from focuseval.measures.tolerance import TOLERANCE
from focuseval.measures.xcg import MEASURES as XCG

MEASURES: tuple[Measure, ...] = (
    *XCG,
    *NXCG,
    *FETCH_BROWSE,
    *GENERALISED,
    *TOLERANCE,
    *ENTRY_POINT,
    *EPRUM,
    *PRUM,
    *HIXEVAL,
    *CHARACTERS,
    *I2,
    *I3,
    *DOCUMENTS,
    *RAG,
    *CEILING,
)
"""Every measure, in the order of the documentation."""

__all__ = ["MEASURES", "Asked", "Budget", "Measure", "Parameter", "parse"]
