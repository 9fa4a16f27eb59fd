"""Sweep: chunkers × retrieval × measures, to find the chunking that serves best, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.retrieval.sweeps.result import Sweep
    from focuseval.retrieval.sweeps.sweeping import sweep

__all__ = ["Sweep", "sweep"]

__getattr__ = attributes(__name__, {"Sweep": "result", "sweep": "sweeping"})
