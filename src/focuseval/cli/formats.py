"""``focuseval formats``: what can be read and written; and JSON Schemas of our own files, made from their types."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import click
import msgspec

from focuseval.assessment.pool import Contributor
from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, json_text, write_results
from focuseval.data.tables import Table, words
from focuseval.errors import UsageError, did_you_mean
from focuseval.formats.catalogue import FORMATS, find_format
from focuseval.formats.gold_jsonl import JudgementRecord
from focuseval.formats.run_jsonl import Result


class PoolHead(TypedDict):
    """The first line of a pool: how it was made."""

    pool: Literal[1]
    depth: int | None
    size: int | None
    order: str
    seed: int
    runs: list[Contributor]


class PooledDocument(TypedDict):
    """Every other line of a pool: a document to judge, and the numbers of the runs that brought it."""

    topic: str
    doc: str
    runs: int
    best: int
    by: list[int]
    batch: int


class ProjectSettings(TypedDict):
    """The file project.json of an assessment project."""

    focuseval: Literal["project"]
    version: NotRequired[int]
    exhaustivity: bool
    scale: NotRequired[str]
    collection: str
    html: NotRequired[str]


class ScoredRun(TypedDict):
    """The scores of one run; other counts stand beside these where they are not 0."""

    run: str
    file: str
    topics: int
    missing: int
    excluded: int
    unjudged: int
    measures: dict[str, float | None]
    excluded_per_measure: NotRequired[dict[str, int]]
    per_topic: NotRequired[dict[str, dict[str, float | None]]]
    tags: NotRequired[dict[str, dict[str, Any]]]


class ScoresFile(TypedDict):
    """What 'focuseval score --format json' writes."""

    signature: str
    profile: str | None
    task: str | None
    gold_sha256: str
    docs_sha256: str | None
    runs: list[ScoredRun]
    judged: NotRequired[dict[str, Any]]


SCHEMAS: dict[str, Any] = {
    "gold-jsonl": JudgementRecord,
    "run-jsonl": Result,
    "scores": ScoresFile,
    "pool": PoolHead,
    "project": ProjectSettings,
}
"""Files of our own, and the type of one file, or of one line."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file of ours, or of each of its lines: what is accepted, so that other keys are.

    >>> sorted(schema("project")["$defs"]["ProjectSettings"]["required"])
    ['collection', 'exhaustivity', 'focuseval']
    """
    if name not in SCHEMAS:
        remedy = did_you_mean(name, list(SCHEMAS), "others are described by 'focuseval formats NAME'")
        raise UsageError(f"expected one of {', '.join(SCHEMAS)} for --schema, found {name!r}; {remedy}")
    if name == "pool":  # a union of objects, which msgspec takes only where one key tells them apart
        refs, defs = msgspec.json.schema_components((PoolHead, PooledDocument), ref_template="#/$defs/{name}")
        found: dict[str, Any] = {"anyOf": list(refs), "$defs": defs}
    else:
        found = msgspec.json.schema(SCHEMAS[name])
    for one in found["$defs"].values():
        one.pop("additionalProperties", None)
    if name == "gold-jsonl":  # a question that nothing answers has no document, and null judges nothing
        line = found["$defs"]["JudgementRecord"]
        unanswered = {"properties": {"answerable": {"const": False}}, "required": ["answerable"]}
        line |= {"required": ["topic"], "anyOf": [{"required": ["doc"]}, unanswered]}
        line["properties"]["spans"] = {"anyOf": [line["properties"]["spans"], {"type": "null"}]}
    title = f"{name} of focuseval{', each line' if name.endswith('jsonl') or name == 'pool' else ''}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **found}


@click.command(cls=Command, opens=NO)
@click.argument("name", required=False)
@click.option("--schema", "as_schema", is_flag=True, help=f"Print NAME's JSON Schema: {', '.join(SCHEMAS)}.")
@layout_option("table", "json", what="How they are printed.")
def formats(name: str | None, layout: str, *, as_schema: bool) -> None:
    r"""List the formats, or explain one with a sample.

    \b
    Examples:
      focuseval formats
      focuseval formats inex-text
      focuseval formats gold-jsonl --schema > gold.schema.json
    """
    if as_schema:
        click.echo(json_text(schema(name or "")), nl=False)
        return
    known, plain = [find_format(name)] if name else FORMATS, ("name", "kind", "summary", "aliases", "suffixes")
    values = [{key: getattr(one, key) for key in plain} | {"says": sorted(one.says)} for one in known]
    runs, golds = (tuple((f.name, f.summary) for f in known if f.kind == kind) for kind in ("run", "gold"))
    tables = [Table(title, words("format", "summary"), rows) for title, rows in (("Runs", runs), ("Gold", golds))]
    text = (lambda: f"{known[0].documentation.strip()}\n") if name and layout == "table" else None
    write_results({"layout": layout}, lambda: values[0] if name else values, lambda: tables, text=text)
