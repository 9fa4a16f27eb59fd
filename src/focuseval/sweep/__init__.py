"""Sweep: chunkers × retrieval × measures, to find the chunking that serves best, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.callable_module import call_by_name
from focuseval.lazy import attributes

if TYPE_CHECKING:
    from focuseval.sweep.result import Sweep
    from focuseval.sweep.sweeping import sweep

__all__ = ["Sweep", "sweep"]

__getattr__ = attributes(__name__, {"Sweep": "result", "sweep": "sweeping"})

call_by_name(__name__)
