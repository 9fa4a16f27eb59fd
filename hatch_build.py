"""Compile `native.c` when the package is built or installed; where that fails, the package is plain Python.

CC names the compiler (cc otherwise). FOCUSEVAL_PURE=1 leaves it out, for a wheel that fits every machine.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "src/focuseval/native.c"
LIBRARY = "src/focuseval/libnative.so"
FLAGS = ("-std=c11", "-O3", "-shared", "-fPIC")


def compiled(root: Path) -> str | None:
    """Compile the library into the source tree; return why there is none, or None where there is one."""
    if os.environ.get("FOCUSEVAL_PURE"):
        return "FOCUSEVAL_PURE is set"
    if sys.byteorder != "little" or sys.maxsize < 2**32:
        return "it is for 64-bit machines that put the low byte first"
    library, made = root / LIBRARY, root / f"{LIBRARY}.{os.getpid()}"
    library.unlink(missing_ok=True)  # one of an older source would be wrong
    command = [*shlex.split(os.environ.get("CC") or "cc"), *FLAGS, "-o", str(made), str(root / SOURCE)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  the user's own compiler
    except OSError as error:
        return f"no C compiler: {error}"
    except subprocess.CalledProcessError as error:
        made.unlink(missing_ok=True)
        return f"{shlex.join(command)}: {error.stderr.strip()}"
    made.replace(library)
    return None


class NativeHook(BuildHookInterface):
    """Puts the compiled library into wheels and editable installations."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling's signature
        """Compile before files are collected; the library needs no particular Python, only the platform."""
        why_not = compiled(Path(self.root))
        if why_not:
            self.app.display_warning(f"without the compiled part, large files are read more slowly ({why_not})")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["artifacts"].append(LIBRARY)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
