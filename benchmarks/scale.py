"""Large work: time, memory and the longest silence on a terminal, beside a quarter of the size.

    python benchmarks/scale.py [SHARE] [CASE ...]     'make scale' runs all of it

Every case is made from one seed, in its full size and in a quarter of it, and run as a user runs it, on a
pseudo-terminal. SHARE is the part of the full size that is asked for (1, or 0.1 where there is little time). For a
case of four times the size, time and memory may be 4.6 times as much; what is more is marked. The seconds depend on
the machine and on what else it does, and so do ratios of cases that take less than a few seconds.
"""

import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MOST = 4.6
REAL = Path(__file__).parents[1] / "tests" / "real" / "plos"
FOCUSEVAL = [sys.executable, "-m", "focuseval"]


@dataclass(frozen=True)
class Measured:
    """What one command took."""

    seconds: float
    processor: float
    megabytes: float
    silence: float
    code: int


def measure(command, folder):
    """Run a command on a pseudo-terminal; memory and processor time are those of the process itself."""
    terminal, other = pty.openpty()
    begin = last = time.perf_counter()
    process = subprocess.Popen([*FOCUSEVAL, *command], cwd=folder, stdin=other, stdout=other, stderr=other)
    os.close(other)
    silence, printed = 0.0, b""
    while True:
        ready = select.select([terminal], [], [], 0.05)[0]
        try:
            piece = os.read(terminal, 1 << 16) if ready else None
        except OSError:  # the last end of the terminal is closed
            break
        if piece:
            now = time.perf_counter()
            silence, last, printed = max(silence, now - last), now, (printed + piece)[-2000:]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    os.close(terminal)
    end = time.perf_counter()
    if process.returncode:
        print(printed.decode("utf-8", "replace"), file=sys.stderr)
    used = usage.ru_utime + usage.ru_stime
    return Measured(end - begin, used, usage.ru_maxrss / 1e3, max(silence, end - last), process.returncode)


def campaign(folder, topics, runs=100, results=10):
    """Write qrels and TREC runs, each a little better than the one before; return their names."""
    rng = np.random.default_rng(0)
    (folder / "qrels").write_text("".join(f"{t} 0 d{t}-{d} {int(d < 5)}\n" for t in range(topics) for d in range(40)))
    ease, names = rng.normal(0, 0.7, topics), []
    for number in range(runs):
        belief = rng.normal(0, 1, (topics, 40))
        belief[:, :5] += 0.6 + 0.6 * number / runs + ease[:, None]
        best = np.argsort(-belief, axis=1)[:, :results].tolist()
        lines = (f"{t} Q0 d{t}-{d} {r} {50 - r} r{number}\n" for t, own in enumerate(best) for r, d in enumerate(own))
        names.append(f"run{number:03}")
        (folder / names[-1]).write_text("".join(lines))
    return ["qrels", *names]


def compare(folder, topics):
    return ["compare", *campaign(folder, topics), "-m", "AP"]


def report(folder, topics):
    return ["report", *campaign(folder, topics), "-m", "AP", "-o", "report.html"]


def many_runs(folder, runs):
    return ["report", *campaign(folder, 50, runs), "-m", "AP", "-o", "report.html", "--cluster", "local:2"]


