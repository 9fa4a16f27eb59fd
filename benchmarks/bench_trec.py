"""AP, P@k and nDCG@k of a TREC run, end to end from the shell, against trec_eval's own code.

    python benchmarks/bench_trec.py [topics] [results per topic]

Peers: the trec_eval binary named by TREC_EVAL, else pytrec_eval (the same C code behind Python's readers);
ir_measures where it is installed. Prints seconds, ratios, and the peak memory of each process.
"""

import importlib.util
import os
import resource
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
}


def write_files(folder, topics, results, seed=1):
    """A run with descending scores and about one tie in ten thousand, and a hundred judgements a topic."""
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


def timed(command, repeats=3):
    """Return the best wall time and the best processor time of a command; a busy machine spoils the first."""
    wall, processor = [], []
    for _ in range(repeats):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall.append(time.perf_counter() - start)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(wall), min(processor)


def peak(command):
    """Return a command's peak memory in MB, measured by a process of its own."""
    program = "import resource,subprocess,sys; subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL); "
    program += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    return int(subprocess.run([sys.executable, "-c", program, *command], check=True, capture_output=True).stdout)


def main(topics=10_000, results=1_000):
    repeats = 3 if topics * results > 10**6 else 7
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, topics, results)
        qrels, run = str(folder / "qrels"), str(folder / "run")
        ours = [str(Path(sys.executable).with_name("focuseval")), "score", qrels, run]
        ours += [word for measure in MEASURES for word in ("-m", measure)]
        mine, cpu = timed(ours, repeats)
        print(f"{topics} topics × {results}: {topics * results:,} lines, {Path(run).stat().st_size / 1e6:.0f} MB")
        print(f"focuseval    {mine:7.2f} s wall {cpu:7.2f} s processor                           peak {peak(ours)} MB")
        commands = {
            n: [sys.executable, "-c", code, qrels, run] for n, code in PEERS.items() if importlib.util.find_spec(n)
        }
        if binary := os.environ.get("TREC_EVAL"):
            commands["trec_eval"] = [binary, "-m", "map", "-m", "P.10", "-m", "ndcg_cut.10", qrels, run]
        for peer, command in commands.items():
            wall, used = timed(command, 1 if topics * results > 10**6 else 3)
            ratios = f"{wall / mine:5.1f} × wall {used / cpu:5.1f} × processor"
            print(f"{peer:12} {wall:7.2f} s wall {used:7.2f} s processor  {ratios}  peak {peak(command)} MB")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(*map(int, sys.argv[1:]))
