"""How fast runs are read, beside the floors measured in the same run: the bytes, Arrow's columns, expat alone.

    python benchmarks/bench_read.py [--lines 1500000] [--trec 10000000] [--results 300000]

The machine may be shared: every figure is the best of several repeats.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from focuseval.formats import open_source, read_run
from focuseval.formats.xml import EventReader

RUN = '<inex-submission participant-id="1" run-id="bench" task="Focused" query="automatic">\n{}</inex-submission>\n'
RESULT = (
    "<result><file>{}</file><path>/article[1]/bdy[1]/sec[{}]/p[{}]</path><rank>{}</rank><rsv>{:.6f}</rsv></result>\n"
)


def best(work, repeats=5):
    """Seconds of the fastest of several repeats."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def rows(count, per_topic, seed=0):
    """Yield topic, document, rank and score."""
    random = np.random.default_rng(seed)
    for first in range(0, count, per_topic):
        documents = random.choice(8_000_000, per_topic, replace=False).tolist()
        scores = np.sort(random.random(per_topic) * 20)[::-1].tolist()
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1):
            yield 2009000 + first // per_topic, document, rank, score


def write_text(path, count, place):
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{t} Q0 {d} {r} {s:.6f} bench{place(d)}\n" for t, d, r, s in rows(count, 1000))


def write_xml(path, count):
    topics = {}
    for topic, document, rank, score in rows(count, 1500):
        topics.setdefault(topic, []).append(RESULT.format(document, document % 9 + 1, document % 7 + 1, rank, score))
    body = "".join(f'<topic topic-id="{t}">\n{"".join(results)}</topic>\n' for t, results in topics.items())
    path.write_text(RUN.format(body), encoding="utf-8")


def arrow_floor(path, names, wanted):
    """Arrow reading the same columns from the same file, and nothing else."""
    csv.read_csv(
        path,
        csv.ReadOptions(column_names=names, block_size=1 << 22),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(include_columns=list(wanted), column_types=wanted),
    )


def report(what, count, seconds, floor, floor_seconds):
    print(f"{what:38} {count / seconds / 1e6:6.2f} M/s  {seconds:6.2f} s  {seconds / floor_seconds:5.2f} × {floor}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_500_000)
    parser.add_argument("--trec", type=int, default=10_000_000)
    parser.add_argument("--results", type=int, default=300_000)
    size = parser.parse_args()
    names = ["topic", "Q0", "document", "rank", "score", "run", "place", "length"]
    strings = dict.fromkeys(("topic", "document", "run"), pa.string()) | {"score": pa.float64(), "rank": pa.int32()}
    with tempfile.TemporaryDirectory() as folder:
        floor = 0.0
        for what, count, columns, place in (
            ("text run, paths", size.lines, 7, lambda d: f" /article[1]/bdy[1]/sec[{d % 9 + 1}]"),
            ("text run, offsets", size.lines, 8, lambda d: f" {d % 5000} {d % 900}"),
            ("text run, offsets, two blanks", size.lines, 8, lambda d: f"  {d % 5000} {d % 900}"),
            ("TREC run", size.trec, 6, lambda _: ""),
        ):
            path = Path(folder) / "run"
            write_text(path, count, place)
            if "blanks" not in what:
                floor = best(lambda p=path, c=columns: arrow_floor(p, names[:c], strings), 3)
            report(what, count, best(lambda p=path: read_run(p)), "Arrow reading the columns of a tidy file", floor)
        path = Path(folder) / "run.xml"
        write_xml(path, size.results)
        floor = best(lambda: EventReader(open_source(path)).read())
        report("XML run", size.results, best(lambda: read_run(path)), "expat without handlers", floor)


if __name__ == "__main__":
    main()
