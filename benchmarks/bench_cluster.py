"""What a Dask cluster of this machine gives, against local processes and against one worker, in one run.

    python benchmarks/bench_cluster.py [rounds]

Index, and scores of many runs: two workers of a cluster against one, and against two local processes. A crew is started
for its round, does a little of the work and is timed, and is gone before the next one comes; wall time, the least of
all rounds. Client and scheduler share the machine with the workers; where there are two cores only, the processor
seconds beside the wall time say what a third would give. Then tasks a second, and the requests that opening an index of
a million elements on object storage takes (moto's server, which the group `test` has).
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import bench_trec
import psutil
from bench_index import write_articles

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from focuseval.collection.build import build_index
from focuseval.collection.store import open_index
from focuseval.engine.cluster import connected
from focuseval.engine.workers import processes
from focuseval.evaluation.evaluation import evaluate
from object_store import object_store

ARTICLES, ROUNDS = 36_000, 5
RUNS, TOPICS, RESULTS = 480, 40, 1000
TASKS = 1_000
CREWS = {
    "one worker": lambda: connected("local:1"),
    "two workers": lambda: connected("local:2"),
    "two processes": lambda: processes(2),
}


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


def compared(works, rounds):
    """Time every work by every crew, round by round, so that a busy moment meets all of them."""
    times = {}
    for _ in range(rounds):
        for crew, start in CREWS.items():
            with start() as workers:
                for name, work in works.items():
                    work(workers, little=True)
                    times.setdefault((name, crew), []).append(spent(lambda: work(workers)))  # noqa: B023  called at once
    return {key: [min(column) for column in zip(*found, strict=True)] for key, found in times.items()}


def printed(name, size, unit, least):
    wall, own, others = ({crew: least[name, crew][n] for crew in CREWS} for n in range(3))
    one, two, local = wall["one worker"], wall["two workers"], wall["two processes"]
    print(f"{name}: {size / two:,.1f} {unit} a second by two workers, {size / one:,.1f} by one")
    print(f"  wall: two workers {one / two:.2f} × one (1.7), {local / two:.2f} of two local processes' speed (.85)")
    busiest = max(own["two workers"], others["two workers"] / 2)
    total = {crew: own[crew] + others[crew] for crew in CREWS}
    print(
        f"  processor: {total['two workers']:.2f} s by two workers, {own['two workers']:.2f} s of it in this process "
        f"(allows {others['one worker'] / busiest:.2f} × one); two local processes {total['two processes']:.2f} s"
    )


def allocator(work, rounds):
    """What it would cost to have memory given back to the system at once, as Dask asks its workers to."""
    least = {}
    for asked in ({}, {"MALLOC_TRIM_THRESHOLD_": "65536"}):
        os.environ.update(asked)  # which workers inherit
        with CREWS["two workers"]() as workers:
            work(workers, little=True)
            least[len(asked)] = min(timed(lambda: work(workers)) for _ in range(rounds))
        for name in asked:
            del os.environ[name]
    print(f"  with Dask's own setting of the allocator: {least[1] / least[0]:.2f} × as long")


def indexing(folder):
    """Write articles; return what indexes them, and their size in MB."""
    write_articles(folder / "articles", ARTICLES)
    files = sorted((folder / "articles").rglob("*.xml"))

    def work(workers, *, little=False):
        if little:  # before the clock runs, which the removal of an older index is not for
            shutil.rmtree(folder / "index", ignore_errors=True)
            build_index(files[:3_000], folder / "little", workers=workers, force=True)
        else:
            build_index(folder / "articles", folder / "index", workers=workers)

    return work, sum(path.stat().st_size for path in files) / 1e6


def scoring(folder):
    """Write runs, all of the same content; return what scores them."""
    bench_trec.write_files(folder, TOPICS, RESULTS, seed=1)
    runs = [folder / f"run-{number}" for number in range(RUNS)]
    for run in runs:
        run.hardlink_to(folder / "run")

    def work(workers, *, little=False):
        evaluate(folder / "qrels", runs[:48] if little else runs, ["AP", "P@10", "nDCG@10"], workers=workers)

    return work


def tasks():
    with CREWS["two workers"]() as workers:
        least = min(timed(lambda: list(workers.in_order(abs, range(TASKS)))) for _ in range(ROUNDS))
    print(f"{TASKS:,} tasks that do nothing: {least / TASKS * 1000:.2f} ms each (at most 5)")


def rates(folder):
    """What one core indexes in a second of processor time: the same articles as XML, as HTML and as plain text."""
    articles = sorted((folder / "articles").rglob("*.xml"))[:3000]
    size = sum(path.stat().st_size for path in articles) / 1e6
    for ending in (".xml", ".html", ".txt"):
        place = folder / f"one{ending}"
        place.mkdir()
        for path in articles:
            (place / path.name).with_suffix(ending).write_bytes(path.read_bytes())
        least = min(one_core(place, folder / "one.idx") for _ in range(ROUNDS))
        made = sum(path.stat().st_size for path in (folder / "one.idx").iterdir()) / 1e6
        print(f"{ending[1:]}: {size / least:.0f} MB a second of one core, index {made / size:.1f} × the source")


def one_core(source, target):
    """Processor seconds of an index by one process."""
    begin = time.process_time()
    build_index(source, target, jobs=1, force=True)
    return time.process_time() - begin


def opening(folder):
    with object_store() as store:
        built = build_index(folder / "articles", store.url("many.idx"))
        with store.counted() as seen:
            taken = timed(lambda: open_index(store.url("many.idx")))
    print(f"opening an index of {built.elements:,} elements: {len(seen)} requests (at most 10), {taken:.2f} s")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        index, size = indexing(folder)
        articles, runs = f"index of {size:.0f} MB", f"{RUNS} runs of {TOPICS * RESULTS:,} lines"
        score = scoring(folder)
        least = compared({articles: index, runs: score}, rounds)
        printed(articles, size, "MB", least)
        printed(runs, RUNS, "runs", least)
        allocator(score, rounds)
        tasks()
        rates(folder)
        opening(folder)


if __name__ == "__main__":
    main()
