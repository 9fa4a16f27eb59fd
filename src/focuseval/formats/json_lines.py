"""JSON lines → columns: Arrow's own reader for regular files, line by line for all others and for every error."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.errors import FormatError
from focuseval.formats.columns import lent
from focuseval.formats.source import refuse_nul

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.formats.source import Source

FAR = 10**9
"""No document has as many characters."""


@dataclass(frozen=True)
class Field:
    """A key that a line may have, and what its value must be."""

    name: str
    type: Any
    needed: bool = False
    blank: bool = False
    """Whether an empty string is a value."""
    least: int = -(2**31)


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every line that is not blank, with its number, as a JSON object."""
    refuse_nul(source)
    for line, raw in enumerate(source.data[:].split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw, parse_constant=_no_constant)
        except RecursionError as error:
            raise FormatError(
                "expected a flat JSON object, found one nested too deeply",
                at=source.at(line),
                remedy="write one flat object on each line",
            ) from error
        except ValueError as error:  # JSON, UTF-8 and NaN alike
            raise FormatError(
                f"expected a JSON object, found: {error}", at=source.at(line), remedy="write one object on each line"
            ) from error
        if not isinstance(value, dict):
            raise FormatError(
                f"expected a JSON object, found {raw[:40].decode()!r}",
                at=source.at(line),
                remedy="write one object on each line",
            )
        yield line, value


def typed(source: Source, fields: Sequence[Field]) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Return a chunked column for every field and the line of every row."""
    return _by_arrow(source, fields) or _by_line(source, fields)


def checked(source: Source, line: int, field: Field, value: Any) -> Any:
    """Return a value as its field wants it, or raise."""
    if value is None:
        if field.needed:
            raise FormatError(
                f"expected the key {field.name!r}, found none", at=source.at(line), remedy="add it to the line"
            )
        return None
    if pa.types.is_string(field.type):
        return _word(source, line, field, value)
    if pa.types.is_floating(field.type):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and _finite(value):
            return float(value)
        raise FormatError(
            f"expected a finite number as {field.name!r}, found {value!r}",
            at=source.at(line),
            remedy="write a number, or leave the key out in every line",
        )
    if isinstance(value, int) and not isinstance(value, bool) and field.least <= value < FAR:
        return value
    raise FormatError(
        f"expected a whole number as {field.name!r}, found {str(value)[:40]!r}",
        at=source.at(line),
        remedy="correct the line",
    )


def _word(source: Source, line: int, field: Field, value: Any) -> str:
    """Return a string; a topic or document may be written as a number."""
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(word, str) or not (word or field.blank):
        raise FormatError(
            f"expected a string as {field.name!r}, found {str(value)[:40]!r}",
            at=source.at(line),
            remedy="put it between quotes",
        )
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise FormatError(
            f"expected text as {field.name!r}, found a lone surrogate",
            at=source.at(line),
            remedy="write the character itself, in UTF-8",
        ) from error
    return word


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _by_arrow(source: Source, fields: Sequence[Field]) -> tuple[dict[str, Any], NDArray[np.int64]] | None:
    """Let Arrow read a file without blank lines, odd types or unknown keys; None otherwise."""
    if len(source.data) < _SMALL or source.data.find(b"\n\n") >= 0 or source.data[:1] == b"\n":
        return None
    from pyarrow import json as arrow_json  # noqa: PLC0415  only large files are worth its import

    schema = pa.schema([(field.name, field.type) for field in fields])
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    blocks = arrow_json.ReadOptions(block_size=1 << 22)
    try:
        table = arrow_json.read_json(pa.BufferReader(lent(pa.py_buffer(source.data))), blocks, options)
    except pa.ArrowInvalid:
        return None
    columns = {field.name: table[field.name] for field in fields}
    if any(not _regular(field, columns[field.name]) for field in fields):
        return None
    if table.num_rows != source.data[:].rstrip().count(b"\n") + 1:
        return None
    return columns, np.arange(1, table.num_rows + 1)


_SMALL = 1 << 16


def _regular(field: Field, column: Any) -> bool:
    """Whether a column needs no line to be blamed."""
    if field.needed and column.null_count:
        return False
    values = column.drop_null()
    if pa.types.is_string(field.type):
        return field.blank or not len(values.filter(pa.compute.equal(values, "")))
    low, high = pa.compute.min_max(values).as_py().values()
    if pa.types.is_floating(field.type):
        return bool(np.isfinite(values.to_numpy()).all())
    return low is None or (low >= field.least and high < FAR)


def _by_line(source: Source, fields: Sequence[Field]) -> tuple[dict[str, Any], NDArray[np.int64]]:
    known = {field.name for field in fields}
    rows: list[list[Any]] = []
    lines = []
    for line, value in objects(source):
        unknown = value.keys() - known
        if unknown:
            names = ", ".join(field.name for field in fields)
            raise FormatError(
                f"expected only the keys {names}, found {min(unknown)!r}", at=source.at(line), remedy="remove the key"
            )
        rows.append([checked(source, line, field, value.get(field.name)) for field in fields])
        lines.append(line)
    values = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
    columns = {f.name: pa.chunked_array([pa.array(v, f.type)]) for f, v in zip(fields, values, strict=True)}
    return columns, np.array(lines, np.int64)
