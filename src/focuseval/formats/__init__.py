"""Runs and gold in every format that the field has used: read, written, detected from the content, converted.

``FORMATS`` is the list; a new format is one more value in it, with its own module for reading and writing.
"""

from focuseval.formats.catalogue import FORMATS, Format, detect, detect_source, find_format
from focuseval.formats.content import open_source, open_sources, source_of
from focuseval.formats.files import read_gold, read_run

__all__ = [
    "FORMATS",
    "Format",
    "detect",
    "detect_source",
    "find_format",
    "open_source",
    "open_sources",
    "read_gold",
    "read_run",
    "source_of",
]

__path__.append(f"{__path__[0]}/../bridges/former/formats")  # import paths of 0.2.0 whose modules have moved
