"""How much of the work other cores can take: processor time by stage, and what that allows on 16 cores.

    python benchmarks/bench_cores.py

Index, many runs, one huge run. What this process does alone is serial, what tasks do is parallel; Amdahl's law says
how many times faster 16 cores can be than one if nothing overlaps; tasks are made while others are done, so the bound
of the pipeline (the slower of the two) is given as well. To tell the two apart this process does no task here, which
it does otherwise; files are pushed to the disk by threads at once, which counts as parallel. Start is what a part of
the work takes as well, by extrapolation to none: Python, imports, workers. For index and many runs one process against
two is timed, too, start included.
"""

import contextlib
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench_trec
from bench_index import write_articles

CORES = 16
FILES, FEW = 36_000, 6
"""Articles, in directories of a thousand, and how many directories the smaller index has."""
RUNS, TOPICS, RESULTS = 192, 40, 1000
HUGE = 10_000, 1000

COUNT = """
import resource, sys, time
from dataclasses import replace
def cpu(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime
import numpy, pyarrow.compute, loky, cloudpickle
from focuseval import workers
{imports}
begun = cpu()
helps = workers.processes
def alone(jobs):
    from contextlib import contextmanager
    @contextmanager
    def made():
        with helps(jobs + 1) as found:
            yield replace(found, helps=False)
    return made()
workers.processes = alone
threads = [0.0]
{patch}
work = {work}
work()
print(begun, cpu() - begun - sum(threads), cpu(resource.RUSAGE_CHILDREN) + sum(threads))
"""

INDEX = {
    "imports": "from focuseval.collection import build",
    "patch": """
from focuseval.collection import store
pushed = store.sync
def sync(path):
    before = time.thread_time()
    pushed(path)
    threads.append(time.thread_time() - before)
store.sync = sync
""",
    "work": "lambda: build.build_index(sys.argv[1:-1], f'{sys.argv[-1]}-{begun}', jobs={jobs})",
}
SCORE = {
    "imports": "from focuseval import evaluate; import glob",
    "patch": "",
    "work": "lambda: evaluate(sys.argv[1], sorted(glob.glob(sys.argv[2])), ['AP', 'P@10', 'nDCG@10'], jobs={jobs})",
}


def spent(parts, *arguments, jobs=2):
    """Processor seconds of this process and of its workers, the least of three times each."""
    script = COUNT.format(**{name: part.replace("{jobs}", str(jobs)) for name, part in parts.items()})
    command = [sys.executable, "-c", script, *map(str, arguments)]
    times = [tuple(map(float, subprocess.check_output(command, text=True).split())) for _ in range(3)]
    return min(begun + serial for begun, serial, _ in times), min(others for *_, others in times)


def stages(few, every, share):
    """Start, serial and parallel seconds, from what a share of the work and all of it took."""
    (serial_few, parallel_few), (serial, parallel) = few, every
    growth = 1 / (1 - share)
    grown = (serial - serial_few) * growth, (parallel - parallel_few) * growth
    return serial - grown[0] + parallel - grown[1], *grown


def limit(serial, parallel):
    return (serial + parallel) / (serial + parallel / CORES)


def show(name, start, serial, parallel):
    whole = serial + parallel
    print(
        f"{name:34} start {start:5.2f} s, serial {serial:6.2f} s ({serial / whole:5.1%}), parallel {parallel:6.2f} s: "
        f"{limit(serial, parallel):4.1f} × on {CORES} cores, {whole / max(serial, parallel / CORES):4.1f} × overlapped"
    )


def wall(*command):
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "focuseval", *map(str, command)], check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return min(times)


def huge_run(folder):
    """Threads: what one core needs for the gold, and for reading and scoring blocks, which all cores do."""
    script = """
import sys, time
import numpy, pyarrow.compute
from focuseval import evaluate
from focuseval.formats import read_gold
start = time.process_time()
gold = read_gold(sys.argv[1]); middle = time.process_time()
evaluate(gold, sys.argv[2], ["AP", "P@10", "nDCG@10"])
print(start, middle - start, time.process_time() - middle)
"""
    command = [sys.executable, "-c", script, str(folder / "qrels"), str(folder / "run")]
    start, gold, blocks = map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    show("one run of 10 million lines", start, gold, blocks)
    print(f"{'':34} (the gold is read while other cores read blocks)")


def many_runs(folder):
    for number in range(RUNS):
        place = folder / "runs" / str(number)
        place.mkdir(parents=True)
        with contextlib.suppress(FileExistsError):
            bench_trec.write_files(place, TOPICS, RESULTS, seed=1)
    gold, pattern = folder / "runs" / "0" / "qrels", folder / "runs" / "*" / "run"
    few = spent(SCORE, gold, folder / "runs" / "?[05]" / "run")
    share = len(list((folder / "runs").glob("?[05]/run"))) / RUNS
    show(f"{RUNS} runs of {TOPICS * RESULTS:,} lines", *stages(few, spent(SCORE, gold, pattern), share))
    runs = sorted(map(str, (folder / "runs").glob("*/run")))
    one, two = (wall("score", gold, *runs, "-m", "AP", "--jobs", jobs) for jobs in (1, 2))
    print(f"{'':34} two processes {one / two:.2f} × one, from the shell ({one:.2f} s)")


def index(folder):
    write_articles(folder / "articles", FILES)
    size = sum(path.stat().st_size for path in (folder / "articles").rglob("*.xml")) / 1e6
    (folder / "few").mkdir()
    for number in range(FEW):
        (folder / "articles" / f"part-{number}").rename(folder / "few" / f"part-{number}")
    few = spent(INDEX, folder / "few", folder / "index")
    every = spent(INDEX, folder / "few", folder / "articles", folder / "index")
    show(f"index of {size:.0f} MB in {FILES:,} files", *stages(few, every, 1000 * FEW / FILES))
    command = ("index", folder / "few", folder / "articles", "-o", folder / "index", "--force", "--jobs")
    one, two = (wall(*command, jobs) for jobs in (1, 2))
    print(f"{'':34} two processes {one / two:.2f} × one, from the shell ({one:.2f} s)")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        index(folder)
        many_runs(folder)
        (folder / "huge").mkdir()
        bench_trec.write_files(folder / "huge", *HUGE)
        huge_run(folder / "huge")
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
