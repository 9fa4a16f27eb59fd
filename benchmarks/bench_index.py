"""Index wiki-like and JATS articles: megabytes a second against floors measured in the same run.

Floors: reading the files; expat without handlers (the well-formedness check alone); expat with a Python call for every
event (the plain parser). Parsers are compared by processor time, so that a busy machine disturbs little. Then whole
indexes on disk, by one process and by two: the slope between a small collection and a large one, against bare expat on
one core, and what start and end take besides; peak memory, opening an index, resolving 150,000 paths.

    python benchmarks/bench_index.py [ARTICLES]

JATS are the PLOS articles in FOCUSEVAL_DATA, if there are any.
"""

import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.parsers import expat

import numpy as np

from focuseval.collection.build import build_index
from focuseval.collection.documents import portions
from focuseval.collection.parse import Raw, parse_documents
from focuseval.collection.store import open_index

ARTICLES = 12_000
REPEATS = 7
SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "qui",
    "ro",
    "su",
    "ta",
    "ve",
    "zé",
)


def vocabulary(rng):
    return ["".join(rng.choices(SYLLABLES, k=rng.choice((1, 1, 2, 2, 3)))) for _ in range(4_000)]


class Article:
    """One article in the manner of the 2006 Wikipedia: sections, paragraphs, lists, links, about 160 elements."""

    def __init__(self, rng, words):
        self.rng, self.vocabulary = rng, words

    def words(self, low, high):
        return " ".join(self.rng.choices(self.vocabulary, k=self.rng.randint(low, high)))

    def phrase(self):
        kind = self.rng.random()
        if kind < 0.4:
            target = self.rng.randint(1, 900_000)
            return f'<collectionlink xlink:type="simple" xlink:href="{target}.xml">{self.words(1, 2)}</collectionlink>'
        if kind < 0.8:
            return f"<emph3>{self.words(1, 2)}</emph3>"
        return f"{self.words(1, 3)} &amp; {self.words(1, 2)}"

    def paragraph(self):
        parts = [f"{self.words(2, 5)} {self.phrase()}" for _ in range(self.rng.randint(2, 6))]
        return f"<p>\n{', '.join(parts)}.\n</p>\n"

    def items(self):
        return "".join(f"<item>{self.words(1, 3)} {self.phrase()}</item>\n" for _ in range(self.rng.randint(3, 9)))

    def section(self, level=1):
        body = "".join(self.paragraph() for _ in range(self.rng.randint(1, 3)))
        if self.rng.random() < 0.6:
            body += f"<normallist>\n{self.items()}</normallist>\n"
        if level < 3 and self.rng.random() < 0.35:
            body += self.section(level + 1)
        return f"<section>\n<title>{self.words(1, 4)}</title>\n{body}</section>\n"

    def __bytes__(self):
        head = f'<name id="{self.rng.randint(1, 900_000)}">{self.words(1, 3)}</name>\n'
        body = self.paragraph() + "".join(self.section() for _ in range(self.rng.randint(2, 10)))
        start = '<?xml version="1.0" encoding="UTF-8"?>\n<article xmlns:xlink="http://www.w3.org/1999/xlink">\n'
        return f"{start}{head}<body>\n{body}</body>\n</article>\n".encode()


def write_articles(folder, count):
    rng = random.Random(6)
    words = vocabulary(rng)
    for number in range(count):
        place = folder / f"part-{number // 1000}" / f"{number}.xml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(bytes(Article(rng, words)))


def best(work, repeats=REPEATS, clock=time.perf_counter):
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def check(contents):
    for content in contents:
        expat.ParserCreate().Parse(content, True)


def parse_all(raws, **options):
    for portion in portions(raws):
        parse_documents(portion, **options)


def parsers(name, files):
    contents = [path.read_bytes() for path in files]
    raws = [Raw(path.stem, path.name, content) for path, content in zip(files, contents, strict=True)]
    size = sum(map(len, contents)) / 1e6

    def speed(work, repeats=REPEATS):
        return size / best(work, repeats, time.process_time)

    full = speed(lambda: parse_all(raws))
    lines = [
        ("reading files", speed(lambda: [path.read_bytes() for path in files])),
        ("expat, no handlers", speed(lambda: check(contents))),
        ("expat events (plain path)", speed(lambda: parse_all(raws, fast=False), 2)),
        ("full result, one core", full),
    ]
    for what, found in lines:
        print(f"{name:5} {what:28} {found:7.1f} MB/s   full result is {full / found:5.2f}× this")
    return lines[1][1]


