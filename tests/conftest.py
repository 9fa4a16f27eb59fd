"""What many tests share: the folder of real data, which may be absent."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None, max_examples=60)
settings.load_profile("house")

DATA = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real articles and span gold; a test that needs it skips where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no data folder at {DATA}: set FOCUSEVAL_DATA to run this test")
    return DATA
