"""What the papers' tables say of judgements, runs and topics: counts, sizes, overlap, tags.

Shares are fractions of 1; a figure that the data cannot tell is None, never a guess. Collections describe themselves
in `focuseval.collection.index.describe`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.index import Collection
from focuseval.data.gold import UNKNOWN, Gold
from focuseval.data.run import Run
from focuseval.data.spans import crowded, pack, union
from focuseval.data.topics import Topic
from focuseval.measures.checks import extents
from focuseval.placing import place_gold, place_run

Counts: TypeAlias = tuple[tuple[Any, int], ...]  # values with how often they occur, the most frequent first


OVER = {
    "articles_per_topic": "topics",
    "relevant_articles_per_topic": "topics_with_relevance",
    "passages_per_topic": "topics_with_relevance",
    "passages_per_article": "relevant_articles",
    "highlighted_characters": "passages_with_size",
    "highlighted_characters_per_topic": "topics_with_relevance",
    "highlighted_characters_per_article": "relevant_articles",
    "passage_size_mean": "passages_with_size",
    "passage_size_median": "passages_with_size",
    "passage_size_largest": "passages_with_size",
    "fully_highlighted_links": "fully_highlighted",
    "entry_points_at_first_relevant": "entry_points_with_passages",
    "results_per_topic_mean": "topics",
    "overlapping": "results",
    "mean_depth": "elements",
    "terms_per_topic": "topics",
}
"""Which figure each mean, share or sum of a gold, a run or topics is over."""


def describe_gold(gold: Gold, index: Collection | None = None) -> dict[str, Any]:
    """Return the figures of a gold by name; an index tells fully highlighted elements where the gold does not."""
    articles, passages = gold.articles, gold.passages
    relevant, topics = int((articles.relevance > 0).sum()), int(gold.relevant_topics.sum())
    span = np.where(passages.end > UNKNOWN, passages.end - passages.start, UNKNOWN)
    sizes = np.where(passages.size > UNKNOWN, passages.size, span)  # the file's own, where it gives them
    sizes = sizes[sizes > UNKNOWN]
    characters = int(sizes.sum()) if len(sizes) else None
    tags = _fully_highlighted(gold, index)
    full = None if tags is None else sum(count for _, count in tags)
    links = sum(count for tag, count in tags or () if tag.endswith("link"))
    # of articles with a best entry point and passages, whether it is their first highlighted character
    start, bep, article = passages.start, articles.bep, gold.article_of(passages)
    known, first = (start > UNKNOWN) & (article >= 0), np.full(len(bep), np.iinfo(np.int64).max)
    np.minimum.at(first, article[known], start[known])
    mine = (bep > UNKNOWN) & (first < np.iinfo(np.int64).max)
    starts, path = bep[mine] == first[mine], articles.bep_path
    paths = 0 if path is None else len(path) - path.null_count
    return {
        "topics": len(gold.topics),
        "topics_with_relevance": topics,
        "articles": len(articles.relevance),
        "relevant_articles": relevant,
        "articles_per_topic": _ratio(len(articles.relevance), len(gold.topics)),
        "relevant_articles_per_topic": _ratio(relevant, topics),
        "passages": len(passages.topic),
        "passages_with_size": len(sizes),
        "passages_per_topic": _ratio(len(passages.topic), topics),
        "passages_per_article": _ratio(len(passages.topic), relevant),
        "highlighted_characters": characters,
        "highlighted_characters_per_topic": _ratio(characters, topics),
        "highlighted_characters_per_article": _ratio(characters, relevant),
        "passage_size_mean": float(sizes.mean()) if len(sizes) else None,
        "passage_size_median": float(np.median(sizes)) if len(sizes) else None,
        "passage_size_largest": int(sizes.max()) if len(sizes) else None,
        "assessed_elements": len(gold.elements.topic),
        "fully_highlighted": full,  # elements; None without sizes and without an index
        "fully_highlighted_links": _ratio(links, full or 0),  # tags that end in ``link``: 18 % in INEX 2006
        "fully_highlighted_tags": tags or (),
        "entry_points": int((articles.bep != UNKNOWN).sum()) or paths,
        "entry_points_with_passages": len(starts),  # whose place and whose article's passages are known
        # share of these that stand at the first highlighted character
        "entry_points_at_first_relevant": float(starts.mean()) if len(starts) else None,
    }


def describe_run(run: Run, index: Collection | None = None) -> dict[str, Any]:
    """Return the figures of a run, by name; overlap is told by paths where neither run nor index gives spans."""
    sizes = np.diff(run.bounds)
    found = extents(run if index is None else place_run(run, index, bad="keep"))
    clash = [crowded(found.group, found.start, found.end), crowded(found.group, found.low, found.high)]
    depths, tags = Counter[int](), Counter[str]()
    if run.path is not None:  # each distinct path once; nulls and pointers into text are left out
        seen = pc.value_counts(run.path.drop_null())
        paths, counts = seen.field("values").cast(pa.string()), seen.field("counts").to_pylist()
        parts = (pc.count_substring(paths, "/"), _tags(paths), pc.match_substring(paths, "text()"))
        for depth, tag, pointer, count in zip(*(part.to_pylist() for part in parts), counts, strict=True):
            if not pointer:
                depths[depth] += count
                tags[tag] += count
    return {
        "run_id": run.run_id,
        "topics": len(run.topics),
        "results": len(run),
        "results_per_topic_least": int(sizes.min()) if len(sizes) else None,
        "results_per_topic_mean": _ratio(len(run), len(sizes)),
        "results_per_topic_most": int(sizes.max()) if len(sizes) else None,
        "documents": len(pc.unique(run.document)),
        # with another result of their topic: 70–80 % in the best CO runs of INEX 2004
        "overlapping": _ratio(len(np.unique(np.concatenate(clash))), len(run)),
        "elements": depths.total(),  # results whose path leads to one; a root has depth 1
        "mean_depth": _ratio(sum(depth * count for depth, count in depths.items()), depths.total()),
        "task": run.task or None,
        "description": run.attributes.get("description"),  # of itself: 'focuseval retrieve' names its parameters
        "depths": tuple(sorted(depths.items())),
        "tags": _ordered(tags),
    }


def describe_topics(topics: Iterable[Topic]) -> dict[str, Any]:
    """Return the figures of topics, by name."""
    known = tuple(topics)
    return {
        "topics": len(known),
        "kinds": _ordered(Counter(topic.kind for topic in known)),
        "with_castitle": sum(bool(topic.castitle) for topic in known),
        "terms_per_topic": _ratio(sum(len(topic.terms) for topic in known), len(known)),
        # what structured topics ask for, by path; candidate, selected, assessed, where the topics say so
        "targets": _ordered(Counter(topic.target for topic in known if topic.target)),
        "statuses": _ordered(Counter(status for topic in known for status in topic.statuses)),
    }


def _ratio(part: int | None, whole: int) -> float | None:
    """Divide; what is unknown, or over nothing, is None."""
    return part / whole if whole and part is not None else None


def _ordered(counts: Counter[str]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _counted(column: Any) -> Counts:
    """Return the values of an Arrow array with their counts."""
    return _ordered(Counter({row["values"]: row["counts"] for row in pc.value_counts(column).to_pylist()}))


def _tags(paths: Any) -> Any:
    """Return the last tag of every path."""
    return pc.replace_substring_regex(paths, r"^.*/|\[[0-9]*\]$", "")


def _fully_highlighted(gold: Gold, index: Collection | None) -> Counts | None:
    """Return the tags of fully highlighted elements: by the gold's own sizes, else by the index's elements."""
    elements = gold.elements
    if (elements.rsize > UNKNOWN).any():
        full = (elements.rsize >= elements.size) & (elements.rsize > 0)
        return _counted(_tags(elements.path.cast(pa.string()).filter(pa.array(full))))
    if index is None or not (gold.passages.end > UNKNOWN).any():
        return None
    placed = place_gold(gold, index)
    passages, placement = placed.passages, placed.placement
    pairs, group = np.unique(pack(passages.topic, passages.document), return_inverse=True)
    rows = placement.document[pairs & 0xFFFFFFFF] if placement is not None else pairs
    known = np.flatnonzero(rows >= 0)
    marked = union(group.reshape(-1), passages.start, passages.end)
    found = index.elements_of(rows[known])
    size = np.diff(index.element_bounds)[rows[known]]
    covered = marked.covered(np.repeat(known, size), found.start, found.end)
    return _counted(found.tag.filter(pa.array((covered == found.end - found.start) & (covered > 0))))
