"""What a language model does for a project: it judges the pooled documents, or drafts questions; its quotes verified.

It judges as one more assessor, labelled. Questions are drafted from documents drawn at random. A draft is a line of our
gold, with the answer beside it::

    {"topic": "draft-1", "query": "…", "origin": "draft", "doc": "a.md", "answer": "…",
     "spans": [{"start": 3, "end": 9, "quote": "…"}]}

A question whose quotes are not all in the text is dropped, and so is one that nearly repeats an earlier one. Requests
and replies are kept beside the drafts, as those of 'focuseval judge' in their project, and never asked twice.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from operator import index as index_of
from pathlib import Path
from typing import Any

from focuseval.assessment.models import prompt as prompts
from focuseval.assessment.models.client import Asker, ModelSettings, WindowRequest, kept_reply, window_request
from focuseval.assessment.models.prompt import COUNTED, Prompt
from focuseval.assessment.plan import MODEL, Assessor, Pooled, add_to_pool, people, pool, record, register
from focuseval.assessment.project import Project
from focuseval.assessment.rules import ON_ELEMENTS, OPEN, as_dict
from focuseval.assessment.store import Key, Store
from focuseval.collection.index import Index
from focuseval.collection.rendering import Document
from focuseval.data.fields import numbered_lines
from focuseval.data.topics import Topic
from focuseval.engine.http import Client
from focuseval.errors import AnswerError, AssessError, ModelError, UnansweredError, counted

Requests = tuple[WindowRequest, ...]
Answers = tuple[prompts.ModelAnswer, ...]
IN_A_ROW = 3  # so many documents, or requests for drafts, in a row without an answer end the work
WORDS = {"approximate": "repaired", "lost": "not in the text"}  # how quotes are counted, as people read it
DRAFT_RULES = (Path(__file__).parent / "templates" / "draft.txt").read_text(encoding="utf-8").removesuffix("\n")
DRAFT_FORM = {"question": {"type": "string"}, "answer": {"type": "string"}, "quotes": prompts.TEXTS}
NEAR = 0.8  # the share of words in common from which a question repeats another
TRIES = 3  # requests for every question that is wanted, at most


def unjudged(
    project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None
) -> tuple[str, list[tuple[Key, Topic]], int]:
    """Return the model's name, the pooled documents that it has not judged, `limit` at most, and how many it has.

    A hash in the name stands for everything that shapes a question.
    """
    if project.store.scale in ON_ELEMENTS:
        raise AssessError(f"{project.folder}: a model quotes text, and this project grades elements; begin another")
    label = settings.label(prompt.hash(settings.window, settings.exclude_tags, settings.sections))
    topics = {topic.id: topic for topic in project.topics}
    pooled = [row for row in pool(project.store) if row.topic in topics]
    todo = []
    for row in pooled:
        saved = project.store.judgement(Key(label, row.topic, row.document))
        if not saved.judgement.finished or saved.text_sha256 != project.documents.plain(row.document).sha256:
            todo.append((saved.key, topics[row.topic]))  # there is no judgement of the text as it is now
    return label, todo[:limit], len(pooled) - len(todo)


def questions(
    project: Project, key: Key, topic: Topic, settings: ModelSettings, prompt: Prompt
) -> tuple[Document, Requests]:
    """Return a document, and the requests that judge it, one for each window; none for a document without text."""
    documents, tagged = project.documents, settings.exclude_tags or settings.sections
    page = documents.get(key.document) if tagged else documents.plain(key.document)  # tags are those of its elements
    kept, text, size = prompts.kept_spans(page, settings.exclude_tags, settings.sections), page.text, settings.window
    parts = ((start + a, start + b) for start, end in kept for a, b in prompts.windows(text[start:end], size))
    asked = (window_request(key, one, settings, prompt.messages(topic, text[slice(*one)])) for one in parts)
    return page, tuple(asked)


def rehearse(project: Project, settings: ModelSettings, prompt: Prompt, limit: int | None = None) -> Iterator[str]:
    """Yield the texts of all requests as people read them, the rules that are the same in all once, and an estimate."""
    _, todo, _ = unjudged(project, settings, prompt, limit)
    fresh, characters, rules = 0, 0, ""
    for key, topic in todo:
        for request in questions(project, key, topic, settings, prompt)[1]:
            texts = [message["content"] for message in request.body["messages"]]
            if texts[0] != rules:
                rules = texts[0]
                yield f"=== rules of every request\n{rules}\n"
            place = f"topic {key.topic}, document {key.document}, characters {request.start}–{request.end}"
            yield f"=== {place}\n{texts[1]}\n"
            if kept_reply(project.store, request) is None:
                fresh, characters = fresh + 1, characters + sum(map(len, texts))
    tokens = f"about {characters // 4:,} tokens asked, at most {fresh * settings.max_tokens:,} answered"
    yield f"=== {len(todo):,} documents, {fresh:,} requests, {characters:,} characters: {tokens}"


@dataclass(frozen=True)
class ModelJudged:
    """What came of asking a model."""

    assessor: str
    known: int
    """Documents that this assessor had judged before."""
    documents: int = 0
    relevant: int = 0
    quotes: tuple[int, ...] = (0,) * len(COUNTED)
    """How many quotes were found in each way of `COUNTED`."""
    requests: int = 0
    tokens: tuple[int, int] = (0, 0)
    """Tokens of all requests and of all answers, as the server counts them."""
    failed: tuple[str, ...] = ()
    """Documents without a judgement, and why, a line each."""
    addressed: tuple[str, ...] = ()
    """Documents with text that speaks to a model, a line each."""

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**asdict(self), "quotes": dict(zip(COUNTED, self.quotes, strict=True))}

    def lines(self) -> list[str]:
        """Return what was done, for the terminal."""
        total = sum(self.quotes)
        ways = [f"{n:,} {WORDS.get(name, name)}" for name, n in zip(COUNTED, self.quotes, strict=True)]
        share = f" ({self.quotes[COUNTED.index('lost')] / total:.1%})" if total else ""
        judged = f"{self.documents:,} documents judged, {self.relevant:,} of them relevant"
        return [
            f"{self.assessor}: {judged}; {self.known:,} known already",
            f"{counted(total, 'quote')}: {', '.join(ways)}{share}",
            f"{counted(self.requests, 'request')}; {self.tokens[0]:,} tokens asked, {self.tokens[1]:,} answered",
        ]


def judge_project(
    project: Project,
    settings: ModelSettings,
    prompt: Prompt,
    *,
    actor: str = "focuseval",
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ModelJudged:
    """Ask a model for the relevant passages of every pooled document, and store them as an assessor's judgements.

    Parameters
    ----------
    project, settings, prompt
        What is judged, by whom, and how it is asked. Documents that this model has judged under this prompt are left
        as they are, and questions that were answered are not asked again.
    actor
        Whose name stands in the log for it.
    limit
        Most documents to judge this time.
    progress
        Called with the number of documents that are done, and with that of all.

    Raises
    ------
    ModelError
        Where the server answers nothing: the key is refused, the model unknown, the address wrong. What was answered
        before is kept.
    """
    label, todo, known = unjudged(project, settings, prompt, limit)
    asker = Asker(settings, project.store, prompts.read_answer, prompts.FORM)
    client = asker.client
    register(project.store, Assessor(label, MODEL, f"{settings.model} at {client.endpoint}"), actor=actor)
    placed, failed, spoken, in_a_row, tokens = list[prompts.PlacedAnswer](), list[str](), list[str](), 0, (0, 0)

    def ask(key: Key, topic: Topic) -> tuple[Document, Requests, Answers, str]:
        """Return a document, what was asked of it, the answers, and else why there are none."""
        page, requests = questions(project, key, topic, settings, prompt)
        try:
            return page, requests, tuple(map(asker.ask, requests)), ""
        except UnansweredError as error:
            return page, requests, (), str(error)
        except ModelError:
            client.stop()  # before the next document is asked for in vain
            raise

    with ThreadPoolExecutor(settings.jobs) as threads:
        futures = {threads.submit(ask, key, topic): key for key, topic in todo}
        try:
            for number, future in enumerate(as_completed(futures), 1):
                key, (page, asked, answers, problem) = futures.pop(future), future.result()  # it holds the text
                in_a_row = in_a_row + 1 if problem else 0
                if in_a_row == IN_A_ROW:
                    raise ModelError(f"{client.endpoint}: {IN_A_ROW} documents in a row have no answer; {problem}")
                if problem:
                    failed.append(f"topic {key.topic}, {key.document}: {problem}")
                else:
                    placed.append(_store(project.store, key, page, asked, answers, client=client, actor=actor))
                    spoken += [f"topic {key.topic}, {key.document}"] if placed[-1].judgement.flagged else []
                    asked_for, answered = (sum(one.tokens[side] for one in answers) for side in (0, 1))
                    tokens = (tokens[0] + asked_for, tokens[1] + answered)
                if progress is not None:
                    progress(number, len(todo))
        finally:  # with Ctrl-C too: requests under way are broken off, and what was answered has been kept
            client.stop()
            threads.shutdown(wait=True, cancel_futures=True)
    relevant = sum(bool(one.judgement.highlights) for one in placed)
    quotes = tuple(map(sum, zip(*(one.quotes for one in placed), strict=True))) or (0,) * len(COUNTED)
    counts = (len(placed), relevant, quotes, asker.requests, tokens)
    return ModelJudged(label, known, *counts, tuple(failed), tuple(spoken))


def _store(
    store: Store, key: Key, page: Document, asked: Requests, answers: Answers, *, client: Client, actor: str
) -> prompts.PlacedAnswer:
    """Write the judgement of one document with a note for people, flagged where the document speaks to a model."""
    spans = [(one.start, one.end) for one in asked]
    placed, warning = prompts.place_answers(page.text, zip(spans, answers, strict=True)), prompts.addressed(page.text)
    lines = [f"the document speaks to a model: “{warning}”"] if warning else []
    lines += [f"not in the text, or in several places: “{quote[:80]}”" for quote in placed.unplaced]
    note = client.scrubbed("\n".join(lines))
    judgement = replace(placed.judgement, flagged=bool(warning), note=note)
    quotes = dict(zip(COUNTED, placed.quotes, strict=True))
    source = {"quotes": quotes, "entry": placed.entry, "addressed": warning}
    edit = {"kind": "replace", "judgement": as_dict(judgement), "source": source, "barrier": True}
    version = store.judgement(key).version
    named = json.dumps([*key, version, [one.digest for one in asked]])
    token = f"judge-{hashlib.sha256(named.encode()).hexdigest()[:40]}"
    store.edit(key, page, edit, version=version, token=token, actor=actor)
    return replace(placed, judgement=judgement)


@dataclass(frozen=True)
class Drafted:
    """Drafts as lines of a gold, and what became of the other questions."""

    lines: tuple[dict[str, Any], ...]
    requests: int  # that were sent this time; what was answered before is not asked again
    invented: int = 0  # questions with a quote that is not in the text, or with none
    repeated: int = 0  # questions that nearly repeat an earlier one
    failed: tuple[str, ...] = ()  # parts of documents without an answer, and why

    def __str__(self) -> str:
        dropped = f"{self.invented:,} dropped whose quotes are not in the text, {self.repeated:,} that repeat another"
        return f"{counted(len(self.lines), 'question')}; {dropped}; {counted(self.requests, 'request')} sent"


def read_draft(body: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the question, the answer and the quotes in the body of a reply."""
    value, _ = prompts.answer_object(body)
    for name in ("question", "answer"):
        if not isinstance(value.get(name), str) or not value[name].strip():
            raise AnswerError(f"expected a text as {name!r}, found {json.dumps(value.get(name))[:60]}")
    question, answer = (" ".join(prompts.storable(value[name]).split()) for name in ("question", "answer"))
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
        spans = prompts.windows(index.text(row), settings.window)
        rng.shuffle(spans)
        parts[row] = spans
    for turn in range(max(map(len, parts.values()), default=0)):
        for row in rows:
            if turn < len(parts[row]):
                span, text = parts[row][turn], index.text(row)
                asked = prompts.fenced(text[slice(*span)])
                said = [{"role": "system", "content": DRAFT_RULES}, {"role": "user", "content": asked}]
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
        asker = Asker(settings, store, read_draft, DRAFT_FORM)
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
            placed = prompts.place_answers(text, [(span, prompts.ModelAnswer(quotes, None))])
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
