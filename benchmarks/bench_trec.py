"""AP, P@k and nDCG@k of a TREC run, end to end from the shell, against trec_eval's own code and other tools.

    python benchmarks/bench_trec.py [topics] [results per topic]

Peers, where installed (dependency group ``bench``): pytrec_eval (trec_eval's C code behind Python's readers),
ir_measures, ranx; the trec_eval binary where TREC_EVAL names it. BENCH_PYTHON may name the interpreter that has them.
Prints the best and the median wall time, the best processor time, peak memory, and how many times longer than ours each
peer takes. Runs of ours and of the peers alternate, so that a busy machine is busy for all of them, and before each of
them its tool scores a few lines, so that nobody waits for a disk.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MEASURES = ("AP", "P@10", "nDCG@10")
PEERS = {
    "pytrec_eval": """
import sys, pytrec_eval
qrels = pytrec_eval.parse_qrel(open(sys.argv[1])); run = pytrec_eval.parse_run(open(sys.argv[2]))
found = pytrec_eval.RelevanceEvaluator(qrels, {'map', 'P.10', 'ndcg_cut.10'}).evaluate(run)
print(sum(v['map'] for v in found.values()) / len(found))
""",
    "ir_measures": """
import sys, ir_measures
from ir_measures import AP, P, nDCG
print(ir_measures.calc_aggregate([AP, P@10, nDCG@10], ir_measures.read_trec_qrels(sys.argv[1]),
                                 ir_measures.read_trec_run(sys.argv[2])))
""",
    "ranx": """
import sys, ranx
print(ranx.evaluate(ranx.Qrels.from_file(sys.argv[1], kind='trec'), ranx.Run.from_file(sys.argv[2], kind='trec'),
                    ['map', 'precision@10', 'ndcg@10'], make_comparable=True))
""",
}
PYTHON = os.environ.get("BENCH_PYTHON", sys.executable)


def write_files(folder, topics, results, seed=1):
    """A run with descending scores and about one tie in two thousand, and a hundred judgements a topic."""
    rng = np.random.default_rng(seed)
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for topic in range(topics):
            documents = rng.choice(8 * results, results, replace=False) + rng.integers(0, 10**6)
            scores = np.sort(rng.random(results))[::-1].round(6)
            run.writelines(
                f"{topic} Q0 doc-{d:08d} {rank} {score:.6f} run\n"
                for rank, (d, score) in enumerate(zip(documents.tolist(), scores.tolist(), strict=True), 1)
            )
            judged = np.unique(np.r_[rng.choice(documents, 50), documents[0] + rng.integers(0, 8 * results, 50)])
            qrels.writelines(
                f"{topic} 0 doc-{d:08d} {g}\n" for d, g in zip(judged, rng.integers(0, 3, len(judged)), strict=True)
            )


def commands(qrels, run):
    """Ours first, then every peer that is there."""
    ours = [str(Path(sys.executable).with_name("focuseval")), "score", qrels, run]
    found = {"focuseval": ours + [word for measure in MEASURES for word in ("-m", measure)]}
    if binary := os.environ.get("TREC_EVAL"):
        found["trec_eval"] = [binary, "-m", "map", "-m", "P.10", "-m", "ndcg_cut.10", qrels, run]
    for name, code in PEERS.items():
        there = subprocess.run([PYTHON, "-c", f"import {name}"], check=False, capture_output=True)
        if there.returncode == 0:
            found[name] = [PYTHON, "-c", code, qrels, run]
        else:
            print(f"{name}: not installed, see the dependency group 'bench'")
    return found


def once(command):
    """Return wall and processor seconds and peak megabytes of one command, watched by a process of its own."""
    program = "import resource as r,subprocess,sys; subprocess.run(sys.argv[1:],check=True,stdout=subprocess.DEVNULL); "
    program += "u=r.getrusage(r.RUSAGE_CHILDREN); print(u.ru_utime+u.ru_stime, u.ru_maxrss//1024)"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-S", "-c", program, *command], check=True, capture_output=True)
    wall = time.perf_counter() - start
    processor, peak = map(float, done.stdout.split())
    return wall, processor, peak


def watching():
    """Seconds that the watching process takes itself: they are no tool's."""
    return min(once(["true"])[0] for _ in range(5))


def main(topics=10_000, results=1_000):
    repeats = 3 if topics * results > 10**6 else 9
    with tempfile.TemporaryDirectory() as name:
        folder, little = Path(name), Path(name) / "little"
        little.mkdir()
        write_files(folder, topics, results)
        write_files(little, 5, 20)
        tools = commands(str(folder / "qrels"), str(folder / "run"))
        warm = commands(str(little / "qrels"), str(little / "run"))
        size = (folder / "run").stat().st_size / 1e6
        taken = {tool: [] for tool in tools}
        for _ in range(repeats):
            for tool, command in tools.items():
                once(warm[tool])
                taken[tool].append(once(command))
    idle = watching()
    print(f"{topics} topics × {results}: {topics * results:,} lines, {size:.0f} MB; load {os.getloadavg()[0]:.1f}")
    print("tool            best   median   processor     peak   times ours: best  median  processor")
    ours = None
    for tool, runs in taken.items():
        wall, processor, peak = zip(*runs, strict=True)
        found = (min(wall) - idle, statistics.median(wall) - idle, min(processor))
        ours = ours or found
        ratios = "  ".join(f"{a / b:6.1f}" for a, b in zip(found, ours, strict=True))
        best, median, used = found
        print(f"{tool:12} {best:6.2f} s {median:6.2f} s   {used:7.2f} s {max(peak):5.0f} MB              {ratios}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(*map(int, sys.argv[1:]))
