"""Questions that a language model drafts from documents drawn at random, every quote of their answers verified.

A draft is a line of our gold, with the answer beside it::

    {"topic": "draft-1", "query": "…", "origin": "draft", "doc": "a.md", "answer": "…",
     "spans": [{"start": 3, "end": 9, "quote": "…"}]}

A question whose quotes are not all in the text is dropped, and so is one that nearly repeats an earlier one. Requests
and replies are kept beside the drafts, as those of 'focuseval judge' in their project, and never asked twice.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from operator import index as index_of
from pathlib import Path
from typing import Any

from focuseval.assessment.models.client import Asker, ModelSettings, WindowRequest, window_request
from focuseval.assessment.models.judging import IN_A_ROW
from focuseval.assessment.models.prompt import ModelAnswer, answer_object, fenced, place_answers, storable, windows
from focuseval.assessment.plan import MODEL, Assessor, Pooled, add_to_pool, people, record, register
from focuseval.assessment.project import Project
from focuseval.assessment.rules import OPEN, as_dict
from focuseval.assessment.store import Key, Store
from focuseval.collection.index import Index
from focuseval.data.fields import numbered_lines
from focuseval.errors import AnswerError, AssessError, ModelError, UnansweredError, counted

RULES = (Path(__file__).parent / "templates" / "draft.txt").read_text(encoding="utf-8").removesuffix("\n")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "quotes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["question", "answer", "quotes"],
    "additionalProperties": False,
}
NEAR = 0.8  # the share of words in common from which a question repeats another
TRIES = 3  # requests for every question that is wanted, at most


@dataclass(frozen=True)
class Drafted:
    """Drafts as lines of a gold, and what became of the other questions."""

    lines: tuple[dict[str, Any], ...]
    requests: int
    """That were sent this time; what was answered before is not asked again."""
    invented: int = 0  # questions with a quote that is not in the text, or with none
    repeated: int = 0  # questions that nearly repeat an earlier one
    failed: tuple[str, ...] = ()  # parts of documents without an answer, and why

    def __str__(self) -> str:
        dropped = f"{self.invented:,} dropped whose quotes are not in the text, {self.repeated:,} that repeat another"
        return f"{counted(len(self.lines), 'question')}; {dropped}; {counted(self.requests, 'request')} sent"


def read_draft(body: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the question, the answer and the quotes in the body of a reply."""
    value, _ = answer_object(body)
    for name in ("question", "answer"):
        if not isinstance(value.get(name), str) or not value[name].strip():
            raise AnswerError(f"expected a text as {name!r}, found {json.dumps(value.get(name))[:60]}")
    question, answer = (" ".join(storable(value[name]).split()) for name in ("question", "answer"))
    return question, answer, tuple(value["quotes"])


def words_of(question: str) -> frozenset[str]:
    """Return the words of a question, for comparing it with others.

    >>> sorted(words_of("What IS the tide's range?"))
    ['is', 'range', 's', 'the', 'tide', 'what']
    """
    return frozenset(re.findall(r"\w+", question.casefold()))


def requests_of(index: Index, settings: ModelSettings, seed: int) -> Iterator[tuple[WindowRequest, str]]:
    """Yield requests with their documents' texts: documents in a random order, one part of each, and then others."""
    rng, ids = random.Random(seed), index.ids.to_pylist()  # noqa: S311  drafts that others can ask for again
    rows = list(range(len(ids)))
    rng.shuffle(rows)
    parts = {}
    for row in rows:
        spans = windows(index.text(row), settings.window)
        rng.shuffle(spans)
        parts[row] = spans
    for turn in range(max(map(len, parts.values()), default=0)):
        for row in rows:
            if turn < len(parts[row]):
                span, text = parts[row][turn], index.text(row)
                said = [
                    {"role": "system", "content": RULES},
                    {"role": "user", "content": fenced(text[slice(*span)])},
                ]
                key = Key(settings.label("draft"), "", ids[row])
                yield window_request(key, span, settings, said), text


