"""A finished collection as one file, from which it can be scored, checked and made again.

::

    README.md              how the collection was made, and how to use it
    manifest.json          what the archive is, with the SHA-256 and size of every other file
    documents.jsonl        the pooled documents: id, SHA-256 of the text, length in characters
    topics.xml             the topics as the project has them (topics.jsonl for questions)
    pool.jsonl             the documents that were to be judged, and which runs brought them
    judgements.jsonl       every judgement of everybody, and every event since the beginning
    gold/                  one gold from all judgements, in every format
    agreement.json         how far the assessors agree
    guidelines.md          what they were told, if anything was written

The file is made from one state of the project, whatever is judged meanwhile, and appears whole or not at all. The same
project gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.assessment.agreement import agreements, alpha, finished
from focuseval.assessment.anonymous import pseudonyms, without_names
from focuseval.assessment.archive_readme import readme
from focuseval.assessment.durable import settle
from focuseval.assessment.exchange import export_everything, import_everything
from focuseval.assessment.exports import EXPORTS, export_gold
from focuseval.assessment.golds import Whose
from focuseval.assessment.growth import project_pool
from focuseval.assessment.guidelines import guidelines
from focuseval.assessment.pool import write_pool
from focuseval.assessment.store import Store
from focuseval.assessment.wording import topic_files
from focuseval.engine.version import __version__
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focuseval.collection.rendering import DocumentCache
    from focuseval.data.topics import Topic

KIND, VERSION = "archive", 1
MANIFEST = "manifest.json"
_GOLD = {"gold-jsonl": "gold.jsonl", "inex-2005": "inex-2005", "inex-2008": "inex-2008.txt", "trec-qrels": "gold.qrels"}
_OLDEST = (1980, 1, 1, 0, 0, 0)
"""The time that every file in the archive has, so that equal contents are equal bytes."""


def write_archive(
    store: Store,
    documents: DocumentCache,
    topics: Sequence[Topic],
    target: Path,
    *,
    rule: str = "union",
    imported: bool = False,
    title: str = "",
    anonymous: bool = False,
) -> tuple[str, ...]:
    """Write a project as an archive, whole or not at all, and return remarks on its gold.

    Parameters
    ----------
    store, documents, topics
        The project; its folder has the topics' own files.
    target
        The file to write.
    rule
        How several judgements of a document become one where nobody decided; see `focuseval.assessment.merge`.
    imported
        Whether imported assessors take part in the gold; their judgements are in the archive in any case.
    title
        What the README calls the collection; the project's folder without it.
    anonymous
        Whether people are called a1, a2 … everywhere in the archive; see `focuseval.assessment.anonymous`.
    """
    folder = store.database.path.parent
    partial = target.with_name(f".{target.name}.partial")
    try:
        with (
            tempfile.TemporaryDirectory() as scratch,
            closing(_frozen(store, Path(scratch), anonymous=anonymous)) as frozen,
        ):
            inside = Path(scratch) / "archive"
            (inside / "gold").mkdir(parents=True)
            queries = {topic.id: topic.title for topic in topics if topic.title}
            remarks = _write_gold(frozen, documents, inside / "gold", Whose(merge=rule, imported=imported), queries)
            facts = _write_facts(frozen, documents, inside) | {"anonymous": anonymous}
            _copy_topics(folder, inside)
            text = readme(frozen, title or folder.resolve().name, topics, facts, rule=rule, remarks=remarks)
            (inside / "README.md").write_text(text, encoding="utf-8")
            _zip(inside, partial, {"exhaustivity": frozen.exhaustivity, "merge": rule, "anonymous": anonymous})
        settle(partial, target)
    except OSError as error:
        raise AssessError(f"{target}: {error.strerror}; no archive was written") from error
    finally:
        partial.unlink(missing_ok=True)
    return remarks


def _copy_topics(project: Path, folder: Path) -> None:
    """Copy the topics' own files."""
    for name, file in topic_files(project):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(file.read_bytes())


def _frozen(store: Store, scratch: Path, *, anonymous: bool) -> Store:
    """Return a copy of the project's file as it is at this moment, without people's names where that is asked for."""
    store.database.backup(scratch / "assess.db")
    frozen = Store(scratch / "assess.db", exhaustivity=store.exhaustivity)
    if not anonymous:
        return frozen
    with closing(frozen):
        hidden = Store(scratch / "anonymous.db", exhaustivity=store.exhaustivity)
        import_everything(hidden, without_names(export_everything(frozen), pseudonyms(frozen)))
    return hidden


def _write_gold(
    store: Store, documents: DocumentCache, folder: Path, whose: Whose, queries: Mapping[str, str]
) -> tuple[str, ...]:
    """Write one gold in every format, and return what is to be said of it."""
    remarks: dict[str, None] = {}
    for wanted in EXPORTS:
        told = export_gold(store, documents, folder / _GOLD[wanted], wanted, whose=whose, queries=queries)
        lines = (line.replace(str(folder), "gold") for line in told)
        remarks |= dict.fromkeys(f"{wanted}: {line}" if line.startswith("left out") else line for line in lines)
    return tuple(remarks)


def _write_facts(store: Store, documents: DocumentCache, folder: Path) -> dict[str, Any]:
    """Write what is known beside the gold, and return the agreement for the README."""
    pool = project_pool(store)
    write_pool(pool, folder / "pool.jsonl")
    with (folder / "judgements.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(export_everything(store))
    judged = {key.document for key in store.judged()}
    names = sorted({entry.document for entry in pool.entries} | judged)
    pages = (documents.plain(name) for name in names)
    lines = ({"doc": page.id, "sha256": page.sha256, "length": len(page.text)} for page in pages)
    _write_lines(folder / "documents.jsonl", [json.dumps(line, ensure_ascii=False) for line in lines])
    found = finished(store)
    pairs = [vars(pair) for pair in agreements(found, documents.extents, common=True)]
    agreement = {"documents_alpha": _number(alpha(found)), "pairs": [_numbers(pair) for pair in pairs]}
    _write_lines(folder / "agreement.json", [json.dumps(agreement, ensure_ascii=False, indent=1)])
    told = guidelines(store)
    if told.version:
        _write_lines(folder / "guidelines.md", [told.text.rstrip("\n")])
    return {**agreement, "pool": pool, "documents": len(names), "guidelines": told.version}


def _zip(folder: Path, target: Path, facts: dict[str, Any]) -> None:
    """Write a folder as an archive, its manifest first."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in contents.items()}
    manifest = {"focuseval": KIND, "version": VERSION, **facts, "made_by": __version__, "files": listed}
    head = {MANIFEST: (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**head, **contents}.items():
            info = zipfile.ZipInfo(name, _OLDEST)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _number(value) if isinstance(value, float) else value for name, value in values.items()}


def _number(value: float) -> float | None:
    """Return a number as JSON has it: none where nothing can be said."""
    return None if value != value else value  # noqa: PLR0124  NaN alone differs from itself
