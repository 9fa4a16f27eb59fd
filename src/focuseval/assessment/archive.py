"""A finished collection as one file, from which it can be scored, checked and made again.

::

    README.md              how the collection was made, and how to use it
    manifest.json          what the archive is, with the SHA-256 and size of every other file
    documents.jsonl        the pooled documents: id, SHA-256 of the text, length in characters
    topics.xml             the topics as the project has them (topics.jsonl for questions)
    pool.jsonl             the documents that were to be judged, and which runs brought them
    judgements.jsonl       every judgement of everybody, and every event since the beginning
    gold/                  one gold from all judgements, in every format
    runs/                  the runs that the project keeps, by which the page Ranking ranks them
    agreement.json         how far the assessors agree
    guidelines.md          what they were told, if anything was written

The file is made from one state of the project, whatever is judged meanwhile, and appears whole or not at all. The same
project gives the same bytes.

Nothing is unpacked by the names that an archive gives: members are looked up by names that we know, are as large as the
manifest says, and have the hash that it says.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from focuseval.assessment.agreement import agreements, alpha, finished, without_nan
from focuseval.assessment.exchange import export_everything, import_everything, pseudonyms, without_names
from focuseval.assessment.files import appearing
from focuseval.assessment.golds import OF_SCALE, Whose, export_gold
from focuseval.assessment.plan import assessors, found_alone, roles
from focuseval.assessment.pool import FOLDER, keep_run, kept_runs, project_pool, write_pool
from focuseval.assessment.project import guidelines, topic_files
from focuseval.assessment.rules import COVERAGE, EXHAUSTIVITY, HIGHLIGHTS, PAIRS, SCALES, scale_facts, scale_of
from focuseval.assessment.store import ADJUDICATED, Store
from focuseval.collection.index import Index
from focuseval.collection.rendering import Document, DocumentCache
from focuseval.data.fields import json_line, numbered_lines
from focuseval.data.gold import Gold
from focuseval.data.tables import Column, Row, Table, numbers, render, words
from focuseval.data.topics import Topic
from focuseval.engine.version import __version__
from focuseval.errors import AssessError, FormatError, NotComparableError, counted
from focuseval.formats import read_gold
from focuseval.formats.embedded import open_documents

KIND, VERSION = "archive", 1
MANIFEST = "manifest.json"
LARGEST = 2**31  # bytes of all files of an archive, unpacked
DENSEST, SMALL = 200, 2**24
"""How many times larger than packed a file of more than `SMALL` bytes may be: judgements are some twenty times."""
_GOLD = {"gold-jsonl": "gold.jsonl", "inex-2005": "inex-2005", "inex-2008": "inex-2008.txt", "trec-qrels": "gold.qrels"}
_ON_ELEMENTS = {COVERAGE: {"inex-2002": "inex-2002"}, PAIRS: {"inex-2003": "inex-2003"}}
_RULES = {
    "union": "what anybody highlighted",
    "intersection": "what everybody highlighted",
    "majority": "what more than half of the assessors highlighted",
    "lead": "the judgement of a lead",
}
_HOW = {
    HIGHLIGHTS: " by highlighting what is relevant",
    EXHAUSTIVITY: " by highlighting what is relevant, and elements were graded for exhaustivity, too",
    COVERAGE: " by grading elements for relevance and coverage, as in INEX 2002",
    PAIRS: " by grading elements for exhaustivity and specificity, as in INEX 2003 and 2004",
}


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

    `rule` says how several judgements of a document become one where nobody decided; see
    `focuseval.assessment.adjudication`. `imported` assessors take part in the gold when asked; their judgements are in
    the archive in any case. The README calls the collection by its `title`, else by the project's folder. With
    `anonymous` people are called a1, a2 … everywhere in the archive; see `focuseval.assessment.exchange`.
    """
    project, whose, remarks = store.database.path.parent, Whose(merge=rule, imported=imported), dict[str, None]()
    with (
        appearing(target, "no archive was written") as partial,
        tempfile.TemporaryDirectory() as scratch,
        closing(_frozen(store, Path(scratch), anonymous=anonymous)) as frozen,
    ):
        inside = Path(scratch) / "archive"
        gold = inside / "gold"
        gold.mkdir(parents=True)
        queries = {topic.id: topic.title for topic in topics if topic.title}
        for wanted, name in _ON_ELEMENTS.get(store.scale, _GOLD).items():
            found = export_gold(frozen, documents, gold / name, wanted, whose=whose, queries=queries)
            remarks |= dict.fromkeys(str(remark).replace(str(gold), "gold") for remark in found)
        facts = _write_facts(frozen, documents, inside) | {"anonymous": anonymous}
        runs = [(f"{FOLDER}/{file.name}", file) for file in kept_runs(project)]
        for name, file in (*topic_files(project), *runs):
            (inside / name).parent.mkdir(exist_ok=True)
            (inside / name).write_bytes(file.read_bytes())
        text = readme(frozen, title or project.resolve().name, topics, facts, rule=rule, remarks=remarks)
        (inside / "README.md").write_text(text, encoding="utf-8")
        zip_folder(inside, partial, {**scale_facts(store.scale), "merge": rule, "anonymous": anonymous})
    return tuple(remarks)


