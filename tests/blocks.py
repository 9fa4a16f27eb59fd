"""Code blocks of the documentation: found, made into the files that they show, and followed from top to bottom.

A page is followed in one of two ways. `in_one_shell` types all of it into one bash, as a newcomer does. `in_process`
is quicker: commands that need no shell, and all Python, run in this process.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from click.testing import CliRunner

import focuseval
from focuseval.cli import main

ROOT = Path(__file__).parents[1]
RUNNABLE = ("console", "python", "pycon")
"""Languages of blocks that a reader runs."""
SHOWN = ("toml", "text", "json", "yaml", "ini", "nginx")
"""Languages of blocks that a reader only reads, or saves as a file."""

FENCE = re.compile(
    r"^```(?:\{code-block\} )?(\w+)\n(?::caption: (\S+)\n\n)?(.*?)^```\n(?:\n```text\n(.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
"""Language, name of the file that is shown, text, and the text block right behind: what commands print."""
SHELL = set("$|<>;&#")
MARK = "\x1e"
"""Printed between the outputs of commands: nothing else prints it."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    caption: str
    body: str
    printed: str

    @property
    def commands(self) -> list[str]:
        """What is typed behind the prompts, continued lines joined."""
        lines = self.body.replace("\\\n", " ").splitlines()
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]

    @property
    def said(self) -> list[str]:
        """What the page says is printed; not the rules of tables, nor the links of servers, which are not started."""
        lines = self.body.replace("\\\n", " ").splitlines() if self.kind == "console" else []
        shown = [*(line for line in lines if not line.startswith("$ ")), *self.printed.splitlines()]
        return [line for line in shown if line.strip("─ …") and not line.startswith("Open http://")]


@dataclass(frozen=True)
class Followed:
    """What became of a block: the exit codes of its commands, and all that they printed."""

    block: Block
    codes: tuple[int, ...]
    output: str

    def unsaid(self) -> list[str]:
        """Lines that the page shows and nothing printed; `…` at the end of a line stands for the rest of it."""
        printed = [squeezed(line) for line in self.output.splitlines()]
        return [line for line in self.block.said if not any(agrees(squeezed(line), other) for other in printed)]


def squeezed(line: str) -> str:
    """A line without the blanks that only align columns."""
    return " ".join(line.split())


def agrees(shown: str, printed: str) -> bool:
    """Whether a printed line is the one that a page shows, whole or up to a ``…``."""
    return printed.startswith(shown.removesuffix("…")) if shown.endswith("…") else shown == printed


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return [Block(*found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]


def runnable(page: Path) -> list[Block]:
    """The blocks that a reader runs."""
    return [block for block in blocks(page) if block.kind in RUNNABLE and not block.caption]


def write_files(page: Path, folder: Path) -> None:
    """Make every file that a page shows under its name."""
    for block in blocks(page):
        if block.caption:
            (folder / block.caption).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.caption).write_text(block.body, encoding="utf-8")


def environment() -> dict[str, str]:
    """A clean environment that has the package that is tested."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    source = str(Path(focuseval.__file__).parents[1])
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "PYTHONPATH": source}


def bash(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script; its errors are printed among its output, as on a terminal."""
    command = ["bash", "--noprofile", "--norc", "-c", f"exec 2>&1\n{script}"]
    done = subprocess.run(
        command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False
    )
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), "")


def in_one_shell(some: list[Block], folder: Path) -> list[Followed]:
    """Type blocks into one bash process, in order; a block of Python is a script of its own there."""
    typed = [in_shell(block) for block in some]
    said = f"\nprintf '{MARK}%d{MARK}' $?\n"
    parts = bash(said.join([line for lines in typed for line in lines] + [""]), folder).stdout.split(MARK)
    results = iter(list(zip(parts[1::2], parts[::2], strict=False)))
    ended = [[next(results, ("1", "the shell ended before this command")) for _ in lines] for lines in typed]
    return [
        Followed(block, tuple(int(code) for code, _ in result), "".join(text for _, text in result))
        for block, result in zip(some, ended, strict=True)
    ]


def in_shell(block: Block) -> list[str]:
    """What is typed for a block: its commands, a file that is saved, or Python."""
    if block.kind == "console":
        return block.commands
    return [f"{f'cat > {block.caption}' if block.caption else 'python -'} <<'END OF BLOCK'\n{block.body}END OF BLOCK"]


def in_process(some: list[Block], page: Path, answers: str = "") -> list[Followed]:
    """Follow blocks in the current folder; what commands ask for is answered by `answers`."""
    names: dict[str, object] = {"__name__": "__main__"}
    return [follow(block, page, names, answers) for block in some]


def follow(block: Block, page: Path, names: dict[str, object], answers: str) -> Followed:
    """Run one block in the current folder."""
    if block.kind == "console":
        results = [run_command(line, answers) for line in block.commands]
        return Followed(block, tuple(code for code, _ in results), "".join(text for _, text in results))
    if block.kind == "pycon":
        test = doctest.DocTestParser().get_doctest(block.body, names, page.name, str(page), 0)
        failed, _ = doctest.DocTestRunner().run(test, clear_globs=False)
        names |= test.globs
        return Followed(block, (failed,), "")
    with redirect_stdout(StringIO()) as said:
        exec(compile(block.body, str(page), "exec"), names)
    return Followed(block, (0,), said.getvalue())


def run_command(line: str, answers: str) -> tuple[int, str]:
    """The exit code and the output of one command, in this process where it needs no shell."""
    if not line.startswith("focuseval ") or SHELL & set(line):
        done = bash(line, Path.cwd())
        return done.returncode, done.stdout
    words = [
        found
        for word in shlex.split(line)[1:]
        for found in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    result = CliRunner().invoke(main, words, input=answers, env={"COLUMNS": "80"})
    trouble = result.exception if result.exception and not isinstance(result.exception, SystemExit) else ""
    return result.exit_code, result.output + str(trouble)
