"""Compile the package's C when it is built or installed; where that fails, the package is plain Python.

CC names the compiler (cc otherwise). FOCUSEVAL_PURE=1 leaves it out, for a wheel that fits every machine. Only an
editable installation writes into the source tree.
"""

import hashlib
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = tuple(f"src/focuseval/engine/{name}.c" for name in ("native", "xml", "words", "pdf"))
LIBRARY = "libnative.so"
FLAGS = ("-std=c11", "-O3", "-shared", "-fPIC")


def compiled(sources: Sequence[Path], library: Path) -> str | None:
    """Compile the library; return why there is none, or None where there is one."""
    if os.environ.get("FOCUSEVAL_PURE", "0") not in {"", "0"}:
        return "FOCUSEVAL_PURE is set"
    if sys.platform == "win32":
        return "it was never tried on Windows"
    if sys.byteorder != "little" or sys.maxsize < 2**32:
        return "it is for 64-bit machines that put the low byte first"
    made = library.with_name(f"libnative.{os.getpid()}.so")
    try:
        compiler = shlex.split(os.environ.get("CC") or "cc")
        of = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
        command = [*compiler, *FLAGS, f"-DSOURCE=0x{of}u", "-o", str(made), *map(str, sources)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  the user's compiler
        if done.returncode:
            return f"{shlex.join(command)}: {done.stderr.strip()}"
        made.replace(library)
    except (OSError, ValueError) as error:
        return f"no C compiler: {error}"
    finally:
        _remove(made)
    return None


def _remove(path: Path) -> None:
    with suppress(OSError):  # a tree that cannot be written to has nothing to remove
        path.unlink()


class NativeHook(BuildHookInterface):
    """Puts the compiled library into wheels, and beside its source in an editable installation."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before files are collected; the library needs no particular Python, only the platform."""
        sources, editable = [Path(self.root) / source for source in SOURCES], version == "editable"
        self.room = TemporaryDirectory()
        library = sources[0].with_name(LIBRARY) if editable else Path(self.room.name) / LIBRARY
        why_not = compiled(sources, library)
        if why_not:
            self.app.display_warning(f"without the compiled part, large files are read more slowly ({why_not})")
            if editable:
                _remove(library)  # one of another source, maybe
            return
        if not editable:
            build_data["force_include"][str(library)] = f"focuseval/engine/{LIBRARY}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  hatchling's
        """Remove what was compiled for a wheel."""
        self.room.cleanup()
