"""Ask PyPI whether a version that constraints.txt names has a known vulnerability.

    python .ci/audit.py [CONSTRAINTS]

Skipped, with the reason, without network. Exit code 1 where one is known; a package that PyPI does not have is named,
and is no failure.
"""

import json
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ADDRESS = "https://pypi.org/pypi/{}/{}/json"


def known(pin: str) -> list[str] | None:
    """Return a line for every vulnerability of a version that was not withdrawn; None where PyPI has none such."""
    name, _, version = pin.partition("==")
    try:
        with urllib.request.urlopen(ADDRESS.format(name, version), timeout=20) as answer:  # noqa: S310  HTTPS, above
            found = json.load(answer).get("vulnerabilities", [])
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        return None
    lines = []
    for one in found:
        if not one.get("withdrawn"):
            names, mended = [one["id"], *one.get("aliases", [])], one.get("fixed_in") or ["none"]
            lines.append(f"{pin}: {', '.join(names)}; mended in {', '.join(mended)}")
    return lines


def main(path: Path) -> int:
    """Print what is known of all pins."""
    pins = [line for line in path.read_text(encoding="utf-8").split("\n") if "==" in line and not line.startswith("#")]
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(known, pins))
    except OSError as error:
        print(f"audit skipped: pypi.org cannot be reached ({getattr(error, 'reason', None) or error})")
        return 0
    unknown = [pin for pin, lines in zip(pins, found, strict=True) if lines is None]
    if len(unknown) == len(pins):
        print("audit skipped: what answers for pypi.org knows none of these packages; is it a mirror without metadata?")
        return 0
    lines = [line for some in found for line in some or ()]
    lines += [f"{pin}: not on PyPI, not looked at" for pin in unknown]
    bad = len(lines) - len(unknown)
    print("\n".join([*lines, f"{len(pins) - len(unknown)} packages looked up, {bad} known vulnerabilities"]))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "constraints.txt")))
