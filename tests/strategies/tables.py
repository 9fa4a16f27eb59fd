"""Random tables: names from files, numbers of all sizes, and nothing."""

from hypothesis import strategies as st

from focuseval.data.tables import Column, Table

SIGNS = "\\`*_[]()<>|~&#%$^{}=+-@\n\t\"' ,;⋆τ−–≥≤→·✓✗—×ρβ…検索\u0301\x1b\u202e"
NAMES = st.text(
    st.sampled_from(SIGNS) | st.characters(codec="utf-8", exclude_characters="\r\0\ufffe\uffff"), max_size=30
)
VALUES = st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES


@st.composite
def tables(draw, rows=0, values=VALUES):
    """Return a table of at least so many rows."""
    columns = draw(st.lists(st.builds(Column, NAMES, st.booleans()), min_size=1, max_size=6))
    body = draw(st.lists(st.tuples(*[values] * len(columns)), min_size=rows, max_size=5))
    notes = draw(st.lists(NAMES.filter(bool), max_size=2))
    return Table(draw(NAMES), tuple(columns), tuple(body), tuple(notes))
