"""The version, which signatures, archives and indexes name."""

__version__ = "0.3.0"
