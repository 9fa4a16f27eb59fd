"""How fast traces are read, and in how much memory, beside a floor of the same run: msgspec decoding the lines.

    python benchmarks/bench_traces.py [--spans 20000]

A span retrieves five texts of 1.2 kB, as OpenInference writes them. Each figure is a process of its own: its processor
time without imports, and its largest memory beyond that of the imports.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq

from focuseval.formats.frames import to_table

WORDS = ["tea", "water", "coffee", "boil", "pot", "leaf", "minute", "grams", "litre", "hot", "serve", "the", "of"]
MEASURED = """
import resource, sys, time
import msgspec
from focuseval import read_run
from focuseval.formats import embedded, traces, run_rows
path, before = sys.argv[1], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.process_time()
{}
print(time.process_time() - begin, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
FLOOR = "for line in open(path, 'rb'): msgspec.json.decode(line)"
WORK = {"topics": "embedded.read_questions(path)", "a run": "read_run(path)"}


def span(number, draw):
    """Return a retriever's span with flat attributes."""
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": f"question {number}: {draw.choice(WORDS)}?"}
    for place in range(5):
        name = f"retrieval.documents.{place}.document"
        attributes[f"{name}.id"] = f"chunk-{number}-{place}"
        attributes[f"{name}.content"] = " ".join(draw.choices(WORDS, k=230))
        attributes[f"{name}.score"] = draw.random()
        attributes[f"{name}.metadata"] = json.dumps({"source": f"doc{draw.randrange(500)}.md", "page": place})
    context = {"trace_id": f"0x{number:032x}", "span_id": f"0x{number:016x}"}
    return {"name": "retrieve", "context": context, "start_time": "2026-11-01T10:00:00Z", "attributes": attributes}


def otlp(row):
    """Return a span as OTLP has it."""
    typed = (
        {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
        for key, value in row["attributes"].items()
    )
    ids = {"traceId": row["context"]["trace_id"][2:], "spanId": row["context"]["span_id"][2:]}
    return {**ids, "name": row["name"], "startTimeUnixNano": "1793527200000000000", "attributes": list(typed)}


def written(folder, spans):
    """Write the same spans in several layouts, and return the files."""
    draw = random.Random(1)
    rows = [span(number, draw) for number in range(spans)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    scoped = {"scopeSpans": [{"spans": [otlp(row) for row in rows]}]}
    flat = [{"name": r["name"], **{f"context.{n}": v for n, v in r["context"].items()},
             **{f"attributes.{n}": v for n, v in r["attributes"].items()}} for r in rows]  # fmt: skip
    files = {
        "JSON lines": ("a.jsonl", lines),
        "JSON lines, gzip": ("b.jsonl.gz", gzip.compress(lines, 1)),
        "a list over many lines": ("c.json", json.dumps(rows, indent=1).encode()),
        "OTLP, one object": ("d.json", json.dumps({"resourceSpans": [scoped]}).encode()),
    }
    paths = {}
    for how, (name, content) in files.items():
        paths[how] = folder / name
        paths[how].write_bytes(content)
    paths["Parquet"] = folder / "e.parquet"
    pq.write_table(to_table(flat), paths["Parquet"], row_group_size=1000)
    return paths


def measured(work, path):
    """Return processor seconds and megabytes of a piece of work."""
    command = [sys.executable, "-c", MEASURED.format(work), path]
    seconds, memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(memory)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, default=20_000)
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(1) as pool:  # a child's largest memory is at least that of its parent
            paths = pool.submit(written, Path(folder), parser.parse_args().spans).result()
        floor, _ = measured(FLOOR, paths["JSON lines"])
        print(f"floor: msgspec decodes {paths['JSON lines'].stat().st_size / 1e6:.0f} MB of lines in {floor:.2f} s")
        for how, path in paths.items():
            for what, work in WORK.items():
                seconds, memory = measured(work, path)
                taken = f"{seconds:6.2f} s  {seconds / floor:5.1f} × floor {memory:5.0f} MB of memory"
                print(f"{how:24} {path.stat().st_size / 1e6:4.0f} MB, {what:6} {taken}")


if __name__ == "__main__":
    main()
