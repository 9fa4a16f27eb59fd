"""A campaign in the official 2008–10 format: runs × 120 topics × 1500 lines, MAiP and MAgP, files to scores.

    python benchmarks/bench_inex.py [runs] [repeats]

The peer is the official Java tool where INEX_EVAL_JAR names it; without it the rate that it reached on this kind of
machine, 0.3 million lines a second, stands in and is marked as such.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_gold

TOPICS, RESULTS, REPORTED = 120, 1500, 0.3e6
MEASURES = ("MAiP", "iP@0.01", "MAgP(beta=0.25)", "gP@10")


def write_files(folder, runs, seed=1):
    """Relevant documents with one to three passages; runs of disjoint passages, one an article."""
    rng = np.random.default_rng(seed)
    with (folder / "qrels").open("w") as qrels:
        for topic in range(TOPICS):
            for number, document in enumerate(rng.choice(50_000, 600, replace=False).tolist()):
                if number % 6:
                    qrels.write(f"{topic} Q0 {document} 0 9000\n")
                    continue
                marks = " ".join(
                    f"{at}:{rng.integers(50, 900)}" for at in range(100, 100 + 2000 * int(rng.integers(1, 4)), 2000)
                )
                size = sum(int(mark.split(":")[1]) for mark in marks.split())
                qrels.write(f"{topic} Q0 {document} {size} 9000 100 {marks}\n")
    for run in range(runs):
        with (folder / f"run{run}").open("w") as out:
            for topic in range(TOPICS):
                documents = rng.choice(50_000, RESULTS, replace=False)
                offsets, lengths = rng.integers(0, 5000, RESULTS), rng.integers(100, 3000, RESULTS)
                rows = zip(documents.tolist(), offsets.tolist(), lengths.tolist(), strict=True)
                out.writelines(
                    f"{topic} Q0 {d} {rank} {1 / rank:.6f} run{run} {o} {n}\n" for rank, (d, o, n) in enumerate(rows, 1)
                )


def java_rate(folder, runs):
    """Lines a second of the official tool, or what it reached before."""
    jar = os.environ.get("INEX_EVAL_JAR")
    if not jar:
        return REPORTED, "as reported for this kind of machine"
    start = time.perf_counter()
    for flag in ("-f", "-r"):
        for run in range(runs):
            command = ["java", "-jar", jar, flag, str(folder / "qrels"), str(folder / f"run{run}")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return 2 * runs * TOPICS * RESULTS / (time.perf_counter() - start), "measured in this run"


def times(folder, runs, jobs, repeats):
    """Wall and processor seconds of every repeat, files to scores."""
    taken = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        gold = read_gold(folder / "qrels")
        evaluate(gold, [folder / f"run{run}" for run in range(runs)], MEASURES, jobs=jobs)
        taken.append((time.perf_counter() - wall, time.process_time() - processor))
    return np.array(taken)


def main(runs=20, repeats=7):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, runs)
        lines = runs * TOPICS * RESULTS
        taken = {jobs: times(folder, runs, jobs, repeats) for jobs in (1, 2)}
        peer, source = java_rate(folder, runs)
    print(f"{runs} runs × {TOPICS} topics × {RESULTS} = {lines:,} lines, files to scores")
    for jobs, seconds in taken.items():
        for label, spent in (("best", seconds[:, 0].min()), ("median", np.median(seconds[:, 0]))):
            rate = lines / spent
            print(f"{jobs} at once, {label:6}  {rate / 1e6:5.2f} M lines/s  {rate / peer:5.1f} × the official tool")
    rate = lines / taken[1][:, 1].min()
    print(f"1 at once, processor time, best  {rate / 1e6:5.2f} M lines/s  {rate / peer:5.1f} × the official tool")
    print(f"official tool      {peer / 1e6:5.2f} M lines/s  ({source})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