def pool(folder, documents):
    """Write runs whose first hundred results of fifty topics are, together, nearly so many different documents."""
    rng, names, topics, depth = np.random.default_rng(0), [], 50, 100
    each = max(depth, documents // topics)
    for run in range(3 * each // depth):
        names.append(f"run{run:03}")
        found = [rng.choice(each, depth, replace=False).tolist() for _ in range(topics)]
        lines = (f"{t} Q0 {t}-{d} {r} {200 - r} r{run}\n" for t in range(topics) for r, d in enumerate(found[t], 1))
        (folder / names[-1]).write_text("".join(lines))
    return ["pool", *names, "--depth", str(depth), "-o", "pool.jsonl"]


def highlights(folder, spans):
    """Write a gold of so many highlights, ten in a document, and a run that finds some of them."""
    rng, topics = np.random.default_rng(0), 100
    with (folder / "gold.jsonl").open("w") as gold, (folder / "run.jsonl").open("w") as run:
        for number, at in enumerate(rng.integers(0, 400, (spans // 10, 10)).tolist()):
            marks = ", ".join(f'{{"start": {k * 1000 + a}, "end": {k * 1000 + a + 300}}}' for k, a in enumerate(at))
            gold.write(f'{{"topic": "{number % topics}", "doc": "d{number}", "length": 10000, "spans": [{marks}]}}\n')
            if number % 50 < 5:
                line = f'"topic": "{number % topics}", "doc": "d{number}", "rank": {number // topics + 1}'
                run.write(f'{{{line}, "score": {1 / (number + 1)}, "start": 0, "end": 5000}}\n')
    return ["score", "gold.jsonl", "run.jsonl", "-m", "spanR@1000", "-m", "MAgP"]


def articles(folder, megabytes):
    """Write the real articles again and again, each under its own name with its words in another order."""
    rng, sources, size, number = np.random.default_rng(0), sorted(REAL.glob("*.xml")), 0, 0
    (folder / "articles").mkdir()
    while size < megabytes * 1e6:
        content = sources[number % len(sources)].read_text(encoding="utf-8")
        lines = content.split(" the ")
        inner = [line for line in lines if "<" not in line and ">" not in line]
        drawn = iter(rng.permutation(inner).tolist() if inner else [])
        content = " the ".join(next(drawn) if "<" not in line and ">" not in line else line for line in lines)
        (folder / "articles" / f"{number:07}.xml").write_text(content, encoding="utf-8")
        size, number = size + len(content), number + 1
    return number


def index(folder, megabytes):
    articles(folder, megabytes)
    return ["index", "articles", "-o", "articles.idx", "--jobs", "1"]


def sweep(folder, megabytes):
    """Write plain texts and questions whose answers are sentences of them; eight chunkings."""
    rng, size, number, words = np.random.default_rng(0), 0, 0, [f"w{k}" for k in range(20_000)]
    (folder / "docs").mkdir()
    with (folder / "gold.jsonl").open("w") as gold:
        while size < megabytes * 1e6:
            drawn = np.minimum(rng.zipf(1.3, 1500), 20_000) - 1
            sentences = [" ".join(words[k] for k in part) + "." for part in np.split(drawn, 100)]
            text, at = "\n".join(sentences), sum(len(one) + 1 for one in sentences[:50])
            (folder / "docs" / f"d{number}.txt").write_text(text)
            if number % 40 == 0 and number < 8000:
                quote, query = sentences[50], " ".join(sentences[50].split()[:6])
                span = f'{{"start": {at}, "end": {at + len(quote)}, "quote": "{quote}"}}'
                gold.write(f'{{"topic": "q{number}", "query": "{query}", "doc": "d{number}", "spans": [{span}]}}\n')
            size, number = size + len(text), number + 1
    kinds = "characters:400", "characters:1000", "characters:1000/500", "words:100", "words:200", "words:200/100"
    chunkings = [word for kind in (*kinds, "sentences:5", "sentences:10") for word in ("--chunks", kind)]
    return ["sweep", "gold.jsonl", "--docs", "docs", *chunkings]


CASES = {
    "compare": (compare, 500, "topics of 100 runs"),
    "report": (report, 500, "topics of 100 runs"),
    "many runs": (many_runs, 10_000, "runs of 50 topics"),
    "pool": (pool, 100_000, "documents"),
    "highlights": (highlights, 1_000_000, "highlights"),
    "index": (index, 2_300, "MB of XML"),
    "sweep": (sweep, 84, "MB, eight chunkings"),
}


def main(share, names):
    head = f"{'':11}{'size':>26} {'seconds':>9} {'processor':>10} {'memory MB':>10} {'longest silence':>16}"
    print(head, flush=True)
    late = 0
    for name in names:
        make, full, unit = CASES[name]
        taken = []
        for size in (max(4, int(full * share) // 4), max(16, int(full * share))):
            with tempfile.TemporaryDirectory() as folder:
                command = make(Path(folder), size)
                one = measure(command, folder)
            taken.append(one)
            sizes = f"{size:,} {unit}"
            numbers = f"{one.seconds:9.1f} {one.processor:10.1f} {one.megabytes:10.0f} {one.silence:14.1f} s"
            print(f"{name:11}{sizes:>26} {numbers}", flush=True)
            late += one.code != 0
        ratios = taken[1].processor / taken[0].processor, taken[1].megabytes / taken[0].megabytes
        late += (over := max(ratios) > MOST)
        print(
            f"{name:11}{'4 × the size':>26} {'':9} {ratios[0]:8.2f} × {ratios[1]:8.2f} × {'MORE' if over else ''}",
            flush=True,
        )
    return int(late > 0)


if __name__ == "__main__":
    given = sys.argv[1:]
    part = float(given.pop(0)) if given and given[0][0].isdigit() else 1.0
    sys.exit(main(part, given or list(CASES)))
