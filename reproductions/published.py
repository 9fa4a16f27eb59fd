"""Published figures beside ours, as a table with a verdict for every row."""

from collections.abc import Iterable, Sequence

from focuseval.data.tables import Table, words

SAME = "same"


def printed(value: float, as_published: str) -> str:
    """Return a value with as many decimals as the published figure has.

    >>> printed(0.33333, "0.33"), printed(12.5, "7")
    ('0.33', '12')
    """
    return f"{value:.{len(as_published.partition('.')[2])}f}"


def verdict(published: str, ours: str, because: str = "") -> str:
    """Return ``same``, or why the figures differ; a reason for equal figures would be out of date, and is not said.

    >>> verdict("0.5", "0.5"), verdict("0.5", "0.6", "other chunks"), verdict("0.5", "0.6")
    ('same', 'differs: other chunks', 'differs')
    """
    if published == ours:
        return SAME
    return f"differs: {because}" if because else "differs"


def compared(
    title: str, names: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = (), verdicts: int = -1
) -> Table:
    """Return a table of words whose last note counts the rows that are the same."""
    body = tuple(tuple(row) for row in rows)
    same = sum(row[verdicts] == SAME for row in body)
    return Table(title, words(*names), body, (*notes, f"Same: {same} of {len(body)}."))
