"""Remarks as the lines that commands print."""


def lines_of(noticed):
    """Return the remarks of a gold or a run as text."""
    return tuple(map(str, noticed.remarks))
