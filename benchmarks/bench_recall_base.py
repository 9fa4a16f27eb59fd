"""Recall bases made of highlights: time and anonymous memory of scoring thorough and focused runs over real articles.

    FOCUSEVAL_DATA=… python benchmarks/bench_recall_base.py [copies] [topics] [relevant documents per topic] [repeats]

The articles of ``$FOCUSEVAL_DATA/plos`` stand under `copies` different ids in one index. Every relevant document has
one to three highlights; runs return 1500 elements a topic, a third of them from relevant documents. Each case is one
``focuseval score`` in a process of its own, whose anonymous memory is sampled while it runs; times are processor
times. "Two at once" are two runs in two threads, which share one recall base. The floor is a process
that imports the package and reads the elements' columns of the relevant documents once, with the same index.
FOCUSEVAL_BASE may name another checkout of the project: it then scores the same files, in alternation.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from focuseval.collection.build import build_index
from focuseval.collection.store import open_index

RESULTS = 1500
MEASURES = ("-m", "nxCG@10", "-m", "MAep")
CASES = {
    "thorough": ("thorough", "--task", "thorough", *MEASURES),
    "focused, repaired": ("focused", "--task", "focused", "--repair", *MEASURES, "-m", "MAiP"),
    "two at once, repaired": ("focused", "thorough", "--task", "focused", "--repair", "--jobs", "2", *MEASURES),
}
FLOOR = """
import sys
import focuseval.evaluation
from focuseval.collection.store import open_index
index = open_index(sys.argv[1])
rows = sorted({line.split()[2] for line in open(sys.argv[2])})
found = index.find(rows)
print(sum(int(index.elements(row).end.sum()) for row in found))
"""


def copied(source, folder, copies):
    """Write every article under `copies` ids; symbolic links, so that the disk holds each once."""
    for copy in range(copies):
        (folder / f"copy{copy}").mkdir(parents=True)
        for article in sorted(source.glob("*.xml")):
            (folder / f"copy{copy}" / article.name).symlink_to(article)


def write_files(folder, index, topics, relevant, seed=12):
    """A gold of highlights and two runs over the documents of an index."""
    rng = np.random.default_rng(seed)
    ids = index.ids.to_pylist()
    chosen = [rng.choice(len(ids), min(relevant, len(ids)), replace=False) for _ in range(topics)]
    with (folder / "gold").open("w") as gold:
        for topic, documents in enumerate(chosen):
            gold.writelines(judgement(rng, topic, ids[row], int(index.lengths[row])) for row in documents.tolist())
    for name in ("thorough", "focused"):
        with (folder / name).open("w") as run:
            for topic, documents in enumerate(chosen):
                rows, paths = results(rng, index, documents)
                run.writelines(
                    f"{topic} Q0 {ids[row]} {rank} {1 / rank:.6f} run {path}\n"
                    for rank, (row, path) in enumerate(zip(rows.tolist(), paths, strict=True), 1)
                )


def judgement(rng, topic, document, length):
    """A line of the gold: one to three disjoint highlights of up to a tenth of the text each."""
    edges = np.sort(rng.choice(10, rng.integers(1, 4), replace=False)) * (length // 10)
    marks = [(int(edge), int(rng.integers(1, length // 10))) for edge in edges]
    spans = " ".join(f"{start}:{size}" for start, size in marks)
    return f"{topic} Q0 {document} {sum(size for _, size in marks)} {length} {marks[0][0]} {spans}\n"


def results(rng, index, relevant):
    """Different elements in random order, a third of them in relevant documents: rows of documents and paths."""
    bounds = index.element_bounds
    inside = np.concatenate([np.arange(bounds[row], bounds[row + 1]) for row in relevant])
    elements = np.unique(np.r_[rng.choice(inside, RESULTS // 3), rng.integers(0, bounds[-1], RESULTS)])
    elements = rng.permutation(elements)[:RESULTS]
    return np.searchsorted(bounds, elements, "right") - 1, index.path_strings(elements).to_pylist()


def watched(command, source, folder):
    """Run a command with a checkout's sources: return its processor seconds and most megabytes of anonymous memory."""
    most, ended = 0, 0
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env=environment)
        status = Path(f"/proc/{process.pid}/status")
        while not ended:
            most = max(most, anonymous(status))
            time.sleep(0.002)
            ended, process.returncode, used = os.wait4(process.pid, os.WNOHANG)
    if process.returncode:
        sys.exit((folder / "out").read_text())
    return used.ru_utime + used.ru_stime, most / 1024


def anonymous(status):
    """Kilobytes of anonymous memory that a process holds, 0 when it has just ended."""
    try:
        lines = [line for line in status.read_text().splitlines() if line.startswith("RssAnon")]
    except OSError:
        return 0
    return int(lines[0].split()[1]) if lines else 0


def checkouts():
    """Interpreter and sources of this checkout and, if there is one to compare with, of the other."""
    found = {"here": (sys.executable, Path(__file__).resolve().parents[1] / "src")}
    if base := os.environ.get("FOCUSEVAL_BASE"):
        own = Path(base) / ".venv/bin/python"
        found["base"] = (str(own) if own.exists() else sys.executable, Path(base) / "src")
    return found


def main(copies=25, topics=100, relevant=50, repeats=3):
    data = Path(os.environ.get("FOCUSEVAL_DATA", "")) / "plos"
    if not data.is_dir():
        print("real articles are needed: FOCUSEVAL_DATA names no folder with 'plos' in it; nothing measured")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(data, folder / "articles", copies)
        build_index(folder / "articles", folder / "index")
        index = open_index(folder / "index")
        write_files(folder, index, topics, relevant)
        print(f"{len(index):,} documents, {index.element_bounds[-1]:,} elements; {topics} topics × {relevant} relevant")
        measured(folder, repeats)


def measured(folder, repeats):
    """Print every case's best time and largest memory as ratios of the floor, and of the other checkout's."""
    python, source = checkouts()["here"]
    floor = [watched([python, "-c", FLOOR, "index", "gold"], source, folder) for _ in range(repeats)]
    show("floor: read the columns", floor, floor)
    for case, arguments in CASES.items():
        taken, values = {}, set()
        for _ in range(repeats):
            for name, (python, source) in checkouts().items():
                command = [python, "-m", "focuseval", "score", "gold", *arguments, "--index", "index"]
                figures = watched([*command, "--format", "json", "--per-topic", "-o", "scores"], source, folder)
                taken.setdefault(name, []).append(figures)
                values.add((folder / "scores").read_bytes().split(b'"runs"')[1])
        for name, figures in taken.items():
            show(f"{case}, {name}", figures, floor)
        if "base" in taken:
            show(f"{case}, here / base", taken["here"], taken["base"])
            print("equal values" if len(values) == 1 else "VALUES DIFFER")


def show(label, figures, floor):
    seconds, megabytes = min(used for used, _ in figures), max(most for _, most in figures)
    times, size = seconds / min(used for used, _ in floor), megabytes / max(most for _, most in floor)
    print(f"{label:36} {seconds:6.2f} s {megabytes:6.0f} MB anonymous   {times:5.2f} × time, {size:5.2f} × memory")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
