"""``focuseval compare`` of 100 runs over 500 topics: processor time, against one bare product of runs and flips."""

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

RUNS, TOPICS, RESULTS, FLIPS = 100, 500, 10, 10_000


def write_campaign(folder: Path) -> list[str]:
    """Write a gold and runs of which each is a little better than the one before; return the files."""
    rng = np.random.default_rng(0)
    files = [folder / "qrels.txt", *(folder / f"run{number:03}.txt" for number in range(RUNS))]
    files[0].write_text("".join(f"{t} 0 d{t}-{d} {int(d < 5)}\n" for t in range(TOPICS) for d in range(40)))
    ease = rng.normal(0, 0.7, TOPICS)
    for number, file in enumerate(files[1:]):
        belief = rng.normal(0, 1, (TOPICS, 40))
        belief[:, :5] += 0.6 + 0.006 * number + ease[:, None]
        best = np.argsort(-belief, axis=1)[:, :RESULTS].tolist()
        lines = (
            f"{t} Q0 d{t}-{d} {r} {RESULTS - r} r{number}\n" for t, own in enumerate(best) for r, d in enumerate(own)
        )
        file.write_text("".join(lines))
    return [str(file) for file in files]


def floor() -> float:
    """Return the processor time of the product of all runs' values with 10,000 flips."""
    rng = np.random.default_rng(0)
    values, signs = rng.random((RUNS, TOPICS)), rng.integers(0, 2, (TOPICS, FLIPS)) * 2.0 - 1
    begin = process_time()
    values @ signs
    return process_time() - begin


def timed(*command: str) -> tuple[float, str]:
    """Return the processor time of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = subprocess.run([sys.executable, "-m", "focuseval", *command], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, printed.stdout


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        files = write_campaign(Path(folder))
        (score, _), (compare, found) = (timed(name, *files, "-m", "AP") for name in ("score", "compare"))
    product = min(floor() for _ in range(5))
    print(next(line for line in found.splitlines() if "differ" in line))
    print(f"{RUNS} runs x {TOPICS} topics: compare {compare:.2f} s of processor time, of which score {score:.2f} s")
    print(f"comparing alone: {(compare - score) / product:.0f} times one product of the runs and {FLIPS:,} flips")
