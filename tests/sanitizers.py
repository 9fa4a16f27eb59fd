"""The compiled library once more, with the address and undefined-behaviour sanitizers, in a Python of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from focuseval.engine import native


def run_sanitized(script, folder):
    """Run a script, which gets the library as its argument and prints "fine" where nothing was found."""
    if native.library() is None or sys.platform != "linux" or not shutil.which("cc"):
        pytest.skip("needs the compiled library, and a C compiler on Linux")
    library, flags = folder / "libnative.so", "-std=c11 -O1 -g -shared -fPIC -fsanitize=address,undefined"
    of = native.library().source()
    sources = list(map(str, native.SOURCES))
    made = subprocess.run(
        ["cc", *flags.split(), "-fno-sanitize-recover=all", f"-DSOURCE={of}u", "-o", str(library), *sources],
        capture_output=True,
        text=True,
        check=False,
    )
    asan = subprocess.run(
        ["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if made.returncode or not Path(asan).is_file():
        pytest.skip(f"the compiler has no sanitizers: {made.stderr.strip()[:200]}")
    environment = os.environ | {"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, "-c", script, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr[-3000:]
