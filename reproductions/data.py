"""Where the data of the reproductions is, and what is said where it is missing."""

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

DATA = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
RUNS = Path(__file__).parent / "runs"


class Missing(Exception):  # noqa: N818  not an error: the reproduction is skipped, and says why
    """Data or a package that a reproduction needs is not at hand."""


def folder(name: str) -> Path:
    """Return a folder of the data."""
    if not (DATA / name).is_dir():
        raise Missing(f"no folder {name} in {DATA}: set FOCUSEVAL_DATA to the folder that holds it")
    return DATA / name


def package(name: str) -> ModuleType:
    """Return a package that is not one of focuseval's own dependencies."""
    try:
        return import_module(name)
    except ImportError:
        raise Missing(f"{name} is not installed: 'make reproduce' installs it") from None
