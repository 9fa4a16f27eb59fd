"""The page of Python functions and classes, by task: what to call first, and what it returns.

SECTIONS is the page's order. A name is an attribute of `focuseval`, or ``module:Name`` for what is imported from its
own module or is met only as a result. Signatures, docstrings and the text below attributes are read from the code.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from docstrings import annotation, markdown, signature

INTRODUCTION = """\
Functions and classes are attributes of the package (`import focuseval as fe`, then `fe.evaluate(…)`), unless a line
names the module to import them from. Each class follows the functions that return it."""

SECTIONS = (
    (
        "Evaluate",
        "Score runs against a gold: this is the function to begin with.",
        ("evaluate", "Scores", "estimate", "Estimates"),
    ),
    (
        "Compare",
        "`Scores.compare` tests the differences between runs; a test of your own suite can fail when one got worse.",
        ("inference.comparison:Comparison", "assert_no_regression", "evaluation.gate:GateVerdict"),
    ),
    ("Report", "", ("build_report", "render_html", "report.build:Report", "heat_map", "report.heat:HeatMap")),
    (
        "Read and write",
        "Formats are detected from the content.",
        (
            *("read_run", "Run", "read_gold", "Gold", "data.gold:Articles", "data.gold:Passages"),
            *("write_run", "write_gold", "data.remarks:Remark"),
        ),
    ),
    (
        "Results and frames of other libraries",
        "",
        (
            "formats.frameworks:run_from_results",
            "formats.frames:run_from_frame",
            "formats.frames:gold_from_frame",
        ),
    ),
    (
        "Documents and indexes",
        "",
        (
            *("open_documents", "open_index", "build_index", "collection.build:Built"),
            *("Index", "IndexedDocument", "Elements"),
        ),
    ),
    ("Topics", "", ("read_topics", "data.topics.topic:Topic", "parse_nexi", "data.topics.syntax:Query")),
    ("Check runs", "", ("check", "repair", "measures.tasks:Findings", "measures.tasks:Finding")),
    (
        "Align texts and quotes",
        "",
        (
            *("align_chunks", "align_run", "align_gold", "data.placement:Alignment"),
            *("formats.frameworks:chunks_from", "formats.frameworks:SplitChunks", "verify_quotes"),
            *("evaluation.quotes:CheckedQuotes", "evaluation.quotes:QuoteCheck"),
        ),
    ),
    (
        "Retrieve",
        "A baseline by BM25, and units that your own model may score.",
        ("retrieve", "search", "retrieval.retrieving:Hit", "units", "retrieval.retrieving:UnitList", "fuse"),
    ),
    ("Chunk and sweep", "", ("chunk", "Chunks", "sweep", "retrieval.sweeping:Sweep")),
    (
        "Pool and assess",
        "",
        (
            *("build_pool", "read_pool", "assessment.pool:Pool", "project_gold"),
            *("judge_project", "ModelSettings", "Prompt", "assessment.models.judging:ModelJudged"),
            *("project_trust", "assessment.models.trust:Trust"),
        ),
    ),
    ("Simulate, and test measures", "", ("simulate", "fidelity", "studies.fidelity:Fidelity")),
    (
        "Measures",
        "The [measures themselves](measures.md) have a page of their own.",
        ("parse", "measures.measure:MeasureCall", "Measure", "Parameter", "MEASURES"),
    ),
    ("Clusters", "", ("connected",)),
    ("Errors", "", ("FocusevalError",)),
)
"""Heading, introduction, and names."""

METHODS = {"Comparison": "Scores.compare"}
"""Class → the method that returns it, where no function does."""

MADE_BY_USERS = ("ModelSettings", "Prompt", "Measure", "Parameter")
"""Classes that a user calls; the others are met as results, so their constructors are left out."""


def api_page() -> str:
    """The whole page."""
    parts = ["# Python\n", f"{INTRODUCTION}\n", contents()]
    for heading, introduction, names in SECTIONS:
        parts += [f"## {heading}\n", f"{introduction}\n"] if introduction else [f"## {heading}\n"]
        parts += ["\n".join(described(name)) for name in names]
    return "\n".join(parts)


def contents() -> str:
    """A row for each section: what to call."""
    rows = [f"| [{heading}](#{anchor(heading)}) | {', '.join(called(names))} |" for heading, _, names in SECTIONS]
    return "\n".join(["| to | call |", "|---|---|", *rows, ""])


def anchor(heading: str) -> str:
    """The heading's anchor on the page."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def called(names: tuple[str, ...]) -> list[str]:
    """What a user calls, of the names of a section."""
    shown = [name.rpartition(":")[2] for name in names]
    functions = [one for name, one in zip(names, shown, strict=True) if inspect.isroutine(found(name)[0])]
    functions = [*(METHODS[one] for one in shown if one in METHODS), *functions]
    return [f"`{one}`" for one in [*functions, *(one for one in shown if one in MADE_BY_USERS)] or shown]


