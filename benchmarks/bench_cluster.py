"""What a Dask cluster of this machine gives, against local processes and against one worker, in one run.

    python benchmarks/bench_cluster.py

Index, and scores of many runs: two workers of a cluster against one, and against two local processes; workers are
started before the clock is. Wall time, the least of some rounds, each of which measures all three; on a machine with
other work the processor seconds of the workers beside them say more. Then tasks a second, and the requests that
opening an index of a million elements on object storage takes (moto's server, which the group `test` has).
"""

import os
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import bench_trec
import psutil
from bench_index import write_articles

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from focuseval.cluster import connected
from focuseval.collection import build_index, open_index
from focuseval.evaluate import evaluate
from focuseval.workers import processes
from object_store import object_store

ARTICLES, ROUNDS = 36_000, 3
RUNS, TOPICS, RESULTS = 96, 40, 1000
TASKS = 1_000


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def spent(work):
    """Wall seconds, and processor seconds of this process and of all others that it started."""
    others = psutil.Process().children(recursive=True)
    before = time.process_time(), sum(sum(one.cpu_times()[:2]) for one in others)
    wall = timed(work)
    after = time.process_time(), sum(sum(one.cpu_times()[:2]) for one in others)
    return wall, after[0] - before[0], after[1] - before[1]


def compared(name, size, unit, work, crews):
    """Time the same work by every crew, round by round, so that a busy moment meets all of them."""
    rounds = [{crew: spent(lambda found=found: work(found)) for crew, found in crews.items()} for _ in range(ROUNDS)]
    wall, own, others = ({crew: min(times[crew][n] for times in rounds) for crew in crews} for n in range(3))
    one, two, local = wall["one worker"], wall["two workers"], wall["two processes"]
    print(f"{name}: {size / two:,.1f} {unit} a second by two workers, {size / one:,.1f} by one")
    print(f"  wall: two workers {one / two:.2f} × one (1.7), {local / two:.2f} of two local processes' speed (.85)")
    busiest = max(own["two workers"], others["two workers"] / 2)
    total = {crew: own[crew] + others[crew] for crew in crews}
    print(
        f"  processor: {total['two workers']:.2f} s by two workers, {own['two workers']:.2f} s of it in this process "
        f"(allows {others['one worker'] / busiest:.2f} × one); two local processes {total['two processes']:.2f} s"
    )


def crews(stack):
    return {
        "one worker": stack.enter_context(connected("local:1")),
        "two workers": stack.enter_context(connected("local:2")),
        "two processes": stack.enter_context(processes(2)),
    }


def index(folder, found):
    write_articles(folder / "articles", ARTICLES)
    size = sum(path.stat().st_size for path in (folder / "articles").rglob("*.xml")) / 1e6
    fresh = (folder / f"index-{number}" for number in count())  # to remove an older one is other work
    work = lambda workers: build_index(folder / "articles", next(fresh), workers=workers)  # noqa: E731
    compared(f"index of {size:.0f} MB", size, "MB", work, found)


def score(folder, found):
    for number in range(RUNS):
        place = folder / "runs" / str(number)
        place.mkdir(parents=True)
        bench_trec.write_files(place, TOPICS, RESULTS, seed=1)
    gold, runs = folder / "runs" / "0" / "qrels", sorted(map(str, (folder / "runs").glob("*/run")))
    work = lambda workers: evaluate(gold, runs, ["AP", "P@10", "nDCG@10"], workers=workers)  # noqa: E731
    compared(f"{RUNS} runs of {TOPICS * RESULTS:,} lines", RUNS, "runs", work, found)


def tasks(found):
    workers = found["two workers"]
    least = min(timed(lambda: list(workers.in_order(abs, range(TASKS)))) for _ in range(ROUNDS))
    print(f"{TASKS:,} tasks that do nothing: {least / TASKS * 1000:.2f} ms each (at most 5)")


def rates(folder):
    """What one core indexes in a second of processor time: the same articles as XML, as HTML and as plain text."""
    articles = sorted((folder / "articles").rglob("*.xml"))[:1000]
    size = sum(path.stat().st_size for path in articles) / 1e6
    for ending in (".xml", ".html", ".txt"):
        place = folder / f"one{ending}"
        place.mkdir()
        for path in articles:
            (place / path.name).with_suffix(ending).write_bytes(path.read_bytes())
        begin = time.process_time()
        build_index(place, folder / "one.idx", jobs=1, force=True)
        rate = size / (time.process_time() - begin)
        made = sum(path.stat().st_size for path in (folder / "one.idx").iterdir()) / 1e6
        print(f"{ending[1:]}: {rate:.0f} MB a second of one core, index {made / size:.1f} × the source")


def opening(folder):
    with object_store() as store:
        built = build_index(folder / "articles", store.url("many.idx"))
        with store.counted() as seen:
            taken = timed(lambda: open_index(store.url("many.idx")))
    print(f"opening an index of {built.elements:,} elements: {len(seen)} requests (at most 10), {taken:.2f} s")


def main():
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder, found = Path(scratch), crews(stack)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        index(folder, found)
        score(folder, found)
        tasks(found)
        rates(folder)
        opening(folder)


if __name__ == "__main__":
    main()
