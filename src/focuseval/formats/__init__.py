"""Runs and gold in every format that the field has used: read, written, told apart by content, converted.

``FORMATS`` is the list; a new format is one more value in it, with its own module for reading and writing.
"""

from focuseval.formats.catalogue import FORMATS, detect, detect_source, find_format
from focuseval.formats.files import convert_file, read_gold, read_run, write_gold, write_run
from focuseval.formats.format import Format
from focuseval.formats.source import open_source, open_sources, source_of

__all__ = [
    "FORMATS",
    "Format",
    "convert_file",
    "detect",
    "detect_source",
    "find_format",
    "open_source",
    "open_sources",
    "read_gold",
    "read_run",
    "source_of",
    "write_gold",
    "write_run",
]