def _frozen(store: Store, scratch: Path, *, anonymous: bool) -> Store:
    """Return a copy of the project's file as it is at this moment, without people's names where that is asked for."""
    store.database.backup(scratch / "assess.db")
    frozen = Store(scratch / "assess.db", scale=store.scale)
    if not anonymous:
        return frozen
    with closing(frozen):
        hidden = Store(scratch / "anonymous.db", scale=store.scale)
        import_everything(hidden, enumerate(without_names(export_everything(frozen), pseudonyms(frozen)), 1))
    return hidden


def _write_facts(store: Store, documents: DocumentCache, folder: Path) -> dict[str, Any]:
    """Write what is known beside the gold, and return the agreement for the README."""
    pool, written, found = project_pool(store), guidelines(store), finished(store)
    write_pool(pool, folder / "pool.jsonl")
    with (folder / "judgements.jsonl").open("wb") as file:
        file.writelines(export_everything(store))
    names = sorted({entry.document for entry in pool.entries} | {key.document for key in store.judged()})
    pages = ({"doc": page.id, "sha256": page.sha256, "length": len(page.text)} for page in map(documents.plain, names))
    with (folder / "documents.jsonl").open("wb") as file:
        file.writelines(map(json_line, pages))
    pairs = [vars(pair) for pair in agreements(found, documents.extents)]
    agreement = without_nan({"documents_alpha": alpha(finished(store, by_people=True)), "pairs": pairs})
    (folder / "agreement.json").write_bytes(f"{json.dumps(agreement, ensure_ascii=False, indent=1)}\n".encode())
    if written.version:
        (folder / "guidelines.md").write_bytes(written.text.rstrip("\n").encode() + b"\n")
    return {**agreement, "pool": pool, "documents": len(names), "guidelines": written.version}


