"""Cost is linear: the same measures over a hundredfold range of results and of topics, in memory.

    python benchmarks/bench_scaling.py

Prints nanoseconds a result, and the slope of log time over log size (1 is linear).
"""

import time

import numpy as np
from bench_elements import RESULTS, synthetic_gold, synthetic_run
from bench_spans import make

from focuseval.evaluation.evaluation import evaluate

ELEMENTS = ("MAep", "iMAep", "nxCG@50", "MAnxCG@50")
MEASURES = ("MAgP", "MAiP", "hAP", "spanR@10", "AP", "nDCG@10")


def best_and_median(gold, run, measures, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        evaluate(gold, run, measures)
        times.append(time.perf_counter() - start)
    return min(times), float(np.median(times))


def elements(topics, _, random):
    gold = synthetic_gold(random, topics)
    return gold, synthetic_run(random, gold, "thorough", 0)


def show(label, shapes, made=make, measures=MEASURES):
    sizes, times = [], []
    for topics, results in shapes:
        gold, run = made(topics, results, np.random.default_rng(1))
        best, median = best_and_median(gold, run, measures, 15 if len(run) < 10**6 else 5)
        sizes.append(len(run))
        times.append((best, median))
        cost = f"{best * 1e3:9.1f} ms (median {median * 1e3:9.1f})  {best / len(run) * 1e9:6.0f} ns a result"
        print(f"{label}: {topics:>7,} topics × {results:>6,}  {cost}")
    by_best, by_median = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"{label}: slope {by_best:.2f} (median {by_median:.2f}) over a {sizes[-1] // sizes[0]}-fold range")


if __name__ == "__main__":
    show("results", [(100, results) for results in (200, 600, 2_000, 6_000, 20_000)])
    show("topics", [(topics, 50) for topics in (400, 1_200, 4_000, 12_000, 40_000)])
    show("elements", [(topics, RESULTS) for topics in (12, 40, 120, 400, 1_200)], elements, ELEMENTS)
