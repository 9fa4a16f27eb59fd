"""What is computed, and how: measures and policies from a profile, a task, or the data themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.engine.version import __version__
from focuseval.errors import MeasureError, MissingDataError, UsageError
from focuseval.formats.ranking import RankingOrder
from focuseval.measures import MeasureCall, parse
from focuseval.measures.profiles import DEFAULTS, Policies, inex_eval, profile_named

if TYPE_CHECKING:
    from focuseval.collection.chunks import Chunks
    from focuseval.collection.tokens import Tokenizer
    from focuseval.measures.peers import Peer, Twin


@dataclass(frozen=True)
class Plan:
    """Measures and policies of one evaluation."""

    measures: tuple[MeasureCall, ...]
    policies: Policies
    task: str | None
    profile: str | None
    run_format: str | None = None
    order: RankingOrder | None = None
    """What ranks a run's results, where that is not left to its file."""
    repair: bool = False  # whether runs that break the task's rules are repaired rather than refused
    chunks: Chunks | tuple[Chunks, ...] | None = None  # all chunks of the chunker, or of each run's own
    tokenizer: Tokenizer | None = None  # what counts tokens, for budgets of them
    queries: dict[str, Any] = field(default_factory=dict)
    """Topic → its structural query, when structure is read strictly."""
    peer: Peer | None = None  # another chunk evaluator, whose numbers stand beside ours
    refusals: tuple[str, ...] = ()  # words by which an answer is known to abstain, whatever their case
    decides: str = ""  # key of the measure by which runs are ordered and judged; empty for the first
    retriever: str = ""  # what made the runs, where they were made for this evaluation

    def chunks_of(self, run: int | None) -> Chunks | None:
        """Return the chunks of a run by its number; None where nobody says."""
        if isinstance(self.chunks, tuple):
            return None if run is None else self.chunks[run]
        return self.chunks

    def signature(self, scale: str, merge: str = "", origins: Iterable[str] = ()) -> str:
        """Say exactly what was computed: version, profile, policies, merging, scale, and other packages' code."""
        parts = [f"focuseval:{__version__}", f"profile:{self.profile or 'none'}", self.policies.signature()]
        parts += [f"merge:{merge}"] if merge else []
        parts += ["repair:yes"] if self.repair else []
        parts += [f"refusals:{', '.join(self.refusals).replace('|', ' ')}"] if self.refusals else []
        parts += [f"order:{self.order}"] if self.order else []
        parts += [f"retriever:{self.retriever.replace('|', ' ')}"] if self.retriever else []
        chunks = self.chunks if isinstance(self.chunks, tuple) else (self.chunks,)
        others = {*origins, *(one.measure.origin for one in self.measures), *(one.origin for one in chunks if one)}
        parts += [f"packages:{', '.join(sorted(filter(None, others)))}"] if any(others) else []
        if self.tokenizer is not None and any(asked.counts_tokens for asked in self.measures):
            parts.append(f"tokenizer:{self.tokenizer.name}")
        of_elements = (asked for asked in self.measures if "elements" in asked.needs and "quant" not in asked.given)
        if any(p.name == "quant" for asked in of_elements for p in asked.measure.parameters):
            from focuseval.measures.assessed import QUANT_OF_SCALE  # noqa: PLC0415  only elements are quantised

            parts.append(f"quant:{QUANT_OF_SCALE.get(scale, 'none')}")
        return "|".join(parts)