def zip_folder(folder: Path, target: Path, facts: dict[str, Any]) -> None:
    """Write a folder as an archive, its manifest first."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in contents.items()}
    manifest = {"focuseval": KIND, "version": VERSION, **facts, "made_by": __version__, "files": listed}
    head = {MANIFEST: (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**head, **contents}.items():
            info = zipfile.ZipInfo(name)  # of 1980, so that equal contents are equal bytes
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)


def readme(
    store: Store, title: str, topics: Sequence[Topic], facts: Mapping[str, Any], *, rule: str, remarks: Iterable[str]
) -> str:
    """Return the README of a project: `facts` are what `_write_facts` returned, and whether names were replaced."""
    first, last = store.rows("SELECT min(at), max(at) FROM events").fetchone()
    pool, pairs, alpha = facts["pool"], facts["pairs"], facts["documents_alpha"]
    to_judge = counted(len(pool.entries), "document")
    brought = f"{to_judge}; which runs brought them was not recorded."
    if pool.contributors:
        columns = (*words("run", "file"), *numbers("batch", "depth", form=".0f"), *words("sha256"))
        rows = tuple((one.run, one.file, one.batch + 1, one.depth, one.sha256) for one in pool.contributors)
        found = found_alone(store)
        others = f"{found} of them found by assessors, the others " if found else ""
        brought = f"{to_judge} to judge, {others}from {counted(len(pool.runs), 'run')}:\n\n{_markdown(columns, rows)}"
    known = roles(store)
    counts = dict(store.rows("SELECT assessor, count(*) FROM judgements GROUP BY 1").fetchall())
    people = tuple((one.label, known.get(one.name, "assessor"), counts.get(one.name, 0)) for one in assessors(store))
    agreement = "No two assessors finished a document in common."
    if pairs:
        columns = (*words("assessor", "assessor"), *numbers("documents", form=".0f"))
        columns += numbers("κ", "Jaccard", form=".3f")
        rows = tuple((one["left"], one["right"], one["documents"], one["kappa"], one["jaccard"]) for one in pairs)
        of_all = "" if alpha is None else f"\n\nKrippendorff's α of documents, people alone: {alpha:.3f}"
        agreement = f"{_markdown(columns, rows)}{of_all}"
    version, written = facts["guidelines"], "The assessors were told what stands in `guidelines.md` (version {})."
    template = (Path(__file__).parent / "templates" / "archive.md").read_text(encoding="utf-8")
    return template.format(
        title=title,
        topics=len(topics),
        pooled=len(pool.entries),
        documents=facts["documents"],
        judged=len({key[1:] for key in store.judged()}),
        how=_HOW[store.scale],
        first=first[:10],
        last=last[:10],
        pool=brought,
        people=_markdown((*words("assessor", "role"), *numbers("judgements", form=".0f")), people),
        decided=counted(counts.get(ADJUDICATED, 0), "document"),
        hidden="\n\nPeople are called a1, a2 … here, everybody the same throughout." if facts["anonymous"] else "",
        rule=f"{_RULES[rule]} (`{rule}`)",
        remarks="".join(f"\n- {line}" for line in remarks),
        agreement=agreement,
        guidelines=written.format(version) if version else "None were written.",
        version=__version__,
    )


def _markdown(columns: tuple[Column, ...], rows: tuple[Row, ...]) -> str:
    return render([Table("", columns, rows)], "markdown").strip()


@dataclass(frozen=True)
class Archive:
    """An archive whose manifest was read."""

    path: Path
    manifest: dict[str, Any]

    @property
    def scale(self) -> str:
        """The scale that was judged on."""
        found = scale_of(self.manifest)
        return found if found in SCALES else HIGHLIGHTS

    def read(self, name: str) -> bytes:
        """Return one file, after its size and hash were found to be as the manifest says."""
        listed = self.manifest["files"].get(name)
        if listed is None:
            raise FormatError(f"expected {name} in the archive, found none", at=str(self.path))
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(name) as file:
                if listed["bytes"] > max(SMALL, DENSEST * archive.getinfo(name).compress_size):
                    what = f"expected {name} as an archive has it, found {DENSEST} times its size when unpacked"
                    raise FormatError(what, at=str(self.path))
                data = file.read(listed["bytes"] + 1)
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, EOFError, NotImplementedError) as error:
            raise FormatError(f"expected {name} in the archive, found: {error}", at=str(self.path)) from error
        if hashlib.sha256(data).hexdigest() != listed["sha256"]:
            what = f"expected {name} as the manifest describes it, found other bytes"
            raise FormatError(what, at=str(self.path), remedy="get the archive again")
        return data

    def text(self, name: str) -> str:
        """Return one file as text."""
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"expected {name} in UTF-8, found: {error}", at=str(self.path)) from error

    def documents(self, field: str = "sha256") -> dict[str, str]:
        """Return document → SHA-256 of its text, as it was judged, or its ``text``, where that is in the archive."""
        try:
            values = [json.loads(line) for _, line in numbered_lines(self.text("documents.jsonl"))]
            return {str(value["doc"]): str(value[field]) for value in values}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"expected documents.jsonl with 'doc' and {field!r} in every line, found: {error}"
            raise FormatError(what, at=str(self.path)) from error


def open_archive(path: str | Path) -> Archive:
    """Return an archive, after its manifest was read."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(MANIFEST) as file:
            manifest = json.loads(file.read(2**26))
        kind, files = manifest["focuseval"], manifest["files"]
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile, RuntimeError, EOFError) as error:
        raise FormatError(f"expected an archive of a collection, found: {error}", at=str(path)) from error
    listed: list[Any] = list(files.values()) if isinstance(files, dict) else [None]
    whole = all(isinstance(one, dict) and isinstance(one.get("sha256"), str) for one in listed)
    sizes = [one.get("bytes") for one in listed] if whole else []
    whole = whole and all(type(size) is int and size >= 0 for size in sizes) and sum(sizes) <= LARGEST
    if not whole or kind != KIND or manifest.get("version") != VERSION:
        what = "expected an archive of a collection, found another kind, a newer version, or no list of its files"
        raise FormatError(what, at=str(path))
    return Archive(Path(path), manifest)


