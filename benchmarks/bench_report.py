"""How long a report takes, as a ratio to scoring the same runs, and how large it is.

    python benchmarks/bench_report.py

100 topics × 20 runs × 50 articles, 3,000 documents of 9,000 characters. The floor is `evaluate` under the same
measures.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from focuseval.evaluate import evaluate
from focuseval.evaluate.sources import as_index
from focuseval.report import build_report, render_html
from strategies.campaigns import campaign

MEASURES = ["MAgP", "gP@5", "gP@10", "MAiP", "iP@0.01", "hAP", "spanR@5"]


def best(work, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def main():
    gold, runs, texts = campaign(topics=100, runs=20, documents=3000, length=9000, depth=50)
    index = as_index(texts)
    floor, _ = best(lambda: evaluate(gold, runs, MEASURES, index=index, task="spans"))
    built, report = best(lambda: build_report(gold, runs, MEASURES, index=index, task="spans"))
    drawn, page = best(lambda: render_html(report))
    print(f"{sum(map(len, runs)):,} results, {sum(map(len, texts.values())) / 1e6:.0f} million characters")
    print(f"evaluate      {floor:6.2f} s   the floor")
    print(f"build_report  {built:6.2f} s   {built / floor:5.1f} × the floor")
    print(f"render_html   {drawn:6.2f} s   {drawn / floor:5.1f} × the floor")
    print(f"page          {len(page.encode()) / 1e6:6.2f} MB  of 5 MB")


if __name__ == "__main__":
    main()
