"""The package's front door: public names work before and after their packages are imported."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import focuseval


@pytest.mark.parametrize("name", ["evaluate", "retrieve", "sweep", "simulate", "fidelity"])
def test_a_public_function_is_the_same_before_and_after_its_module_is_imported(name):
    code = (
        f"import focuseval as fe; before = fe.{name}; import focuseval.{focuseval._PUBLIC[name]} as module; "
        f"assert callable(before) and fe.{name} is before is module.{name}"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, focuseval; assert not {'numpy', 'pyarrow', 'flask', 'rich', 'scipy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        focuseval.nothing  # noqa: B018  the look-up is the test
    assert "evaluate" in dir(focuseval)


def declared():
    """Public name → module, as the imports for type checkers have it."""
    body = ast.parse(Path(focuseval.__file__).read_text(encoding="utf-8")).body
    (block,) = (node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    lines = [(alias.asname, alias.name, node.module) for node in block.body for alias in node.names]
    assert [name for name, imported, _ in lines if name != imported] == [], "import X as X, else it is not public"
    return {name: module.removeprefix("focuseval.") for name, _, module in lines}


def test_type_checkers_are_told_the_modules_that_names_come_from():
    assert declared() == focuseval._PUBLIC


SCRIPT = """\
import focuseval as fe

gold = fe.read_gold("gold.jsonl")
scores = fe.evaluate(gold, ["run.jsonl"], measures=["AP"])
reveal_type(gold)
reveal_type(scores)
reveal_type(scores.compare("AP"))
reveal_type(fe.open_index("wiki.idx"))
reveal_type(fe.__version__)
fe.evaluate(gold)
fe.nothing
"""
TYPES = ["Gold", "Scores", "Comparison", "Index", "str"]


def test_a_type_checker_knows_every_public_name(tmp_path):
    """With the settings, and so the cache, of `make types`."""
    pytest.importorskip("mypy")
    script, root = tmp_path / "user.py", Path(__file__).parents[1]
    script.write_text(SCRIPT + "".join(f"reveal_type(fe.{name})\n" for name in focuseval._PUBLIC), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "mypy", script], cwd=root, capture_output=True, text=True, check=False)
    types = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert [name.rpartition(".")[2] for name in types[: len(TYPES)]] == TYPES
    assert len(types) == len(TYPES) + len(focuseval._PUBLIC)
    assert "Any" not in types
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert ["call-arg" in errors[0], "attr-defined" in errors[1], len(errors)] == [True, True, 2], done.stdout


FORMER = Path(focuseval.__path__[-1])


def offered(file):
    """The names that a moved module imports, and so offers, from where they are now."""
    found = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return [alias.name for node in found for alias in node.names]


MOVED = [file for file in sorted(FORMER.rglob("*.py")) if file != FORMER / "__init__.py"]


@pytest.mark.parametrize("file", MOVED, ids=lambda file: str(file.relative_to(FORMER)))
def test_an_import_path_of_0_2_0_goes_on_working_and_gives_the_same_objects(file):
    parts = file.relative_to(FORMER).with_suffix("").parts
    module = import_module(".".join(["focuseval", *(part for part in parts if part != "__init__")]))
    assert offered(file)
    for name in offered(file):
        value = getattr(module, name)
        assert value is getattr(import_module(value.__module__), name)
