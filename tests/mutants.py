"""What `make mutants` found: the kill rate of every module, and the lines that no test noticed being broken.

mutmut leaves one ``.meta`` file per module in ``mutants/``, with pytest's exit code for every mutant. A mutant that no
test can kill, because the program does the same, is listed in ``mutants.toml`` with the reason, and is not counted.
"""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("mutants")
KNOWN = Path(__file__).with_suffix(".toml")
NOTICED = ("killed", "timeout", "segfault")
EQUIVALENT = "equivalent"


class Mutant(NamedTuple):
    """One broken line."""

    module: str
    function: str
    status: str
    before: str
    after: str


def mutants():
    """Yield every mutant that was tried, with its lines where no test noticed it."""
    from mutmut.stats import status_by_exit_code  # noqa: PLC0415  only where mutmut is installed

    for meta in sorted(FOLDER.glob("src/**/*.meta")):
        path = str(meta.relative_to(FOLDER)).removesuffix(".meta")
        for name, code in json.loads(meta.read_text())["exit_code_by_key"].items():
            status = status_by_exit_code[code]
            if code is not None:
                yield Mutant(path, plain(name), status, *("", "") if status in NOTICED else changed(name, path))


def plain(name):
    """Return a function's name as the source has it.

    >>> plain("focuseval.inference.paired.x__standardised__mutmut_3")
    'inference.paired._standardised'
    >>> plain("focuseval.inference.regression.xǁGateRuleǁcheck__mutmut_1")
    'inference.regression.GateRule.check'
    """
    return re.sub(r"\.x(_|ǁ)", ".", name.partition("__mutmut_")[0]).replace("ǁ", ".").removeprefix("focuseval.")


def changed(name, path):
    """Return the lines that differ, before and after."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant  # noqa: PLC0415  only where mutmut is installed

    lines = get_diff_for_mutant(name, path=path).splitlines()[2:]
    return tuple("\n".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")


def known():
    """Return the equivalent mutants: the functions, the changes in them, and why no test can tell."""
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8"))["equivalent"]
    return [
        (re.compile("|".join(e["functions"])), [one.split(" => ") for one in e["changes"]], e["why"]) for e in entries
    ]


def reason(mutant, entries):
    """Return why a mutant is equivalent, None when it is not known to be."""
    if mutant.status in NOTICED:
        return None
    for function, changes, why in entries:
        if function.fullmatch(mutant.function) and any(leads(mutant, *change) for change in changes):
            return why
    return None


def leads(mutant, old, new):
    """Say whether replacing one occurrence of the old words by the new ones makes the mutant."""
    before, after = mutant.before, mutant.after
    return any(before[: m.start()] + new + before[m.end() :] == after for m in re.finditer(re.escape(old), before))


def rate(counted):
    """Return the share of kills and the counts in one line."""
    total = sum(counted.values()) - counted[EQUIVALENT]
    noticed = sum(counted[status] for status in NOTICED)
    others = ", ".join(f"{count} {status}" for status, count in sorted(counted.items()) if status not in NOTICED)
    return f"{noticed / total if total else 1:6.1%}  {noticed:4} of {total:4}  {others}"


def main():
    entries, modules, used = known(), {}, set()
    for mutant in mutants():
        why = reason(mutant, entries)
        status = EQUIVALENT if why else mutant.status
        modules.setdefault(mutant.module, Counter())[status] += 1
        used.add(why)
        if status not in (*NOTICED, EQUIVALENT):
            print(f"\n{status}: {mutant.function}\n- {mutant.before}\n+ {mutant.after}")
    print(*(f"\nno such mutant any more: {why}" for *_, why in entries if why not in used), sep="")
    for path, counted in modules.items():
        print(f"{path:48} {rate(counted)}")
    print(f"{'all':48} {rate(sum(modules.values(), Counter()))}")


if __name__ == "__main__":
    main()
