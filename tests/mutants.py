"""What `make mutants` found: the kill rate of every module, and the lines that no test noticed being broken.

mutmut leaves one ``.meta`` file per module in ``mutants/``, with pytest's exit code for every mutant.
"""

import json
from collections import Counter
from pathlib import Path

NOTICED = ("killed", "timeout", "segfault")
_FOLDER = Path("mutants")


def statuses(folder=_FOLDER):
    """Return module → mutant → status, for the mutants that were tried."""
    from mutmut.stats import status_by_exit_code  # noqa: PLC0415  only where mutmut is installed

    found = {}
    for meta in sorted(folder.glob("src/**/*.meta")):
        codes = json.loads(meta.read_text())["exit_code_by_key"]
        tried = {name: status_by_exit_code[code] for name, code in codes.items() if code is not None}
        if tried:
            found[str(meta.relative_to(folder)).removesuffix(".meta")] = tried
    return found


def rate(counted):
    """Return kill rate and counts in one line."""
    total = sum(counted.values())
    noticed = sum(counted[status] for status in NOTICED)
    others = ", ".join(f"{count} {status}" for status, count in sorted(counted.items()) if status not in NOTICED)
    return f"{noticed / total:6.1%}  {noticed:4} of {total:4}  {others}"


def main():
    from mutmut.mutation.diff_apply import get_diff_for_mutant  # noqa: PLC0415  only where mutmut is installed

    found = statuses()
    for path, tried in found.items():
        for name, status in tried.items():
            if status not in NOTICED:
                changed = [line for line in get_diff_for_mutant(name, path=path).splitlines()[2:] if line[0] in "+-@"]
                print(f"\n{status}: {name}", *changed, sep="\n")
    print()
    for path, tried in found.items():
        print(f"{path:48} {rate(Counter(tried.values()))}")
    print(f"{'all':48} {rate(sum((Counter(tried.values()) for tried in found.values()), Counter()))}")


if __name__ == "__main__":
    main()
