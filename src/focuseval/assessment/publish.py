"""A gold and its documents as one citable file, which needs nothing else to be scored with.

::

    README.md          a data card: YAML for Hugging Face, and a datasheet filled in from what is known
    croissant.json     the same for programs: Croissant 1.0, with a record set for documents, topics and highlights
    manifest.json      the SHA-256 and size of every other file
    documents.jsonl    id, SHA-256 of the text, length in characters, and the text
    topics.jsonl       id and question
    gold/gold.jsonl    the highlights, with quotes; gold/gold.qrels: the grades of whole documents

``focuseval score COLLECTION.zip RUN`` takes gold and documents from it, and `focuseval.bridges.ir_datasets.published`
loads it for ir_datasets. Documents have the same ids in all files.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from focuseval.assessment.archive import zip_folder
from focuseval.assessment.files import appearing
from focuseval.collection.index import Collection
from focuseval.collection.rendering import Document
from focuseval.data.fields import json_line
from focuseval.data.gold import Gold
from focuseval.data.tables import Table, numbers, render, words
from focuseval.engine.version import __version__
from focuseval.errors import UsageError, counted
from focuseval.evaluation.statistics import describe_gold
from focuseval.formats.convert import write_gold

WANTED = {
    "title": "what the collection is called",
    "description": "what it is for, in a sentence or two",
    "licence": "under which licence gold and documents may be used, such as CC-BY-4.0",
    "creators": "who made it",
    "citation": "how it is to be cited",
    "source": "where the documents come from, and their licence",
}
"""What a reader of a collection must know and the files do not say."""
_LINES = {
    "documents": ("documents.jsonl", {"doc": "Text", "sha256": "Text", "length": "Integer", "text": "Text"}),
    "topics": ("topics.jsonl", {"topic": "Text", "query": "Text"}),
    "highlights": ("gold/gold.jsonl", {"topic": "Text", "doc": "Text"}),
}
"""Record set → its file, and the fields of its lines."""


@dataclass(frozen=True)
class Card:
    """What people say about a collection."""

    title: str = ""
    description: str = ""
    licence: str = ""
    creators: tuple[str, ...] = ()
    citation: str = ""
    source: str = ""
    language: str = ""
    url: str = ""


def missing_facts(gold: Gold, card: Card) -> list[str]:
    """Return what a collection lacks before others can use and cite it, a line each."""
    lines = [f"{name}: {meaning}" for name, meaning in WANTED.items() if not getattr(card, name)]
    unasked = [topic for topic in gold.topics if not gold.queries.get(topic)]
    if unasked:
        lines.append(f"questions of {counted(len(unasked), 'topic')}: {', '.join(unasked[:5])}")
    return lines


def publish(gold: Gold, index: Collection, target: Path, card: Card, *, texts: bool = True) -> tuple[str, ...]:
    """Write a gold with its documents as one file, whole or not at all, and return remarks.

    Without `texts` the documents' hashes are in it alone, for collections that may not be passed on.
    """
    if not card.title:
        raise UsageError("a collection needs a title; give it with --title")
    ids, judged = index.ids.to_pylist(), gold.documents.to_pylist()
    rows = index.find(judged).tolist()
    names = [name if row < 0 else ids[row] for name, row in zip(judged, rows, strict=True)]
    gold = replace(gold, documents=pa.array(names, pa.string()))
    with appearing(target, "nothing was written") as partial, tempfile.TemporaryDirectory() as scratch:
        inside = Path(scratch)
        (inside / "gold").mkdir()
        remarks = write_gold(gold, inside / "gold" / "gold.jsonl", "gold-jsonl", index, lossy=True)
        write_gold(gold, inside / "gold" / "gold.qrels", "trec-qrels", index, lossy=True)
        with (inside / "documents.jsonl").open("wb") as file:
            for name, document in ((name, Document("", index.text(row))) for row, name in enumerate(ids)):
                line = {"doc": name, "sha256": document.sha256, "length": len(document.text)}
                file.write(json_line(line | ({"text": document.text} if texts else {})))
        topics = ({"topic": topic, "query": gold.queries.get(topic, "")} for topic in gold.topics)
        (inside / "topics.jsonl").write_bytes(b"".join(map(json_line, topics)))
        (inside / "README.md").write_text(_readme(gold, len(ids), card, texts=texts), encoding="utf-8")
        (inside / "croissant.json").write_text(_croissant(inside, card, texts=texts), encoding="utf-8")
        zip_folder(inside, partial, {"title": card.title, "scale": gold.scale, "texts": texts})
    return tuple(str(remark) for remark in remarks if remark.kind == "left out")


def _readme(gold: Gold, documents: int, card: Card, *, texts: bool) -> str:
    """Return the data card: YAML that Hugging Face reads, then a datasheet."""
    files = [{"config_name": name, "data_files": file} for name, (file, _) in _LINES.items()]
    about = {"pretty_name": card.title, "license": card.licence.lower(), "language": card.language, "configs": files}
    # JSON is YAML, too
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in about.items() if value)
    facts = describe_gold(gold)
    rows = tuple((name.replace("_", " "), value) for name, value in facts.items() if isinstance(value, int | float))
    said = {name: getattr(card, name) or "Not said." for name in WANTED}
    merged = f"; several judgements of a document became one by the rule *{gold.merge}*" if gold.merge else ""
    template = (Path(__file__).parent / "templates" / "published.md").read_text(encoding="utf-8")
    return template.format(
        **said | {"title": card.title, "creators": ", ".join(card.creators) or "Not said."},
        head=head,
        documents=counted(documents, "document"),
        topics=counted(len(gold.topics), "topic"),
        counts=render([Table("", (*words(""), *numbers("", form=",.2f")), rows)], "markdown").strip(),
        hashes="" if texts else " Their texts are not in the file; `documents.jsonl` has their hashes.",
        judged=f"{gold.scale}*{merged}",
        docs="" if texts else " --docs DOCUMENTS",
        version=__version__,
    )


def _croissant(folder: Path, card: Card, *, texts: bool) -> str:
    """Return the metadata of Croissant 1.0: the files with their hashes, and what their lines hold."""
    own = ("citeAs", "column", "extract", "field", "fileObject", "jsonPath", "recordSet", "source")
    context: dict[str, Any] = {"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/"}
    context |= {"cr": "http://mlcommons.org/croissant/", "dct": "http://purl.org/dc/terms/"}
    context |= {"conformsTo": "dct:conformsTo", **{name: f"cr:{name}" for name in own}}
    context |= {"dataType": {"@id": "cr:dataType", "@type": "@vocab"}}
    files, sets = [], []
    for name, (file, columns) in _LINES.items():
        digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        about = {"contentUrl": file, "encodingFormat": "application/jsonlines", "sha256": digest}
        files.append({"@type": "cr:FileObject", "@id": file, "name": file, **about})
        fields: list[dict[str, Any]] = []
        for column, kind in columns.items():
            if texts or column != "text":
                source = {"fileObject": {"@id": file}, "extract": {"column": column}}
                named = {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column}
                fields.append({**named, "dataType": f"sc:{kind}", "source": source})
        sets.append({"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields})
    said = {"description": card.description, "license": card.licence, "citeAs": card.citation, "url": card.url}
    creators = [{"@type": "Person", "name": name} for name in card.creators]
    found = {
        "@context": context,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.title,
        **{key: value for key, value in said.items() if value},
        **({"creator": creators} if creators else {}),
        **({"inLanguage": card.language} if card.language else {}),
        "distribution": files,
        "recordSet": sets,
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
