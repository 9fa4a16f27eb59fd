"""What a small command costs from the shell, beside importing the libraries that it cannot do without.

Commands and floor are started in turns, so that a busy machine slows all of them alike::

    python benchmarks/bench_startup.py [repeats]

The floor is a Python that imports NumPy, ``pyarrow.compute`` and click, and ends. Sources are compiled once before.
Seconds of a clock, and of the processor, which depend less on what else the machine does.
"""

import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import focuseval
import focuseval.example

EXAMPLE = Path(focuseval.example.__file__).parent
FLOOR = [sys.executable, "-c", "import numpy, pyarrow.compute, click"]
FOCUSEVAL = [sys.executable, "-m", "focuseval"]
FOCUSED = [str(path) for path in sorted((EXAMPLE / "runs" / "focused").glob("*.xml"))]
RIC = str(EXAMPLE / "runs" / "relevant-in-context" / "careful.txt")
COMMANDS = {
    "--help": [*FOCUSEVAL, "--help"],
    "score, four lines of a TREC run": [*FOCUSEVAL, "score", "four.qrels", "four.run"],
    "score, the demo's focused runs": [
        *FOCUSEVAL, "score", str(EXAMPLE / "gold" / "assessments"), *FOCUSED, "--task", "focused",
        "--profile", "inex2006",
    ],
    "inex-eval": [*FOCUSEVAL, "inex-eval", "-r", str(EXAMPLE / "gold" / "qrels.txt"), RIC],
}  # fmt: skip


def seconds(command: list[str], folder: str) -> tuple[float, float]:
    before, begin = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    taken, after = time.perf_counter() - begin, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return taken, used


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    compileall.compile_dir(str(Path(focuseval.__file__).parent), quiet=1)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ("floor", *COMMANDS)}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "four.qrels").write_text("1 0 d1 1\n2 0 d3 1\n")
        Path(folder, "four.run").write_text(
            "1 Q0 d1 1 2.0 four\n1 Q0 d2 2 1.0 four\n2 Q0 d1 1 2.0 four\n2 Q0 d3 2 1.0 four\n"
        )
        for _ in range(repeats):
            taken["floor"].append(seconds(FLOOR, folder))
            for name, command in COMMANDS.items():
                taken[name].append(seconds(command, folder))
    for unit, column in (("clock", 0), ("processor", 1)):
        best, middle = least_and_median(taken["floor"], column)
        print(f"{unit + ', floor':40} {best:.3f} s best {middle:.3f} s median")
        for name in COMMANDS:
            low, half = least_and_median(taken[name], column)
            ratios = f"{low / best:.2f} × / {half / middle:.2f} × the floor"
            print(f"{unit + ', ' + name:40} {low:.3f} s best {half:.3f} s median   {ratios}")


def least_and_median(taken: list[tuple[float, float]], column: int) -> tuple[float, float]:
    return min(one[column] for one in taken), statistics.median(one[column] for one in taken)


if __name__ == "__main__":
    main()