def plan_for(
    gold: Gold, first: Run | None, asked: tuple[MeasureCall, ...], *, task: str | None = None,
    profile: str | None = None, run_format: str | None = None, order: RankingOrder | None = None,
    repair: bool | None = False, **changes: Any,
) -> Plan:  # fmt: skip
    """Decide what to compute: what was asked, else the profile's measures of the task, else the task's own."""
    chosen = profile_named(profile) if profile else None
    named = task_named(task) if task else None
    if task and not (asked or chosen) and gold.scale == "trec":
        raise MissingDataError(
            f"{gold.file or 'the gold'}: judgements of whole documents say nothing of the task {task}; "
            "leave out task=, ask for measures of documents (-m AP), or give a gold with highlights"
        )
    if named is None and first is not None and first.task.strip():  # the first run names its task
        with suppress(UsageError):  # one that is not known
            own = task_named(first.task)
            named = own if chosen is None or own in chosen.tasks else None
    task = named
    policies = Policies()
    if chosen:
        task = chosen.task(task)
        policies = policies.but(**chosen.policies_of(task))
    if changes.get("compat") == "inex_eval":
        policies = inex_eval(policies, thorough=task == "thorough")
    policies = policies.but(**{name: value for name, value in changes.items() if value is not None})
    peer, decides = None, ""
    if policies.compat not in {"none", "inex_eval"}:  # another chunk evaluator; the official INEX tool is policies
        from focuseval.measures.peers import peer_named  # noqa: PLC0415  only asked for by name

        peer = peer_named(policies.compat)
    if not asked:
        cited = first is not None and bool(first.answers)
        if chosen and task:
            names, decides = chosen.tasks[task], chosen.deciding(task)
        else:
            names = default_measures(gold, task, cited=cited) if peer is None else peer.defaults
        task = task or (None if names is DEFAULTS["documents"] or names is DEFAULTS["grades"] else "spans")
        leak = () if gold.forbidden is None else ("leak" if cited else "leak@10",)
        silence = ("silence",) if cited and gold.unanswerable.any() else ()
        decides = decides or (names[0] if leak else "")  # what must not come back stands first, and does not decide
        asked = tuple(replace(parse(name), written="") for name in (*leak, *names, *silence))
    if peer:
        asked = with_twins(asked, peer)
    if not task and len(gold.passages.topic) and gold.passages.start_path is None and not len(gold.elements.topic):
        task = "spans"  # the gold is spans of text and nothing else
    return Plan(asked, policies, task, profile, run_format, order, repair=bool(repair), peer=peer, decides=decides)


def tokenizer_for(given: str | Tokenizer | None, asked: tuple[MeasureCall, ...]) -> Tokenizer | None:
    """Open the tokenizer that was given; a budget of tokens without one is refused."""
    if given is not None:
        from focuseval.collection.tokens import remembered  # noqa: PLC0415  only asked for by name

        return remembered(given)
    if counting := next((one.key for one in asked if one.counts_tokens), None):
        what = f"{counting}: a budget of tokens needs a tokenizer"
        raise MissingDataError(f'{what}; give tokenizer="tiktoken:cl100k_base" or tokenizer="tokenizers:FILE"')
    return None


def with_twins(asked: Sequence[MeasureCall], peer: Peer) -> tuple[MeasureCall, ...]:
    """Put behind every measure that the peer also has the peer's own number."""
    both: list[MeasureCall] = []
    for mine in asked:
        twin = twin_of(mine, peer)
        both += [mine] if twin is None else [mine, MeasureCall(twin.theirs, mine.at)]
    if len(both) == len(asked):
        known = ", ".join(twin.ours + ("@k" if twin.theirs.at else "") for twin in peer.twins)
        raise MeasureError(f"--compat {peer.name} has numbers of its own for {known}; ask for one of them with -m")
    return tuple(both)


def twin_of(mine: MeasureCall, peer: Peer | None) -> Twin | None:
    """Return what the peer has for a measure: at a rank or for the whole list, never at a budget of text."""
    if peer is None or (mine.at and not mine.at.isdigit()):
        return None
    bare = str(mine).partition("@")[0]
    return next((twin for twin in peer.twins if twin.ours == bare), None)


def task_named(name: str) -> str:
    """Return a task's own name, however a run file or a user writes it."""
    from focuseval.measures.tasks import find_task  # noqa: PLC0415  many evaluations have no task

    return find_task(name).name


def default_measures(gold: Gold, task: str | None, *, cited: bool = False) -> tuple[str, ...]:
    """Return the measures that fit a task, or, without one, the data: spans for spans, documents for qrels.

    Of spans that answers cite (`cited`), those of citations.
    """
    if gold.scale in {"coverage", "grades"}:
        return DEFAULTS["grades"]
    if gold.scale == "trec" or not (task or len(gold.passages.topic) or len(gold.elements.topic)):
        return DEFAULTS["documents"]
    if task in {None, "spans"} and cited and len(gold.passages.topic):
        return DEFAULTS["answers"]
    if task is None:
        return DEFAULTS["spans" if len(gold.passages.topic) else "thorough elements"]
    elements = len(gold.elements.topic) and task in {"thorough", "focused"}
    return DEFAULTS[f"{task} elements" if elements else task]
