"""A table as a value: columns, rows of typed values, and the sentences around them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

from focuseval.data.tables.escape import visible

Value = str | int | float | None
Row = tuple[Value, ...]

ABSENT = "–"
"""What readers see where there is no value."""


@dataclass(frozen=True)
class Column:
    """A column of words, to the left, or of numbers, to the right."""

    heading: str
    words: bool = False
    form: str = ".4f"
    """How fractions are printed for readers, as `format` has it; whole numbers have commas between thousands."""
    best: bool = False
    """Whether the largest value is marked for readers."""

    def text(self, value: Value) -> str:
        """Return a value of this column as readers see it; text stays as it is, also among numbers.

        >>> [Column("AP").text(value) for value in (0.123456, 1234, None, "0.5000 ⋆")]
        ['0.1235', '1,234', '–', '0.5000 ⋆']
        """
        if value is None or value != value:  # noqa: PLR0124  NaN alone differs from itself
            return ABSENT
        if isinstance(value, str):
            return visible(value)
        return f"{value:,}" if isinstance(value, int) else format(value, self.form)


def words(*headings: str) -> tuple[Column, ...]:
    """Return columns of words."""
    return tuple(Column(heading, words=True) for heading in headings)


def numbers(*headings: str, form: str = ".4f") -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(heading, form=form) for heading in headings)


@dataclass(frozen=True)
class Table:
    """A title, columns, rows, and sentences that belong below.

    A cell with a mark (a star, an interval, how many topics a mean leaves out) is text in a column of numbers.
    """

    title: str = ""
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings as readers see them."""
        return tuple(visible(column.heading) for column in self.columns)

    @property
    def keys(self) -> int:
        """How many columns name a row: the words before the first number, or one."""
        first = next((place for place, column in enumerate(self.columns) if not column.words), 1)
        return max(1, first)

    def printed(self) -> Table:
        """Return the table with every value as the text that readers see."""
        return replace(self, rows=tuple(map(tuple, self.cells())))

    def cells(self) -> list[list[str]]:
        """Return the rows as readers see them."""
        return [[c.text(value) for c, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def marks(self) -> frozenset[tuple[int, int]]:
        """Return the row and the column of every best value; where all rows have the same value, none is best.

        >>> sorted(Table("", (Column("AP", best=True),), ((0.5,), (0.75,), (0.75,))).marks())
        [(1, 0), (2, 0)]
        """
        marked = set()
        for place, column in enumerate(self.columns if len(self.rows) > 1 else ()):
            values = [row[place] for row in self.rows] if column.best else []
            known = {value for value in values if isinstance(value, float) and isfinite(value)}
            if len(known) > 1:
                marked |= {(row, place) for row, value in enumerate(values) if value == max(known)}
        return frozenset(marked)

    def to_json(self) -> dict[str, object]:
        """Return the table as plain values; what is not a number, or not finite, is null.

        >>> Table("Means", words("run") + numbers("AP"), (("a", float("nan")),)).to_json()
        {'title': 'Means', 'head': ['run', 'AP'], 'body': [['a', None]], 'notes': []}
        """
        body = [[None if isinstance(v, float) and not isfinite(v) else v for v in row] for row in self.rows]
        head = [column.heading for column in self.columns]
        return {"title": self.title, "head": head, "body": body, "notes": list(self.notes)}
