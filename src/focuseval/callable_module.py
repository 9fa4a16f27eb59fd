"""Packages that are called by their own name: ``focuseval.evaluate(gold, run)``.

Importing any part of the package ``focuseval.evaluate`` binds that name to the module, over the public function of the
same name. A module that passes calls on to the function makes both work, before and after.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallableModule(ModuleType):
    """A module whose call is a call of the function with the module's own last name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **options)


def call_by_name(module: str) -> None:
    """Let calls of the module go to its function of the same name."""
    sys.modules[module].__class__ = CallableModule
