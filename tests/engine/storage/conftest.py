"""Tests of stores that fail: fewer attempts, and hardly a pause between them."""

import pytest

from focuseval.engine.storage import faults, objects


@pytest.fixture(autouse=True)
def _hasty(monkeypatch):
    monkeypatch.setattr(faults, "PAUSES", (0.01,))
    monkeypatch.setattr(objects, "_ATTEMPTS", 2)
    objects._connected.cache_clear()
    yield
    objects._connected.cache_clear()
