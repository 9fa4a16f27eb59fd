"""Runs and golds as tables for other programs: Parquet, and CSV that Excel opens as UTF-8.

::

    topic,doc,rank,score,start,end,run                            a result on each row, best first
    topic,query,doc,start,end,quote,need,relevance,tags,group     a span on each row

The columns are those of run-rows and gold-rows, by which such a file is read; a column that nobody fills is left out. A
judged document without a span has a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from focuseval.data.tables import Framed, table_file
from focuseval.formats import gold_rows, run_rows


def _write(value: Framed, documents: object = None, *, ending: str) -> Iterator[bytes]:  # noqa: ARG001  as writers have it
    """Yield a run or a gold as a table."""
    yield table_file(value.to_arrow(), ending)


write_run_parquet = write_gold_parquet = partial(_write, ending=".parquet")
write_run_csv = write_gold_csv = partial(_write, ending=".csv")
read_run_parquet = read_run_csv = run_rows.read
read_gold_parquet = read_gold_csv = gold_rows.read