def archive_gold(path: str | Path, *, index: Index | None = None) -> tuple[Gold, Index | None]:
    """Return the gold of an archive and its collection, which `focuseval.assessment.publish` puts into it.

    Another collection is taken after its texts were found to be those that were judged.
    """
    archive = open_archive(path)
    if index is None and archive.manifest.get("texts"):
        index = open_documents(archive.documents("text"))
    other = changed_documents(archive, index) if index is not None else []
    if other:
        more = f" ({len(other)} documents differ)" if len(other) > 1 else ""
        what = f"{archive.path}: expected the texts that were judged, found another one of {other[0]!r}{more}"
        raise NotComparableError(f"{what}; give the collection of the archive")
    wanted = OF_SCALE[archive.scale]
    graded = wanted != "gold-jsonl"
    inside = f"gold/{wanted}/" if graded else "gold/gold.jsonl"
    with tempfile.TemporaryDirectory() as scratch:
        for name in archive.manifest["files"]:
            if name.startswith(inside):
                (Path(scratch) / _plain(name)).write_bytes(archive.read(name))
        with named_after(archive, scratch):
            gold = read_gold(Path(scratch) / ("" if graded else "gold.jsonl"), format=wanted, index=index)
        return replace(gold, file=str(path)), index


@contextmanager
def named_after(archive: Archive, scratch: str) -> Iterator[None]:
    """Let errors in the block name the archive, not the folder into which a part of it was written."""
    try:
        yield
    except FormatError as error:
        raise FormatError(str(error).replace(f"{scratch}/", f"{archive.path}: ")) from error


def changed_documents(archive: Archive, index: Index) -> list[str]:
    """Return the documents whose text in a collection is not the one of the archive, or that it does not have."""
    judged = archive.documents()
    rows = zip(judged, index.find(list(judged)).tolist(), strict=True)
    return [name for name, row in rows if row < 0 or Document("", index.text(row)).sha256 != judged[name]]


def topics_of(archive: Archive, folder: Path) -> Path:
    """Write the topics of an archive into a folder, and return where."""
    names = [name for name in archive.manifest["files"] if name.startswith("topics")]
    if not names:
        raise AssessError(f"{archive.path}: expected topics in the archive, found none")
    alone = len(names) == 1 and "/" not in names[0]
    target = folder / (f"topics{Path(names[0]).suffix}" if alone else "topics")
    if not alone:
        target.mkdir()
    for name in names:
        (target if alone else target / _plain(name)).write_bytes(archive.read(name))
    return target


def keep_runs(archive: Archive, project: Path, index: Index) -> int:
    """Keep the runs of an archive with a project, each after it was read as one; return how many."""
    names = [name for name in archive.manifest["files"] if name.startswith(f"{FOLDER}/")]
    for name in names:
        keep_run(project, _plain(name)[13:], archive.read(name), index=index)  # without the hash that stands before it
    return len(names)


def _plain(name: str) -> str:
    """Return the last part of a member's name, which is a file's and never a path."""
    last = name.rpartition("/")[2]
    if not re.fullmatch(r"\w[\w.-]*", last):
        raise FormatError(f"expected a plain file name in the archive, found {name!r}")
    return last
