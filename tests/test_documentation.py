"""The documentation says what is so: commands have examples, modules say what they are, the tutorial runs."""

import ast
import importlib.util
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import focuseval
from focuseval.cli import COMMANDS, main
from focuseval.measures import MEASURES

ROOT = Path(__file__).parents[1]
SOURCE = Path(focuseval.__file__).parent
TUTORIAL = ROOT / "docs" / "tutorial.md"

MODULES = sorted(SOURCE.rglob("*.py"))
PRESENT = [name for name in COMMANDS if importlib.util.find_spec(f"focuseval.cli.{name.replace('-', '_')}")]


def console_blocks(page: Path) -> list[str]:
    return re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[str]:
    """The lines of a console block after the prompt, continuations joined."""
    joined = block.replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]


def words_after_focuseval(line: str) -> list[list[str]]:
    """The arguments of every `focuseval` call in a line of shell."""
    parts = [part.split() for part in re.split(r"[|;&]+", line)]
    return [part[1:] for part in parts if part and part[0] == "focuseval"]


def called(page: Path) -> set[str]:
    return {
        words[0]
        for block in console_blocks(page)
        for line in commands(block)
        for words in words_after_focuseval(line)
        if words and not words[0].startswith("-")
    }


@pytest.mark.parametrize("name", PRESENT)
def test_every_command_explains_itself_with_an_example(name):
    shown = CliRunner().invoke(main, [name, "--help"], prog_name="focuseval")
    assert shown.exit_code == 0
    assert re.search(rf"^ +(\$ )?focuseval {re.escape(name)}\b", shown.output, re.MULTILINE), "no example in the help"


@pytest.mark.parametrize("name", PRESENT)
def test_every_option_of_a_command_says_what_it_takes(name):
    command = main.get_command(click.Context(main), name)
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []


@pytest.mark.parametrize("name", PRESENT)
def test_every_command_stands_in_the_reference(name):
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert f"## focuseval {name}\n" in page, "run 'make docs-generate'"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_says_in_one_line_what_it_is(path):
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert doc
    assert len(doc.splitlines()[0]) <= 120
    assert doc.splitlines()[0].endswith((".", ":", "?"))


def test_every_public_name_can_be_imported_and_explains_itself():
    missing = []
    for name, home in focuseval._PUBLIC.items():
        value = getattr(import_module(f"focuseval.{home}"), name)
        if callable(value) and not value.__doc__:
            missing.append(name)
    assert missing == []


def test_every_source_of_a_measure_stands_in_the_bibliography():
    page = (ROOT / "docs" / "reference" / "bibliography.md").read_text(encoding="utf-8")
    assert {measure.cite for measure in MEASURES} <= set(re.findall(r"^\((\w+)\)=$", page, re.MULTILINE))


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "CONTRIBUTING.md"])
def test_a_page_names_only_commands_that_exist(page):
    assert called(ROOT / page) <= set(COMMANDS)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/index.md"])
def test_a_command_that_is_named_in_the_text_exists(page):
    named = set(re.findall(r"`focuseval ([a-z][a-z-]*)", (ROOT / page).read_text(encoding="utf-8")))
    assert named <= set(COMMANDS)


def test_the_readme_names_only_make_targets_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")]
    assert {name for text in pages for name in re.findall(r"make ([a-z-]+)`?", text) if name} <= targets


def console(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line as a reader would, in a clean environment that has the package that is tested."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    source = str(Path(focuseval.__file__).parents[1])
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env={"PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> tuple[Path, list[subprocess.CompletedProcess[str]]]:
    """A folder in which the tutorial was followed, and what its commands said."""
    folder = tmp_path_factory.mktemp("tutorial")
    lines = [line for block in console_blocks(TUTORIAL) for line in commands(block)]
    return folder, [console(line, folder) for line in lines]


def test_the_tutorial_runs_from_its_first_command_to_its_last(walked):
    _, results = walked
    assert len(results) > 10
    assert [f"{done.args[-1]}: {done.stderr}" for done in results if done.returncode] == []


def printed(page: Path) -> list[tuple[str, list[str]]]:
    """Console blocks with the lines of the text block that follows each; rules and cut lines are left out."""
    pairs = re.findall(
        r"^```console\n([^`]*)^```\n(?:\n```text\n([^`]*)^```)?", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    lines = [[" ".join(line.split()) for line in text.splitlines()] for _, text in pairs]
    kept = [[line for line in some if line.strip("─ ") and not line.endswith("…")] for some in lines]
    return [(block, some) for (block, _), some in zip(pairs, kept, strict=True)]


def test_the_tutorial_shows_what_its_commands_print(walked):
    results = iter(walked[1])
    for block, lines in printed(TUTORIAL):
        said = "".join(next(results).stdout for _ in commands(block))
        assert set(lines) <= {" ".join(line.split()) for line in said.splitlines()}, block


def test_the_tour_of_the_readme_runs_in_the_demos_folder(walked):
    tour = next(block for block in console_blocks(ROOT / "README.md") if "cd demo" in block)
    results = [console(line, walked[0] / "sea") for line in commands(tour)[1:]]
    assert [f"{done.args[-1]}: {done.stderr}" for done in results if done.returncode] == []


@pytest.mark.parametrize(("page", "folder"), [("docs/tutorial.md", "."), ("README.md", "sea")])
def test_python_blocks_run_in_order(walked, monkeypatch, page, folder):
    monkeypatch.chdir(walked[0] / folder)
    if not Path("sea.idx").exists():
        assert console("focuseval index articles -o sea.idx", Path.cwd()).returncode == 0
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