def returned_by(short: str) -> list[str]:
    """A line that names the functions whose signatures say that they return a class."""
    functions = {name: found(name)[0] for _, _, some in SECTIONS for name in some}
    returned = {
        name.rpartition(":")[2]: str(inspect.signature(one).return_annotation)
        for name, one in functions.items()
        if inspect.isroutine(one)
    }
    names = [name for name, said in returned.items() if re.search(rf"\b{short}\b", said)]
    names += [METHODS[short]] if short in METHODS else []
    return [f"Returned by {', '.join(f'`{name}`' for name in names)}.\n"] if names else []


def found(name: str) -> tuple[Any, str]:
    """The object of a name in SECTIONS, and the module to import it from where that is not `focuseval`."""
    module, _, attribute = name.rpartition(":")
    if module:
        return getattr(importlib.import_module(f"focuseval.{module}"), attribute), f"focuseval.{module}"
    return getattr(importlib.import_module("focuseval"), attribute), ""


def described(name: str) -> Iterator[str]:
    """The directive of one function, class or constant."""
    (value, module), short = found(name), name.rpartition(":")[2]
    where = [f"From `{module}`.\n"] if module else []
    if inspect.isclass(value):
        signed = signature(value) if short in MADE_BY_USERS else ""
        tree = markdown(inspect.getdoc(inspect.getmodule(value)))[1:] if issubclass(value, Exception) else []
        body = [*markdown(value.__doc__), *tree, *where, *returned_by(short), *members(value)]
        yield from directive("py:class", short + signed, body, colons=4)
    elif callable(value):
        first, *rest = markdown(value.__doc__)
        yield from directive("py:function", short + signature(value), [first, *where, *rest])
    else:
        yield from directive("py:data", short, [f"All {len(value)}, in the order of the reference.\n"])


def directive(kind: str, argument: str, body: list[str], colons: int = 3, **options: str) -> Iterator[str]:
    """A directive with its body; the index of names would call these functions built in, so they are not in it."""
    yield f"{':' * colons}{{{kind}}} {argument}\n:no-index-entry:"
    yield "".join(f":{name}: {value}\n" for name, value in options.items())
    yield from body
    yield f"{':' * colons}\n"


def members(cls: type) -> Iterator[str]:
    """Fields, then properties and methods; of classes of this package from which it inherits first."""
    own = [base for base in reversed(cls.__mro__) if base.__module__.startswith("focuseval")]
    for base in own:
        for name, kind, text in fields(base):
            if cls.__name__ in MADE_BY_USERS and not text:
                continue  # the signature says as much
            yield from directive("py:attribute", name, markdown(text), type=kind)
    for name, member in {name: member for base in own for name, member in public_members(base)}.items():
        if inspect.isfunction(member):
            yield from directive("py:method", name + signature(member, skip=1), markdown(member.__doc__))
        else:
            getter = getattr(member, "fget", None) or member.func
            returned = inspect.signature(getter).return_annotation
            yield from directive("py:attribute", name, markdown(getter.__doc__), type=annotation(returned))


def fields(cls: type) -> Iterator[tuple[str, str, str]]:
    """Name, annotation and the text below it, of every public field of a class."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    body = [*getattr(node, "body", ()), None]
    for field, after in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id[0] != "_":
            text = after.value if isinstance(after, ast.Expr) else None
            said = ast.literal_eval(text) if isinstance(text, ast.Constant) else ""
            yield field.target.id, ast.unparse(field.annotation), said


def public_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Methods and properties that the class itself defines, in the order of the source."""
    for name, member in vars(cls).items():
        cached = type(member).__name__ == "cached_property"
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property) or cached):
            yield name, member
