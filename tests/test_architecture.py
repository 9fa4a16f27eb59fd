"""Data flows one way: a module imports only from its own package and from packages above it, and never in a circle."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import focuseval

PACKAGES = (
    "engine",
    "data",
    "collection",
    "placing",
    "formats",
    "measures",
    "inference",
    "evaluation",
    "studies",
    "report",
    "retrieval",
    "assessment",
    "bridges",
    "example",
    "cli",
)
"""The packages, top to bottom: each imports only from those above it, and all from `errors`, which imports none."""

BESIDE = ("errors.py", "__init__.py", "__main__.py")
"""What stands beside the packages; `__init__` and `__main__` may import any of them."""

KNOWN_CYCLES: list[tuple[str, ...]] = []
"""Modules that import each other, lazily or for types alone: to be taken apart, never to be added to."""

SOURCE = Path(focuseval.__file__).parent


def modules() -> dict[str, Path]:
    """Every module by its name without ``focuseval.``; a package has the name of its ``__init__``."""
    paths = {path: path.relative_to(SOURCE).with_suffix("").parts for path in sorted(SOURCE.rglob("*.py"))}
    return {".".join(p for p in parts if p != "__init__"): path for path, parts in paths.items()}


MODULES = modules()


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement inside another; an import is one, so expressions need not be walked."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, part, ()):
            yield inner
            yield from statements(inner)


@cache
def trees() -> dict[str, ast.Module]:
    """Return every module's syntax tree, made for the first test that asks."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a file imports: at its top, inside functions, and for types alone."""
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield "a relative import"
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("focuseval."):
            package = (node.module or "").removeprefix("focuseval").removeprefix(".")
            for alias in node.names:
                inner = f"{package}.{alias.name}".removeprefix(".")
                yield inner if inner in MODULES else package
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("focuseval.") for a in node.names if a.name.startswith("focuseval."))


@cache
def imports() -> dict[str, set[str]]:
    """Return what every module imports."""
    return {name: set(imported(tree)) - {name} for name, tree in trees().items()}


PLACES = {name: place for place, name in enumerate(("errors", *PACKAGES))}


def package(module: str) -> str:
    return module.partition(".")[0]


def test_nothing_stands_beside_the_packages():
    found = {path.name for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    assert found == {*PACKAGES, *BESIDE}


def test_a_module_imports_only_from_its_own_package_and_from_those_above():
    wrong = [
        f"{module} imports {other or 'focuseval itself'}"
        for module, others in imports().items()
        if module not in {"", "__main__"}
        for other in sorted(others)
        if PLACES.get(package(other), len(PLACES)) > PLACES[package(module)]
    ]
    assert wrong == []


def test_errors_import_nothing():
    assert imports()["errors"] == set()


def cycles(graph: dict[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the largest sets of modules each of which leads to all others."""
    reached = {name: reachable(name, graph) for name in graph}
    seen: set[str] = set()
    for name in sorted(graph):
        if name not in seen and name in reached[name]:
            cycle = {other for other in reached[name] if name in reached[other]}
            seen |= cycle
            yield tuple(sorted(cycle))


def reachable(name: str, graph: dict[str, set[str]]) -> set[str]:
    """Return everything that a module imports, directly or through others."""
    found: set[str] = set()
    ahead = list(graph[name])
    while ahead:
        if (module := ahead.pop()) in graph and module not in found:
            found.add(module)
            ahead += graph[module]
    return found


def test_modules_do_not_import_each_other_in_a_circle():
    """Lazy and type-only imports count: who reads one module of a cycle has to read them all."""
    assert list(cycles(imports())) == KNOWN_CYCLES


def test_no_class_name_says_two_things():
    """NEXI's syntax nodes have the names of its grammar, which are part of the JSON of ``focuseval topics``."""
    found = Counter(
        node.name
        for name, tree in trees().items()
        if MODULES[name].name != "syntax.py"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, number in found.items() if number > 1] == []


LOADED = """
import sys
from pathlib import Path
from click.testing import CliRunner
from focuseval.cli import main

Path("gold").write_text("1 0 d1 1\\n1 0 d2 0\\n")
for run, documents in (("a", "1234"), ("b", "4321")):
    lines = (f"1 Q0 d{document} {rank} {9 - rank} {run}\\n" for rank, document in enumerate(documents, 1))
    Path(run).write_text("".join(lines))
for words in (("score", "gold", "a"), ("report", "gold", "a", "b", "-o", "page.html")):
    assert CliRunner().invoke(main, [*words, "-m", "AP"]).exit_code == 0
    print(sum(name.startswith("focuseval") for name in sys.modules))
"""


def test_a_small_score_loads_sixty_modules_and_a_report_of_two_runs_twice_as_many(tmp_path):
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=tmp_path, check=True, capture_output=True, text=True)
    score, report = map(int, done.stdout.split())
    assert score <= 60
    assert report <= 130


def functions(name: str, node: ast.Module | ast.ClassDef) -> Iterator[str]:
    """Yield the full names of the functions of a module or class, methods included."""
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef):
            yield f"{name}.{inner.name}"
        elif isinstance(inner, ast.ClassDef):
            yield from functions(f"{name}.{inner.name}", inner)


def test_every_function_with_equivalent_mutants_exists():
    entries = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8"))["equivalent"]
    exist = [function for name, tree in trees().items() for function in functions(name, tree)]
    named = {name for entry in entries for name in entry["functions"]}
    assert [name for name in sorted(named) if not any(re.fullmatch(name, one) for one in exist)] == []
