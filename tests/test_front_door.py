"""The package's front door: public names work before and after their packages are imported."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import focuseval


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("evaluate", "evaluation.planning"),
        ("retrieve", "retrieval"),
        ("sweep", "retrieval.sweeps.sweeping"),
        ("simulate", "studies.simulation"),
        ("fidelity", "studies.fidelity"),
    ],
)
def test_a_public_function_is_the_same_before_and_after_its_package_is_imported(name, package):
    code = (
        f"import focuseval as fe; before = fe.{name}; import focuseval.{package} as package; "
        f"assert callable(before) and fe.{name} is before is package.{name}"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, focuseval; assert not {'numpy', 'pyarrow', 'flask', 'rich', 'scipy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        focuseval.nothing  # noqa: B018  the look-up is the test
    assert "evaluate" in dir(focuseval)


FORMER = Path(focuseval.__path__[-1])


@pytest.mark.parametrize("file", sorted(FORMER.rglob("*.py"))[1:], ids=lambda file: str(file.relative_to(FORMER)))
def test_an_import_path_of_0_2_0_goes_on_working_and_gives_the_same_objects(file):
    parts = file.relative_to(FORMER).with_suffix("").parts
    module = import_module(".".join(["focuseval", *(part for part in parts if part != "__init__")]))
    assert module.__all__
    for name in module.__all__:
        value = getattr(module, name)
        assert value is getattr(import_module(value.__module__), name)
