"""Read the release workflow, and print what it would publish: the wheel that every system gets, and the sources.

    python .ci/release.py

Exit code 1 where a system has no wheel, where cibuildwheel would be asked for one that it refuses (a pure one), and
where the job that publishes does not wait for another.
"""

import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
RUNNERS = {
    "ubuntu-latest": "manylinux x86_64",
    "ubuntu-24.04-arm": "manylinux aarch64",
    "macos-latest": "macosx arm64",
    "macos-15-intel": "macosx x86_64",
}
"""What cibuildwheel makes on GitHub's machines, one wheel on each under `archs = "auto64"`."""
SYSTEMS = (*RUNNERS.values(), "win amd64", "any other")


def main(workflow: dict, project: dict) -> int:
    """Print a line for every system; return the exit code."""
    jobs, building = workflow["jobs"], project["tool"]["cibuildwheel"]
    runners = jobs["wheels"]["strategy"]["matrix"]["os"]
    compiled = {RUNNERS[name]: name for name in runners if name in RUNNERS}
    pure = any("make package" in step.get("run", "") for step in jobs["source"]["steps"])
    faults = [
        f"{name}: cibuildwheel would make a pure wheel there, and refuse it" for name in runners if name not in RUNNERS
    ]
    if building["build"] != "cp311-*" or building["archs"] != "auto64":
        faults.append("cibuildwheel: expected one wheel for each 64-bit machine")
    for system in SYSTEMS:
        tag = f"py3-none-{system.replace(' ', '_')}" if system in compiled else "py3-none-any"
        if system not in compiled and not pure:
            faults.append(f"{system}: no wheel")
        print(f"{system:18} {tag:30} job {'wheels on ' + compiled[system] if system in compiled else 'source'}")
    print(f"{'source':18} {'sdist' if pure else 'none':30} job source")
    waited = set(jobs["publish"]["needs"])
    faults += [f"publish does not wait for {name}" for name in sorted(jobs.keys() - waited - {"publish"})]
    print("\n".join(faults) or "nothing is missing")
    return int(bool(faults))


if __name__ == "__main__":
    read = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    sys.exit(main(read, tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))))
