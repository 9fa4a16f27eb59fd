"""A campaign of the size of INEX 2009, simulated: 2.7 million articles in 50 GB of XML, 170 runs of 120 topics.

    python benchmarks/inex2009.py [MEGABYTES] [RUNS]

Articles are those of ``tests/real`` with their words in another order; runs and qrels are drawn (`bench_inex.py`). Each
step is measured in two sizes that fit on this machine, the larger four times the smaller, and extrapolated to the
campaign along the line through the two. Seconds are those of one processor core; indexing and reading words share
their work among cores and machines (`bench_cores.py`, `bench_cluster.py` measure how well). Memory includes what is
mapped of an index, which the system takes back when others need it.
"""

import sys
import tempfile
from pathlib import Path

from bench_inex import RESULTS, TOPICS, write_files
from scale import articles, measure

ARTICLES_MB, CAMPAIGN_RUNS = 50_000, 170
QUERIES = ("protein structure", "clinical trial of a vaccine", "statistical power of a study", "evolution of species")


def documents(folder, megabytes):
    """Steps whose cost is that of the collection: name, seconds of the processor, megabytes of memory or of disk."""
    number = articles(folder, megabytes)
    lines = "".join(f'{{"id": "{k}", "question": "{QUERIES[k % 4]} {k}"}}\n' for k in range(TOPICS))
    (folder / "topics.jsonl").write_text(lines)
    index = measure(["index", "articles", "-o", "all.idx", "--jobs", "1"], folder)
    disk = sum(file.stat().st_size for file in (folder / "all.idx").rglob("*") if file.is_file()) / 1e6
    retrieve = ["retrieve", "all.idx", "topics.jsonl", "-o", "run.jsonl", "--to", "run-jsonl", "--jobs", "1"]
    words = measure(retrieve, folder)
    (folder / "run.jsonl").unlink()
    again = measure(retrieve, folder)
    return number, {
        "index": (index.processor, index.megabytes, disk),
        "read words": (words.processor - again.processor, words.megabytes, 0),
        f"retrieve {TOPICS} topics": (again.processor, again.megabytes, 0),
    }


def runs(folder, number):
    """Steps whose cost is that of the runs."""
    write_files(folder, number)
    names = [f"run{k}" for k in range(number)]
    official = [word for name in ("MAiP", "iP@0.01", "MAgP", "gP@10") for word in ("-m", name)]
    score = measure(["score", "qrels", *names, *official, "--jobs", "1"], folder)
    compare = measure(["compare", "qrels", *names, "-m", "MAiP", "--jobs", "1"], folder)
    pool = measure(["pool", *names, "--depth", "100", "-o", "pool.jsonl"], folder)
    steps = (("score", score), ("compare", compare), ("pool", pool))
    return {name: (one.processor, one.megabytes, 0) for name, one in steps}


def show(unit, campaign, small, large, measured):
    """Print both sizes and the line through them, for time; memory and disk likewise."""
    print(f"\n{'':22}{'measured':>24}{'':>24}{'extrapolated':>24}")
    print(f"{'':22}{f'{small:,} {unit}':>24}{f'{large:,} {unit}':>24}{f'{campaign:,} {unit}':>24}")
    for name, values in measured[1].items():
        for kind, before, after in zip(("s", "MB of memory", "MB of disk"), measured[0][name], values, strict=True):
            if not after:
                continue
            far = after + (after - before) / (large - small) * (campaign - large)
            cells = "".join(f"{f'{value:,.1f} {kind}':>24}" for value in (before, after, max(far, after)))
            print(f"{name:22}{cells}")


def main(megabytes=200, number=40):
    taken = []
    for size in (megabytes // 4, megabytes):
        with tempfile.TemporaryDirectory() as folder:
            count, steps = documents(Path(folder), size)
        taken.append(steps)
        print(f"{size} MB of XML are {count:,} articles", flush=True)
    show("MB of XML", ARTICLES_MB, megabytes // 4, megabytes, taken)
    taken = []
    for size in (number // 4, number):
        with tempfile.TemporaryDirectory() as folder:
            taken.append(runs(Path(folder), size))
    show(f"runs of {TOPICS} × {RESULTS}", CAMPAIGN_RUNS, number // 4, number, taken)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
