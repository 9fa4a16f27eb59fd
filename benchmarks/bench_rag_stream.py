"""A million queries from the shell: peak memory must not grow with the run.

    python benchmarks/bench_rag_stream.py [queries]

The same gold is scored with runs of 2, 5 and 15 chunks a query; the ratio is to the smallest.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURES = ("spanR@5", "spanP@5", "IoU@5", "spanR@1000c")


def write(folder, queries, chunks):
    """Write a run; and the gold beside it."""
    rng = random.Random(1)
    gold, run = folder / "gold.jsonl", folder / f"run{chunks}.jsonl"
    with gold.open("w") as marks, run.open("w") as results:
        for query in range(queries):
            start = rng.randrange(0, 50_000)
            span = f'{{"start": {start}, "end": {start + 200}}}'
            marks.write(f'{{"topic": "q{query}", "doc": "doc{query % 5000}", "spans": [{span}]}}\n')
            for rank in range(1, chunks + 1):
                begin = max(0, start // 300 + rng.randrange(-2, 3)) * 300
                where = f'"doc": "doc{query % 5000}", "rank": {rank}, "start": {begin}, "end": {begin + 400}'
                results.write(f'{{"topic": "q{query}", {where}}}\n')
    return gold, run


def measured(gold, run):
    """Return processor seconds and peak megabytes of one call."""
    asked = [word for name in MEASURES for word in ("-m", name)]
    process = subprocess.Popen([sys.executable, "-m", "focuseval", "score", gold, run, *asked, "--format", "json"],
                               stdout=subprocess.DEVNULL)  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(queries=1_000_000):
    with tempfile.TemporaryDirectory() as name:
        floor = None
        for chunks in (2, 5, 15):
            gold, run = write(Path(name), queries, chunks)
            seconds, peak = measured(gold, run)
            floor = floor or peak
            size = run.stat().st_size / 1e6
            print(
                f"{queries:,} queries × {chunks:2} chunks, {size:5.0f} MB: {seconds:5.1f} s, peak {peak:4.0f} MB,",
                end=" ",
            )
            print(f"{peak / floor:.2f} ×")
            run.unlink()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
