"""stub."""

from __future__ import annotations

from typing import Any


def ordinary_body(data: bytes) -> bytes | None:
    return None


def well_formed(data: bytes, file: str) -> None:
    pass


def read_structure(bodies: list[bytes]) -> Any:
    raise NotImplementedError
