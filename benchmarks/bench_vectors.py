"""Exact search among vectors against the bare matrix product and partial sort of NumPy on the same data, in one run.

    python benchmarks/bench_vectors.py [VECTORS] [QUESTIONS]

A million vectors of 384 32-bit numbers in a file that is mapped, 200 questions, the best 100 and the best 1,500. The
peer has all vectors in memory, at length 1 already, and does nothing but multiply and partition, for as many questions
at a time as make a product of 256 MB at most. Ours divides by the vectors' lengths, scores what it found again in 64
bits and orders it. Wall time; the median of three rounds. Memory is what the process of our search alone needs.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from focuseval.retrieval.vectors import nearest

SIZE, ROUNDS, LISTS = 384, 3, (100, 1500)
ALONE = """
import sys, numpy as np
from pathlib import Path
from focuseval.retrieval.vectors import nearest
nearest(np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2]), 1500)
status = Path("/proc/self/status").read_text()
print(int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024)
"""


def timed(work):
    begin = time.perf_counter()
    found = work()
    return found, time.perf_counter() - begin


def bare(vectors, queries, many):
    found, step = [], max(1, 64_000_000 // len(vectors))
    for first in range(0, len(queries), step):
        scores = queries[first : first + step] @ vectors.T
        found.append(np.argpartition(scores, -many, axis=1)[:, -many:])
    return np.concatenate(found)


def main(many, questions):
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as scratch:
        file, asked = Path(scratch) / "vectors.npy", Path(scratch) / "queries.npy"
        whole = np.lib.format.open_memmap(file, "w+", np.float32, (many, SIZE))
        for first in range(0, many, 100_000):
            part = rng.standard_normal((min(100_000, many - first), SIZE), np.float32)
            whole[first : first + len(part)] = part / np.linalg.norm(part, axis=1, keepdims=True)
        whole.flush()
        queries = rng.standard_normal((questions, SIZE), np.float32)
        np.save(asked, queries)
        mapped, held = np.load(file, mmap_mode="r"), np.load(file)
        for wanted in LISTS:
            ours, theirs = [], []
            for _ in range(ROUNDS):
                found, spent = timed(lambda: nearest(mapped, queries, wanted))  # noqa: B023  called at once
                ours.append(spent)
                peer, spent = timed(lambda: bare(held, queries, wanted))  # noqa: B023  as above
                theirs.append(spent)
            same = np.mean(
                [len(np.intersect1d(rows, other)) / wanted for (rows, _), other in zip(found, peer, strict=True)]
            )
            mine, bared = statistics.median(ours), statistics.median(theirs)
            print(f"best {wanted:5,}: {mine:6.2f} s, NumPy {bared:6.2f} s: {bared / mine:.2f} of its speed,", end=" ")
            print(f"{1000 * mine / questions:.1f} ms a question, {same:.4f} of the results are the same")
        half = Path(scratch) / "half.npy"
        np.save(half, held.astype(np.float16))
        _, spent = timed(lambda: nearest(np.load(half, mmap_mode="r"), queries, LISTS[0]))
        print(f"16 bits, best {LISTS[0]}: {spent:.2f} s")
        command = [sys.executable, "-c", ALONE, str(file), str(asked)]
        memory = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        size = file.stat().st_size / 1e6
        print(f"memory of one search, mapped pages included: {memory:,.0f} MB for a file of {size:,.0f}")


if __name__ == "__main__":
    main(*(int(value) for value in (sys.argv[1:] + ["1000000", "200"][len(sys.argv) - 1 :])))
