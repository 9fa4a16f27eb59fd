"""Tests of stores that fail: fewer attempts, and hardly a pause between them."""

import pytest

from focuseval.engine import storage


@pytest.fixture(autouse=True)
def _hasty(monkeypatch):
    monkeypatch.setattr(storage, "PAUSES", (0.01,))
    monkeypatch.setattr(storage, "_ATTEMPTS", 2)
    storage._connected.cache_clear()
    yield
    storage._connected.cache_clear()
