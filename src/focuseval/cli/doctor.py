"""``focuseval doctor``: what files are, what was understood in them, and what can be computed from them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from focuseval.assessment.archive import archive_gold
from focuseval.cli.commands import as_options
from focuseval.cli.options import is_archive, is_project, layout_option
from focuseval.cli.output import NO, Command, json_text
from focuseval.cli.stats import are_topics
from focuseval.collection.document_files import CONTAINERS, DOCUMENTS, holds_documents, kind_of
from focuseval.collection.sources import left_out
from focuseval.collection.store import is_index
from focuseval.data.fields import KNOWN, NAMES, spelled
from focuseval.engine.storage import in_order, location
from focuseval.errors import FocusevalError, counted
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats.catalogue import Kind, detect_source, sniffed
from focuseval.formats.content import open_source, open_sources
from focuseval.formats.detection import first_keys
from focuseval.formats.embedded import open_documents, read_questions
from focuseval.formats.files import read_gold, read_run
from focuseval.measures.catalogue import MEASURES

_AT = {"rank": "@10", "level": "@0.1", "spanR": "@5", "nDCG": "@10"}
"""What stands behind the name of a measure that is tried, where it must have a cut-off or usually has one."""
_SHOWN = ("spanR", "nDCG", "MAgP")


@click.command(cls=Command, opens=NO)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@layout_option("text", "json", what="How it is printed.")
def doctor(files: tuple[str, ...], layout: str) -> None:
    r"""Say what each FILE is, what was understood in it, and which measures the FILEs give together.

    A FILE is a gold, a run, topics, documents (a file or a folder), an index, a project, or what 'publish' wrote.
    Nothing is written, and the exit code is 1 if a FILE cannot be read and nothing can be computed.

    \b
    Examples:
      focuseval doctor results.json
      focuseval doctor gold.jsonl results.json docs/
    """
    index, found = None, list[dict[str, Any]]()
    for missing in (file for file in files if not location(file).exists()):
        open_sources(missing)  # which says so
    roles: dict[str, list[Any]] = {"gold": [], "run": [], "unread": []}
    for file in sorted(filter(_holds_documents, files), key=_is_beir, reverse=True):  # of several the last counts
        one: dict[str, Any] = {"file": file, "is": "documents", "lines": []}
        try:
            if is_archive(file):
                gold, own = archive_gold(file)
                index = index if own is None else own
                one |= {"is": "a published collection", "lines": [gold.description()]}
                roles["gold"].append(gold)
            else:
                index = own = open_documents(file)
            one["lines"] += [] if own is None else filter(None, (own.description(), left_out(own.metadata)))
        except FocusevalError as error:
            one["error"] = as_options(error)
        found.append(one)
    known = {one["file"] for one in found}
    found += [_examined(file, index, roles) for file in files if file not in known or _is_beir(file)]
    tried = [_tried(gold, run, index) for gold in roles["gold"] for run in roles["run"]]
    if layout == "json":
        click.echo(json_text({"files": found, "together": tried}), nl=False)
    else:
        for one in (*found, *tried):
            click.echo(f"{one['file']}: {one['is']}")
            for line in (*one["lines"], *([f"cannot be read: {one['error']}"] if "error" in one else [])):
                click.echo(f"  {line}")
        if not tried:
            lacking = [f"a {kind}" for kind in ("gold", "run") if not roles[kind] and kind not in roles["unread"]]
            lacking += ["the documents"] if index is None else []
            click.echo(f"to compute measures, name {' and '.join(lacking) or 'files that can be read'}, too")
    if any("error" in one for one in found) and not any(one.get("computed") for one in tried):
        click.get_current_context().exit(1)


def _is_beir(file: str) -> bool:
    return (location(file) / "qrels").is_dir()


def _holds_documents(file: str) -> bool:
    """Say whether a name is that of an index, of documents, of both in one file, or of a folder that is no gold."""
    place, extension = location(file), kind_of(file)[1]
    if is_project(file) or is_index(file) or is_archive(file):
        return not is_project(file)
    if place.is_dir():
        files = (one for one in in_order(place.rglob("*")) if one.is_file())
        held = (one for one in files if not one.name.startswith((".", "assess.db")))
        first = next(held, None)  # never a database, which a server may have open
        return _is_beir(file) or first is None or sniffed(open_source(first).head()) is None
    kind = CONTAINERS.get(extension, "")
    if not place.is_file() or not (kind or extension in DOCUMENTS):
        return False
    source = open_source(file)  # which may be a run, a gold or topics in lines or in XML, too
    known = sniffed(source.head()) is not None
    return not known and (holds_documents(place, kind) if kind else not are_topics(source))


_ROWS = {"run-rows", "gold-rows", "run-jsonl", "gold-jsonl"}
"""Formats whose rows have fields under the names that people use."""


def _examined(file: str, index: Any, roles: dict[str, list[Any]]) -> dict[str, Any]:
    """Return what a gold, a run or topics are; each role that it can have is noted."""
    if is_project(file):
        return {"file": file, "is": "an assessment project, which 'focuseval stats' describes", "lines": []}
    lines: list[str] = []
    one: dict[str, Any] = {"file": file, "is": "", "lines": lines}
    try:
        source = open_sources(file)[0]
        kinds: tuple[Kind, ...] = ("gold",) if location(file).is_dir() else ("gold", "run")
        known = {kind: known for kind in kinds if (known := sniffed(source.head(), kind))}
        keys, topics = first_keys(source.head()), 0
        with suppress(FocusevalError):
            topics = len(read_questions(file)) if not known and (keys or are_topics(source)) else 0
        read, refused = dict[Kind, Any](), dict[Kind, FocusevalError]()
        for kind in known:
            try:
                read[kind] = (read_gold if kind == "gold" else read_run)(file, index=index)
                roles[kind].append(file)
            except FocusevalError as error:  # as dense scores by topic, which could be grades
                refused[kind] = error
        one["is"] = " and ".join(f"a {kind} ({known[kind].name})" for kind in read or known)
        one["is"] = counted(topics, "topic") if topics else one["is"] or detect_source(source).name
        if keys and (not known or {one.name for one in known.values()} & _ROWS):
            means: dict[str, str] = {}
            for ours in NAMES:
                for name in spelled(sorted(keys), ours, question=True)[:1]:
                    means.setdefault(name, ours)
            lines.append("fields: " + ", ".join(f"{name} = {ours}" for name, ours in means.items()))
            lines += [f"left out: {', '.join(left)}"] if (left := sorted(keys - KNOWN - means.keys())) else []
        for each in read.values():
            lines += [each.description(), *(as_options(remark.sentence) for remark in each.remarks)]
        lines += [f"not a {kind}: {as_options(why)}" for kind, why in refused.items() if read]
        if refused and not read:
            roles["unread"] += known
            raise next(iter(refused.values()))
    except FocusevalError as error:
        one |= {"is": one["is"] or "not understood", "error": as_options(error)}
    return one


def _tried(gold: Any, run: str, index: Any) -> dict[str, Any]:
    """Return which measures a gold and a run give together, and why not others; each is computed."""
    found, computed = dict[str, list[str]](), dict[str, float]()
    names = {one.name: one.name + _AT.get(one.at[0] if one.at_required else one.name, "") for one in MEASURES}
    for needs in dict.fromkeys(measure.needs for measure in MEASURES):
        some = [measure.name for measure in MEASURES if measure.needs == needs]
        for tried in [some, *([name] for name in some if len(some) > 1)]:  # together, and if that fails one by one
            if computed.keys() >= set(tried):
                continue
            try:
                means = evaluate(gold, run, [names[name] for name in tried], index=index).means()
                computed |= zip(tried, next(iter(means.values())).values(), strict=True)
            except FocusevalError as error:
                if len(tried) == 1:
                    found.setdefault(as_options(error), []).append(tried[0])
    shown = [f"{names[name]} = {value:.4f}" for name, value in computed.items() if name in _SHOWN]
    lines = [f"{counted(len(computed), 'measure')} can be computed: {', '.join(computed)}"] if computed else []
    lines += [f"among these {', '.join(shown)}"] if shown else []
    lines += [f"not {', '.join(some)}: {why}" for why, some in found.items()]
    both = f"{getattr(gold, 'file', gold)} + {run}"
    return {"file": both, "is": "together", "lines": lines, "computed": list(computed)}
