"""One module per family; `MEASURES`, the explicit tuple; `parse`, from a name to what was asked."""

from focuseval.measures.characters import CHARACTERS
from focuseval.measures.documents import DOCUMENTS
from focuseval.measures.generalised import GENERALISED
from focuseval.measures.measure import Asked, Measure, Parameter
from focuseval.measures.names import parse

MEASURES: tuple[Measure, ...] = (*GENERALISED, *CHARACTERS, *DOCUMENTS)
"""Every measure, in the order of the documentation."""

__all__ = ["MEASURES", "Asked", "Measure", "Parameter", "parse"]
