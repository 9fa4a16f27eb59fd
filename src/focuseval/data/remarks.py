"""Remarks: what a user of gold, runs or scores should know, as values with one place that words them.

A reader, a placement or an evaluation notices something and says what kind of thing it is, how often, and where. Words,
singular and plural, are in `KINDS`; `str` gives the line that commands print. Nothing reads a line back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

KINDS = {
    "text": "{0}",
    "left out": "left out: {0}",
    "other library":
        "the compiled library was made from other sources and is not used: results are the same, but large files take "
        "longer; make it again with: {0}",
    # reading, converting and placing a run
    "no rsv": "{n} [result has|results have] no <rsv>; the scores of the others are left out",
    "collections": "<in> names {n} collections; it is left out",
    "no scores": "the run has no scores: 1/rank is written",
    "numbered again": "the ranks contradict the order by score: the results are numbered again",
    "not in the index": "{n} [result names a {0} that is|results name {0}s that are] not in the index, first {1}",
    "unsure offsets":
        "offsets without quotes in documents with {0} (first {1}): a CRLF counts as two characters, a byte-order mark "
        "as none; where your tool counts otherwise, give the quotes, too",
    "empty boxes": "{n} [page or box holds|pages or boxes hold] no characters",
    "pieces":
        "the boxes of {n} [result hold|results hold] several pieces of text: [it reaches|they reach] from the first to "
        "the last",
    # reading and placing a gold
    "no topic": "{n} [highlight has|highlights have] no note that names a topic, and [is|are] left out",
    "united": "{n} overlapping [span is|spans are] united",
    "same ids": "{n} [question shares|questions share] an id with an earlier one, told apart as ~2, ~3 …",
    "other keys": "{n} [key is|keys are] not ours and left out; 'focuseval formats gold-jsonl' lists ours",
    "null spans":
        "{n} [line has|lines have] null as spans, which judges nothing, and [is|are] left out; "
        "[] says that nothing is relevant",
    "quote lengths":
        "{n} [quote is not as long as its span|quotes are not as long as their spans]; the documents decide, where "
        "they are given",
    "other sums": "relevant characters differ from the sum of the passages in {n} [document|documents]; both are kept",
    "no characters": "{n} [provenance names|provenances name] no characters: the whole paragraph or page is relevant",
    "segment lengths": "{n} of {0} segments [has|have] a text of another length than the span",
    "unknown documents": "{n} of {0} judged documents [is|are] not in the index, first {1}",
    "unknown elements": "{n} of {0} assessed elements [is|are] not in the index",
    "other sizes": "{n} of {0} {1} [differs|differ] from the index; the file's are kept",
    "nameless": "{n} [text|texts] without a document: {0} found, {1} ambiguous (in several documents), {2} lost{3}",
    "in place": "[the only {0} is|all {n} {0}s are] in place",
    "drafted": "{n} of {0} topics [was|were] drafted by a language model",
    "assisted": "{n} of {0} topics [was|were] judged by somebody who saw a model's suggestions",
    # counts of a run
    "missing: zero": "{n} of {0} [is|are] not answered and [scores|score] 0",
    "missing: skip": "{n} of {0} [is not answered and is|are not answered and are] left out of its mean",
    "excluded": "nothing is relevant in {n} [topic of the gold, which is|topics of the gold, which are] left out",
    "unjudged":
        "{n} [result that the measures read is in a document|results that the measures read are in documents] "
        "that nobody judged and [counts|count] as wrong",
    "unplaced": "{n} [result has|results have] no known place in [its|their] document and [gains|gain] nothing",
    "unknown": "{n} [topic is|topics are] not in the gold and [was|were] left out",
    "empty": "{n} [result holds|results hold] no characters; [it costs and gains|they cost and gain] nothing",
    "same question": "{n} [row has|rows have] no id and the question of another row: they are one topic",
    "left keys": "{n} [key that a run does not have ({0}) is|keys that a run does not have ({0} …) are] left out",
    "html offsets":
        "offsets without quotes in HTML (in {0}, of {n}), whose text version 0.2.0 counted without line ends "
        "between blocks: offsets that were made with it are other ones",
    # a run
    "no results": "the run returns no result for any topic",
    "repeated": "{n} relevant [result is repeated; it gains|results are repeated; they gain] nothing the second time",
    "repaired": "repaired for {0}: {1}",
    "other chunks": "{n} of {0} [is not a chunk|are not chunks] of {1}; are runs and chunkings in the same order?",
    # measures
    "documents":
        "{0} [counts|count] documents, each at the rank of its first chunk, whatever that chunk holds; "
        "{1} [measures|measure] chunks",
    "other name": "{0} stands for {1}: {2}",
    "peer equals": "{0} equals {1} in [the {n} topic|all {n} topics]",
    "peer differs": "{0} differs from {1} in {2}: {3}",
    # the order of results; see `ORDER`
    "split":
        "ranking: topic {0!r} is in several blocks[| ({n} topics are)], again on line {1}; "
        "[its|their] results are joined",
    "ranks repeat": "ranking: ranks repeat (first in topic {0!r}); 'focuseval formats' says what decides then",
    "ranks fall": "ranking: ranks fall where scores do not rise (first in topic {0!r}); the scores decide",
    "reversed":
        'ranking: scores rise from the first result on ({0}); the scores decide; for distances, give order="lower"',
    "ranks are 0": "ranking: ranks are 0 (first in topic {0!r}); they are read as an order",
    "ranks go back": "ranking: ranks fall from line to line (first in topic {0!r}); the ranks decide",
    # a gold
    "empty topics: skip":
        "topics without relevant documents are in no mean ({n}); trec_eval counts each that a run answers, and with -c "
        'every one, as 0: give empty_topics="zero"',
    "empty topics: zero": "topics without anything relevant score 0 ({n})",
    "capped":
        "{n} assessed [element has|elements have] more relevant than total characters and "
        "[counts|count] as wholly relevant",
    "empty elements":
        "{n} assessed [element holds|elements hold] no characters and [is|are] not relevant, unless rsize says so",
}  # fmt: skip
"""What is said of each kind; ``{n}`` is the number, ``{0}`` the first detail, ``[one|many]`` depends on the number."""

ORDER = frozenset({"split", "ranks repeat", "ranks fall", "ranks are 0", "ranks go back", "reversed"})
"""Remarks on the order of a run's results: each is made once, where it is true first."""


