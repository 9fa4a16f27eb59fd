"""A store in a fresh folder."""

import pytest

from focuseval.assess.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "assess.db")
    yield opened
    opened.close()