def draft_questions(
    index: Index, settings: ModelSettings, kept: Path, *, questions: int, seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Drafted:  # fmt: skip
    """Ask a model for questions until there are so many, or every document was asked about; `kept` holds the replies.

    Raises ModelError where the server answers nothing; what was answered before is kept.
    """
    lines, known, failed, counts, in_a_row = list[dict[str, Any]](), list[frozenset[str]](), list[str](), [0, 0], 0
    with closing(Store(kept)) as store:
        asker = Asker(settings, store, read_draft, SCHEMA)
        for asked, (request, text) in enumerate(requests_of(index, settings, seed)):
            if len(lines) == questions or asked == TRIES * questions:
                break
            try:
                question, answer, quotes = asker.ask(request)
                in_a_row = 0
            except UnansweredError as error:
                failed.append(f"{request.key.document}: {error}")
                in_a_row += 1
                if in_a_row == IN_A_ROW:
                    what = f"{IN_A_ROW} requests in a row have no answer; {error}"
                    raise ModelError(f"{asker.client.endpoint}: {what}") from error
                continue
            span = (request.start, request.end)
            placed = place_answers(text, [(span, ModelAnswer(quotes, None))])
            own = words_of(question)
            if placed.unplaced or not placed.judgement.highlights:
                counts[0] += 1
            elif any(len(own & other) >= NEAR * len(own | other) for other in known):
                counts[1] += 1
            else:
                known.append(own)
                marked = [{"start": a, "end": b, "quote": text[a:b]} for a, b in placed.judgement.highlights]
                named = {"topic": f"draft-{len(lines) + 1}", "query": question, "origin": "draft"}
                document = {"doc": request.key.document, "spans": marked, "length": len(text)}
                lines.append(named | document | {"answer": answer, "model": settings.label("draft")})
            if progress is not None:
                progress(len(lines), questions)
        return Drafted(tuple(lines), asker.requests, counts[0], counts[1], tuple(failed))


def read_drafts(path: Path) -> list[dict[str, Any]]:
    """Return the lines that `draft_questions` wrote; anything else is refused."""
    try:
        lines = [json.loads(line) for _, line in numbered_lines(path.read_text(encoding="utf-8"))]
        for line in lines:  # what is no text, or no number, raises here
            for text in (line["topic"], line["query"], line["doc"], line["model"]):
                str.strip(text)
            for span in line["spans"]:
                str.strip(span["quote"]), index_of(span["start"]), index_of(span["end"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"expected drafts as 'focuseval draft' writes them, found: {error}"
        raise AssessError(f"{path}: {what}; draft them again") from error
    return lines


def review_drafts(project: Project, drafts: Sequence[dict[str, Any]], assessor: str, *, actor: str) -> int:
    """Lay drafts before an assessor, each a document with its quotes highlighted, not finished; return how many.

    To finish a document as relevant accepts the draft, to skip it rejects it; highlights are changed as always. What
    is accepted was suggested by a model: the log and every gold say so (``assisted``).
    """
    store, known = project.store, {topic.id for topic in project.topics}
    if unknown := [line["topic"] for line in drafts if line["topic"] not in known]:
        raise AssessError(f"expected drafts of the project's topics, found {unknown[0]!r}; begin it with these drafts")
    add_to_pool(store, [Pooled(line["topic"], line["doc"]) for line in drafts], actor=actor)
    if assessor not in people(store):
        register(store, Assessor(assessor), actor=actor)
    record(store, {"kind": "drafts", "topics": [line["topic"] for line in drafts]}, actor=actor)
    count = 0
    for line in drafts:
        model, key = line["model"], Key(assessor, line["topic"], line["doc"])
        register(store, Assessor(model, MODEL, "drafted the questions"), actor=actor)
        saved, page = store.judgement(key), project.documents.plain(line["doc"])
        if saved.version:
            continue
        spans = tuple((span["start"], span["end"]) for span in line["spans"])
        if any(page.text[span["start"] : span["end"]] != span["quote"] for span in line["spans"]):
            raise AssessError(f"the text of {line['doc']} is not the one that {line['topic']} was drafted from")
        judgement = replace(saved.judgement, highlights=spans, status=OPEN)
        edit = {"kind": "replace", "judgement": as_dict(judgement), "source": {"assisted": model}}
        store.edit(key, page, edit, version=0, token=f"draft-{line['topic']}-{key.document}"[:80], actor=actor)
        count += 1
    return count
