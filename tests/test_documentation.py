"""The documentation says what is so: commands have examples, modules say what they are."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import focuseval
from blocks import ROOT
from focuseval.cli import COMMANDS, main
from focuseval.measures.catalogue import MEASURES
from strategies.commands import LEAVES

SOURCE = Path(focuseval.__file__).parent

WRITTEN = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not {"reference", "_build"} & {*page.parts}),
]
MODULES = sorted(SOURCE.rglob("*.py"))


def test_every_command_explains_itself_with_an_example():
    without = []
    for name in (*COMMANDS, *LEAVES):
        shown = CliRunner().invoke(main, [*name.split(), "--help"], prog_name="focuseval")
        assert shown.exit_code == 0, name
        if not re.search(rf"^ +(\$ )?focuseval {re.escape(name)}\b", shown.output, re.MULTILINE):
            without.append(name)
    assert without == []


def test_every_option_of_a_command_says_what_it_takes():
    options = [(name, option) for name in LEAVES for option in LEAVES[name].params if isinstance(option, click.Option)]
    assert [(name, option.name) for name, option in options if not option.hidden and not option.help] == []


def test_every_command_stands_in_the_reference():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^##+ focuseval (.+)$", page, re.MULTILINE))
    assert {*COMMANDS, *LEAVES} <= headings, "run 'make docs-generate'"


def test_every_module_says_in_one_line_what_it_is():
    for path in MODULES:
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert doc, path
        assert len(doc.splitlines()[0]) <= 120, path
        assert doc.splitlines()[0].endswith((".", ":", "?")), path


def test_every_public_name_can_be_imported_and_explains_itself():
    missing = []
    for name, home in focuseval._PUBLIC.items():
        value = getattr(import_module(f"focuseval.{home}"), name)
        if callable(value) and not value.__doc__:
            missing.append(name)
    assert missing == []


@pytest.fixture(scope="module")
def reference():
    """The module that writes the page of functions and classes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(ROOT / "docs")
        return import_module("api")


def test_every_public_name_is_in_one_section_of_the_reference(reference):
    names = [name for _, _, some in reference.SECTIONS for name in some]
    assert len(names) == len(set(names))
    assert {name for name in names if ":" not in name} == set(focuseval._PUBLIC)


def test_every_class_that_a_function_of_the_reference_returns_is_in_it(reference):
    names = [name for _, _, some in reference.SECTIONS for name in some]
    listed = {name.rpartition(":")[2] for name in names}
    functions = [reference.found(name)[0] for name in names if inspect.isroutine(reference.found(name)[0])]
    returned = {word for one in functions for word in re.findall(r"\w+", str(inspect.signature(one).return_annotation))}
    known = {"str", "tuple", "list", "None", "Iterator", "Workers"}  # a cluster's workers are only handed on
    assert returned - known <= listed


def test_signatures_of_the_reference_are_those_of_the_code(reference):
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert f"{{py:function}} evaluate{reference.signature(focuseval.evaluate)}\n" in page
    assert page.index("## Evaluate\n") < page.index("## Compare\n") < page.index("## Report\n")


def test_every_source_of_a_measure_stands_in_the_bibliography():
    page = (ROOT / "docs" / "reference" / "bibliography.md").read_text(encoding="utf-8")
    assert {measure.cite for measure in MEASURES} <= set(re.findall(r"^\((\w+)\)=$", page, re.MULTILINE))


def named(page: Path) -> list[list[str]]:
    """The words of every command that a page names in its text; what is executed is held by test_pages."""
    return [words.split() for words in re.findall(r"`focuseval ([a-z][^`]*)`", page.read_text(encoding="utf-8"))]


def test_a_command_that_is_named_in_the_text_exists_with_its_options():
    for name, *words in (words for page in WRITTEN for words in named(page)):
        command = main.get_command(click.Context(main), name)
        while isinstance(command, click.Group) and words and words[0].islower():
            command = command.commands.get(words.pop(0))
        assert command, name
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        given = {word for word in words if re.fullmatch("--?[a-z-]+", word)}
        assert given <= {*options, "--help"}, (name, words)


TRANSLATED = (
    *(
        "lawful",
        "takes the same way",
        "go its own way",
        "told by its content",
        "look at so many",
        "remarks of the readers",
    ),
    *("travel in this file", "of chance: the same seed", "was not done with it", "stands in the way", "speaks against"),
)
"""Phrases that read as translated, each of which once stood in a page, a help text or a message."""


def test_pages_are_in_plain_english():
    for page in (*WRITTEN, *sorted((ROOT / "docs" / "reference").glob("*.md"))):
        text = " ".join(page.read_text(encoding="utf-8").lower().split())
        phrases = [phrase for phrase in TRANSLATED if phrase in text]
        assert phrases == (["lawful"] if page.name == "api.md" else []), page  # an attribute of Findings


def test_installing_by_name_alone_is_promised_nowhere():
    """Nobody can install the package by its name today: only from its repository."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in WRITTEN}
    parts = [(name, part) for name, text in pages.items() for part in text.split("\n\n")]
    by_name = re.compile(r"pip install ['\"]?focuseval(?! @ git)")
    assert [(name, part) for name, part in parts if by_name.search(part)] == []


def test_the_readme_names_only_make_targets_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")]
    assert {name for text in pages for name in re.findall(r"make ([a-z-]+)`?", text) if name} <= targets


def test_no_picture_is_there_twice():
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert len({picture.read_bytes() for picture in pictures}) == len(pictures)