def building(source, scratch, bare):
    """Time a tenth of the articles and all of them: the slope is what a megabyte costs, the rest start and end."""
    every = sorted(source.iterdir())
    parts = {"few": every[: max(1, len(every) // 10)], "all": every}
    sizes = {name: sum(p.stat().st_size for place in places for p in place.iterdir()) for name, places in parts.items()}
    for jobs in (1, 2):
        target = scratch / f"index-{jobs}"
        seconds = {
            name: best(lambda places=places, t=target, jobs=jobs: build_index(places, t, jobs=jobs, force=True), 5)
            for name, places in parts.items()
        }
        slope = (sizes["all"] - sizes["few"]) / 1e6 / (seconds["all"] - seconds["few"])
        ends = seconds["all"] - sizes["all"] / 1e6 / slope
        speed = sizes["all"] / 1e6 / seconds["all"]
        print(
            f"whole index, {jobs} process(es)       {speed:7.1f} MB/s; slope {slope:.1f} MB/s, "
            f"{slope / bare:.2f}× bare expat on one core; start and end {ends:.2f} s"
        )
        print(f"{'':28} peak memory of a process {peak(source, target, jobs):.0f} MB")
    return scratch / "index-2"


def peak(source, target, jobs):
    """Megabytes of the largest process of `focuseval index`, in a program that did nothing else before."""
    script = """
import resource, sys
from focuseval.collection.build import build_index
build_index(sys.argv[1], sys.argv[2], jobs=int(sys.argv[3]), force=True)
print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024)
"""
    command = [sys.executable, "-c", script, *map(str, (source, target, jobs))]
    return float(_in_new_process(command))


def _in_new_process(command):
    """What a program prints that begins with none of this one's memory: `forkserver` parents are small."""
    context = multiprocessing.get_context("forkserver")
    with context.Pool(1) as pool:
        return pool.apply(subprocess.check_output, (command,), {"text": True})


def asking(path):
    print(f"open an index                {1000 * best(lambda: open_index(path).lengths):7.1f} ms", end="   ")
    index = open_index(path)
    print(f"({len(index):,} documents, {int(index.element_bounds[-1]):,} elements)")
    elements = np.sort(np.random.default_rng(1).choice(index.element_bounds[-1], 150_000, replace=False))
    rows = np.searchsorted(index.element_bounds, elements, "right") - 1
    print(f"write 150,000 paths          {1000 * best(lambda: index.path_strings(elements), 2):7.0f} ms")
    paths = index.path_strings(elements)
    order = np.random.default_rng(2).permutation(len(rows))
    rows, paths = rows[order], paths.take(order)
    print(f"resolve 150,000 paths        {1000 * best(lambda: index.resolve(rows, paths)):7.0f} ms")
    pointers = [f"{path}/text()[1].0" for path in paths.to_pylist()]
    print(f"resolve 150,000 pointers     {1000 * best(lambda: index.resolve_points(rows, pointers)):7.0f} ms")
    assert (index.resolve(rows, paths)[0] >= 0).all()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ARTICLES
    scratch = Path(tempfile.mkdtemp(prefix="focuseval-bench-"))
    try:
        source = scratch / "articles"
        write_articles(source, count)
        files = sorted(source.rglob("*.xml"))
        size = sum(path.stat().st_size for path in files)
        tags = sum(path.read_bytes().count(b"</") for path in files[:1000]) / min(len(files), 1000)
        print(f"{count:,} articles, {size / count / 1000:.1f} kB and {tags:.0f} elements each; {os.cpu_count()} cores")
        bare = parsers("wiki", files[:3000])
        data = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
        if articles := sorted((data / "plos").glob("*.xml")):
            parsers("JATS", articles)
        asking(building(source, scratch, bare))
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
