"""Cost is linear: the same measures over a hundredfold range of results and of topics, in memory.

    python benchmarks/bench_scaling.py

Prints nanoseconds a result, and the slope of log time over log size (1 is linear).
"""

import time

import numpy as np
from bench_spans import make

from focuseval.evaluate import evaluate

MEASURES = ("MAgP", "MAiP", "hAP", "spanR@10", "AP", "nDCG@10")


def best(gold, run, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        evaluate(gold, run, MEASURES)
        times.append(time.perf_counter() - start)
    return min(times)


def show(label, shapes):
    sizes, times = [], []
    for topics, results in shapes:
        gold, run = make(topics, results, np.random.default_rng(1))
        seconds = best(gold, run, 7 if len(run) < 10**6 else 3)
        sizes.append(len(run))
        times.append(seconds)
        print(
            f"{label}: {topics:>7,} topics × {results:>6,}  {seconds * 1e3:9.1f} ms  {seconds / len(run) * 1e9:6.0f} ns"
        )
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"{label}: slope {slope:.2f} over a {sizes[-1] // sizes[0]}-fold range")


if __name__ == "__main__":
    show("results", [(100, results) for results in (200, 600, 2_000, 6_000, 20_000)])
    show("topics", [(topics, 50) for topics in (400, 1_200, 4_000, 12_000, 40_000)])
