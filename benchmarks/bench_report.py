"""How long a report takes, as a ratio to scoring the same runs, how large it is, and how quickly the page answers.

    python benchmarks/bench_report.py

100 topics × 20 runs × 50 articles, 3,000 documents of 9,000 characters. The floor is `evaluate` under the same
measures. Times are CPU seconds of this process; the page is timed by the clock in a headless Chromium, if there is one,
up to the next picture.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import start_driver
from focuseval.evaluation.evaluation import evaluate
from focuseval.evaluation.sources import as_index
from focuseval.report.build import build_report
from focuseval.report.page import render_html
from strategies.campaigns import campaign

MEASURES = ["MAgP", "gP@5", "gP@10", "MAiP", "iP@0.01", "hAP", "spanR@5"]
CHANGE = """
  const [id, value] = arguments[0];
  const pick = document.getElementById(id);
  const start = performance.now();
  pick.value = value;
  pick.dispatchEvent(new Event('change'));
  return new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))));
"""


def best(work, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def in_a_browser(page):
    """Return milliseconds to the first paint, and of the quickest of three changes of pair and of measure."""
    driver = start_driver()
    try:
        browser = driver.browser()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            path.write_text(page, encoding="utf-8")
            browser.size(1280, 900)
            browser.open(path.as_uri())
            browser.wait("return document.documentElement.dataset.heat")
            paint = browser.run("return performance.getEntriesByType('paint')[0].startTime")
            pair = min(browser.run(CHANGE, ["pick-b", str(run)]) for run in (3, 4, 5))
            measure = min(browser.run(CHANGE, ["pick-measure", str(number)]) for number in (2, 3, 4))
        browser.close()
    finally:
        driver.close()
    return paint, pair, measure


def main():
    gold, runs, texts = campaign(topics=100, runs=20, documents=3000, length=9000, depth=50)
    index = as_index(texts)
    floor, _ = best(lambda: evaluate(gold, runs, MEASURES, index=index, task="spans"))
    built, report = best(lambda: build_report(gold, runs, MEASURES, index=index, task="spans"))
    drawn, page = best(lambda: render_html(report))
    print(f"{sum(map(len, runs)):,} results, {sum(map(len, texts.values())) / 1e6:.0f} million characters")
    print(f"evaluate      {floor:6.2f} s   the floor")
    print(f"build_report  {built:6.2f} s   {built / floor:5.1f} × the floor, of 5 s")
    print(f"render_html   {drawn:6.2f} s   {drawn / floor:5.1f} × the floor")
    print(f"page          {len(page.encode()) / 1e6:6.2f} MB  of 5 MB")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("no Chromium: the page was not timed")
        return
    paint, pair, measure = in_a_browser(page)
    print(f"first paint   {paint:6.0f} ms  of 1,000 ms")
    print(f"another pair  {pair:6.0f} ms  of 100 ms")
    print(f"another measure {measure:4.0f} ms  of 100 ms")


if __name__ == "__main__":
    main()
