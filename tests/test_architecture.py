"""Data flows one way: a module imports only from lines above its own."""

import ast
from collections import Counter
from pathlib import Path

import focuseval

LAYERS = (
    "values",
    "callable_module",
    "lazy",
    "errors",
    "fields",
    "storage",
    "shared",
    "workers",
    "cluster",
    "tables",
    "limits",
    "compression",
    "spans",
    "native",
    "disk",
    "keys",
    "lookup",
    "collection",
    "topics",
    "align",
    "placement",
    "gold",
    "run",
    "place",
    "quantise",
    "recall_base",
    "task",
    "formats",
    "tokens",
    "chunks",
    "quotes",
    "retrieve",
    "statistics",
    "match",
    "measures",
    "significance",
    "evaluate",
    "heat",
    "compare",
    "simulate",
    "fidelity",
    "gate",
    "pool",
    "assess",
    "report",
    "sweep",
    "judge",
    "bridges",
    "testing",
    "example",
    "demo",
    "cli",
)
"""The layers, top to bottom; `__init__` and `__main__` may import any of them."""

ENTRIES = {"__init__", "__main__"}
SOURCE = Path(focuseval.__file__).parent


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            parts = node.module.split(".")
            if parts[0] == "focuseval":
                found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.add("a relative import")
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("focuseval.")}
    return found - {"__version__"}


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if layer(path) not in ENTRIES]


def test_every_module_belongs_to_a_layer():
    assert {layer(path) for path in modules()} <= set(LAYERS)


def test_a_module_imports_only_from_above():
    wrong = [
        f"{path.relative_to(SOURCE)} imports {other}"
        for path in modules()
        for other in sorted(imported_layers(path))
        if other not in LAYERS or LAYERS.index(other) > LAYERS.index(layer(path))
    ]
    assert wrong == []


def test_no_class_name_says_two_things():
    """NEXI's syntax nodes have the names of its grammar, which are part of the JSON of ``focuseval topics``."""
    found = Counter(
        node.name
        for path in modules()
        if path.name != "syntax.py"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, number in found.items() if number > 1] == []