@dataclass(frozen=True)
class Remark:
    """One remark.

    >>> str(Remark("unknown", 1, file="a.run")), str(Remark("unknown", 2000))
    ('a.run: 1 topic is not in the gold and was left out', '2,000 topics are not in the gold and were left out')
    """

    kind: str
    """What was noticed: a key of `KINDS`."""
    number: int = 0
    """How often."""
    details: tuple[str, ...] = ()
    """What the words name besides: a topic, measures, or a text that has no kind of its own yet."""
    file: str = ""
    """The file it is about, or the name of the run."""

    @property
    def sentence(self) -> str:
        """The remark in words, without the file."""
        text = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", r"\1" if self.number == 1 else r"\2", KINDS[self.kind])
        return text.format(*self.details, n=f"{self.number:,}")

    def __str__(self) -> str:
        return f"{self.file}: {self.sentence}" if self.file else self.sentence


def worded(text: str) -> Remark:
    """Return a text as a remark without a kind of its own."""
    return Remark("text", details=(text,))


def counted_kinds(**numbers: int) -> tuple[Remark, ...]:
    """Return a remark for every kind (underscores stand for blanks) that was met at least once.

    >>> [str(remark) for remark in counted_kinds(united=2, same_ids=0)]
    ['2 overlapping spans are united']
    """
    return tuple(Remark(kind.replace("_", " "), number) for kind, number in numbers.items() if number)


def remark_on(file: str, noticed: str | Remark) -> Remark:
    """Return a remark with its file."""
    return replace(noticed if isinstance(noticed, Remark) else worded(noticed), file=file)


def folded(remarks: Iterable[Remark]) -> list[str]:
    """Return the lines of remarks, each once; what is said of more than three runs in the same words stands once.

    >>> folded([*(Remark("no results", file=run) for run in "abcde"), Remark("text", details=("odd",), file="a")])
    ['a, b and 3 more: the run returns no result for any topic', 'a: odd']
    """
    files: dict[Remark, list[str]] = {}
    every = list(dict.fromkeys(remarks))
    for remark in every:
        files.setdefault(replace(remark, file=""), []).append(remark.file)
    lines = []
    for remark in every:
        own = files[replace(remark, file="")]
        file = f"{own[0]}, {own[1]} and {len(own) - 2:,} more" if len(own) > 3 else remark.file
        lines.append(str(replace(remark, file=file)))
    return list(dict.fromkeys(lines))
