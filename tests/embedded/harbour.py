"""The gold of the harbour handbook: what visitors asked, with the quotes that answer it turned into spans."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from embedded.judge import find_quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FIELDS = {"id", "query", "tag", "forbidden", "answerable"}
"""Keys of a question that name no document."""


def gold_lines(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a line for every question and document that holds an answer to it, or text that must not come back."""
    for question in tomllib.loads((folder / "questions.toml").read_text(encoding="utf-8"))["question"]:
        line = {"topic": question["id"], "query": question["query"]}
        if question.get("answerable") is False:
            yield line | {"answerable": False}
            continue
        forbidden = question.get("forbidden", {})
        for name in [key for key in question if key not in _FIELDS] + [*forbidden]:
            text = (folder / "docs" / f"{name}.md").read_text(encoding="utf-8")
            place = {"doc": f"{name}.md", "spans": _spans(text, question.get(name, []))}
            banned = {"forbidden": _spans(text, forbidden[name])} if name in forbidden else {}
            yield line | place | banned | {"length": len(text), "tags": [question["tag"]]}


def build_harbour(source: Path, folder: Path) -> None:
    """Write the gold as JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in gold_lines(source))
    (folder / "gold.jsonl").write_text(lines, encoding="utf-8", newline="\n")


def _spans(text: str, quotes: list[str]) -> list[dict[str, Any]]:
    found = sorted(find_quote(text, quote) for quote in quotes)
    return [{"start": start, "end": end, "quote": text[start:end]} for start, end in found]
