"""The package's front door: public names work before and after their packages are imported."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("name", ["evaluate", "simulate", "fidelity"])
def test_a_package_that_is_called_by_its_name_is_callable_before_and_after_import(name):
    code = (
        f"import focuseval as fe; assert callable(fe.{name}); import focuseval.{name}; assert callable(fe.{name}); "
        f"assert fe.{name} is not None"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, focuseval; assert not {'numpy', 'pyarrow', 'flask', 'rich', 'scipy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    import focuseval  # noqa: PLC0415  beside its use

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        focuseval.nothing  # noqa: B018  the look-up is the test
    assert "evaluate" in dir(focuseval)
