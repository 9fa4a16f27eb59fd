"""Which columnar engine reads a run fastest? pyarrow against polars, each in a process of its own.

Usage: python benchmarks/bench_engine.py [LINES]     (default 10,000,000; polars is left out where it is not installed)

Both read topic, document and score of the same TREC run with all cores and hand the scores to NumPy. Time includes
reading and parsing; the second table includes starting Python, which is what a small run from the shell costs.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path

READERS = {
    "pyarrow": """
import pyarrow as pa, pyarrow.csv as csv
names = ["topic", "q0", "document", "rank", "score", "run"]
table = csv.read_csv(path, read_options=csv.ReadOptions(column_names=names, block_size=1 << 24),
    parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
    convert_options=csv.ConvertOptions(include_columns=["topic", "document", "score"],
        column_types={"topic": pa.string(), "document": pa.string(), "score": pa.float64()}))
scores = table["score"].to_numpy()
""",
    "polars": """
import polars as pl
names = ["topic", "q0", "document", "rank", "score", "run"]
frame = pl.read_csv(path, has_header=False, separator=" ", quote_char=None, new_columns=names,
    columns=[0, 2, 4], schema_overrides={"column_1": pl.String, "column_3": pl.String, "column_5": pl.Float64})
scores = frame.to_series(2).to_numpy()
""",
}

TIMED = """
import resource, sys, time
path = sys.argv[1]
begin = time.perf_counter()
{reader}
seconds = time.perf_counter() - begin
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(scores))
"""


def write_run(path: Path, lines: int) -> None:
    """A thousand results a topic, ids as long as ClueWeb's, scores that fall."""
    with path.open("w", encoding="ascii") as file:
        for topic in range(max(1, lines // 1000)):
            file.writelines(
                f"{topic} Q0 cw-{(topic * 7919 + rank * 104729) % 99999989:012d} {rank + 1} {30 - rank / 40:.4f} run\n"
                for rank in range(min(1000, lines))
            )


def measure(engine: str, path: Path) -> tuple[float, float, float, int]:
    """Seconds of reading, seconds of the whole process, peak MB, and the number of lines read."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", TIMED.format(reader=READERS[engine]), str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, memory, count = done.stdout.split()
    return float(seconds), time.perf_counter() - begin, float(memory), int(count)


def main(lines: int) -> None:
    engines = [name for name in READERS if importlib.util.find_spec(name)]
    with tempfile.TemporaryDirectory() as folder:
        for size, repeats in ((lines, 3), (10_000, 5)):
            path = Path(folder) / f"{size}.run"
            write_run(path, size)
            best = {name: min(measure(name, path) for _ in range(repeats)) for name in engines}
            for name, (reading, whole, memory, count) in best.items():
                ratio = reading / best["pyarrow"][0]
                print(
                    f"{count:>10,} lines  {name:8} read {reading:6.3f} s ({ratio:4.2f}×)  "
                    f"process {whole:6.3f} s  {memory:5.0f} MB"
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
