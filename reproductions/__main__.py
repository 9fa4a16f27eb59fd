"""Compute published tables again: ``python -m reproductions [NAME …] [--write]``."""

import re
import sys
from importlib import import_module
from pathlib import Path

from focuseval.data.tables import Table, render
from reproductions.data import Missing

NAMES = (
    "worked_examples",
    "inex_tool",
    "trec_eval",
    "simulated_runs",
    "recall_bases",
    "chroma_table1",
    "chroma_table2",
    "significance_tests",
    "intervals",
    "gate_alarms",
    "slices",
    "power",
    "agreement_intervals",
    "rank_correlation",
    "estimates",
    "bm25",
    "effectiveness",
)
README = Path(__file__).with_name("README.md")


def tables(name: str) -> list[Table]:
    """Return the tables of a reproduction."""
    found: list[Table] = import_module(f"reproductions.{name}").tables()
    return found


def section(name: str) -> re.Pattern[str]:
    """Return the pattern of the place of a reproduction's output in the README."""
    return re.compile(f"<!-- {name} -->\n(.*?)<!-- end -->", re.DOTALL)


def write(name: str, found: list[Table]) -> None:
    """Put the output of a reproduction into the README."""
    whole = f"<!-- {name} -->\n\n{render(found, 'markdown')}\n<!-- end -->"
    README.write_text(section(name).sub(lambda _: whole, README.read_text(encoding="utf-8")), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the named reproductions, or all of them; with ``--write`` the README gets their output too."""
    chosen = [name for name in arguments if name != "--write"] or list(NAMES)
    if unknown := sorted(set(chosen) - set(NAMES)):
        print(f"expected names among {', '.join(NAMES)}, found {', '.join(unknown)}", file=sys.stderr)
        return 2
    for name in chosen:
        print(f"== {name}", flush=True)
        try:
            found = tables(name)
        except Missing as reason:
            print(f"skipped: {reason}\n", flush=True)
            continue
        print(render(found, "table"), flush=True)
        if "--write" in arguments:
            write(name, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
