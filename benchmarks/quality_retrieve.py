"""How good are the baselines of `focuseval retrieve`? Chosen on one half of the questions, reported on the other.

Three kinds of gold: chroma's 472 questions over five plain texts, XQuAD's 1,190 questions over 240 paragraphs in five
languages, the embedded example's six topics over XML. Every second question (the even ones) is for choosing; the others
are reported, each variant against the first one, by the two-tailed randomisation test of `focuseval compare`.

    python benchmarks/quality_retrieve.py [chroma|xquad|example]

FOCUSEVAL_DATA names the folder with `chroma_chunking_evaluation` and `xquad`.
"""

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

import focuseval as fe
from focuseval.data.topics import read_topics
from focuseval.example import ROOT
from focuseval.formats.embedded import embedded_documents
from focuseval.inference.comparison import Settings, compare

DATA = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])|\n\s*\n|\n(?=#)")


def halves(topics):
    return list(topics)[0::2], list(topics)[1::2]


def values(where, run, measure, topics):
    gold, task, index = where
    scores = fe.evaluate(gold, [run], [measure], task=task, index=index)
    place = {topic: number for number, topic in enumerate(scores.topics)}
    return np.array([scores.values[0, place[topic], 0] for topic in topics if topic in place])


def table(title, measure, variants, where, make):
    """Print a row a variant: its mean on the half for choosing, on the other one, and p against the first variant."""
    first, second = halves(where[0].topics)
    print(f"\n{title}, {measure}: {len(first)} questions to choose, {len(second)} to report")
    default = None
    for name, options in variants.items():
        run = make(options)
        chosen = values(where, run, measure, first)
        reported = values(where, run, measure, second)
        default = reported if default is None else default
        p = "" if reported is default else f"p = {verdict(measure, reported, default):.3f}"
        print(f"  {name:44} {chosen.mean():.3f}   {reported.mean():.3f}   {p}")


def verdict(measure, one, other):
    """Two-tailed p of the mean difference, as `focuseval compare --test randomisation --tails 2` gives it."""
    topics = tuple(map(str, range(len(one))))
    found = compare(measure, ("one", "other"), topics, np.stack([one, other]), Settings("randomisation", tails=2))
    return float(found.p[0])


def queries(gold):
    return {topic: gold.queries[topic] for topic in gold.topics}


def pieces_run(index, topics, cuts, **options):
    """Return a run of passages that were cut otherwise: each is a document of its own collection."""
    spans, texts = [], {}
    for row, name in enumerate(index.ids.to_pylist()):
        text = index.text(row)
        for start, end in cuts(text):
            texts[f"p{len(spans)}"] = text[start:end]
            spans.append((name, start, end))
    found = fe.retrieve(fe.open_documents(texts), topics, unit="document", task="spans", **options)
    rows = [spans[int(name[1:])] for name in found.document.to_pylist()]
    document, start, end = zip(*rows, strict=True)
    places = {"start": np.array(start), "end": np.array(end), "document": pa.array(document)}
    return replace(found, **places)


def by_sentence(text, words=100, step=50):
    """Windows of about so many words that begin where a sentence, a paragraph or a heading does."""
    starts = [0, *(found.end() for found in SENTENCE.finditer(text))]
    counts = np.cumsum([0, *(len(text[a:b].split()) for a, b in zip(starts, [*starts[1:], len(text)], strict=True))])
    at = 0
    while at < len(starts):
        stop = int(np.searchsorted(counts, counts[at] + words))
        yield starts[at], starts[stop] if stop < len(starts) else len(text)
        if stop >= len(starts):
            return
        at = max(at + 1, int(np.searchsorted(counts, counts[at] + step)))


def by_characters(text, size=400):
    return [(start, min(start + size, len(text))) for start in range(0, len(text), size)]


def chroma():
    folder = DATA / "chroma_chunking_evaluation"
    index = fe.open_documents(folder / "corpora")
    gold = fe.read_gold(folder / "questions_df.csv", index=index)
    topics = queries(gold)
    variants = {
        "passage:100/50 (default)": {"unit": "passage:100/50"},
        "documents": {"unit": "document"},
        "passage:60/30": {"unit": "passage:60/30"},
        "passage:60/20": {"unit": "passage:60/20"},
        "passage:150/75": {"unit": "passage:150/75"},
        "passage:100/50, k1 = .6": {"unit": "passage:100/50", "k1": 0.6},
        "passage:100/50, no stems, no stop words": {"unit": "passage:100/50", "language": "none"},
        "passage:100/50, idf of documents": {"unit": "passage:100/50", "idf": "documents"},
        "chunks of 400 characters": {"cuts": by_characters},
        "windows that begin at sentences, 100/50": {"cuts": by_sentence},
    }

    def make(options):
        if "cuts" in options:
            return pieces_run(index, topics, **options, limit=100)
        return fe.retrieve(index, topics, task="spans", limit=100, **options)

    for measure in ("spanR@2000c", "IoU@3"):
        table("chroma", measure, variants, (gold, "spans", index), make)


def xquad():
    for code, language in (("en", "english"), ("ar", "arabic"), ("hi", "hindi"), ("th", "none"), ("zh", "none")):
        file = DATA / "xquad" / f"xquad.{code}.json"
        index = fe.open_documents(embedded_documents(file))
        gold = fe.read_gold(file, index=index)
        topics = queries(gold)
        variants = {
            f"documents, {language}": {"unit": "document", "language": language},
            "documents, none": {"unit": "document", "language": "none"},
            f"passage:40/20, {language}": {"unit": "passage:40/20", "language": language},
        }
        table(f"XQuAD {code}", "hit@1", variants, (gold, "spans", index),
              lambda options, i=index, t=topics: fe.retrieve(i, t, task="spans", limit=20, **options))  # fmt: skip


def example():
    index = fe.open_documents(ROOT / "articles")
    gold = fe.read_gold(ROOT / "gold" / "gold.jsonl", index=index)
    topics = read_topics(ROOT / "topics.xml")
    focused = {
        "elements (default)": {},
        "documents": {"unit": "document"},
        "passage:100/50": {"unit": "passage:100/50"},
        "elements, mix = 0": {"mix": 0.0},
        "elements, mix = .3": {"mix": 0.3},
        "elements, idf of units": {"idf": "units"},
        "elements, --min-words 1": {"min_words": 1},
        "elements, --min-words 40": {"min_words": 40},
        "elements, --cas strict": {"cas": "strict"},
        "elements, --cas vague": {"cas": "vague"},
        "elements, score × length^.25": {"prior": 0.25},
    }
    for measure, tested in (("MAiP", focused), ("nxCG@10", {name: focused[name] for name in list(focused)[:2]})):
        table("example, focused", measure, tested, (gold, "focused", index),
              lambda options: example_run(index, topics, "focused", options))  # fmt: skip
    context = {"elements (default)": {}}
    context |= {f"units above {near} of the article's best": {"near": near} for near in (0.5, 0.7, 0.8)}
    table("example, relevant in context", "MAgP", context, (gold, "relevant-in-context", index),
          lambda options: example_run(index, topics, "relevant-in-context", options))  # fmt: skip


def example_run(index, topics, task, options):
    """Return a run; a prior and a threshold are given to the scores of all units before they are listed."""
    if not options.keys() & {"prior", "near"}:
        return fe.retrieve(index, topics, task=task, **options)
    units = fe.units(index, "element")
    place = {key: row for row, key in enumerate(zip(units.document.to_pylist(), units.path.to_pylist(), strict=True))}
    found = fe.retrieve(index, topics, task="thorough")
    scores = {topic: np.full(len(units), np.nan) for topic in found.topics}
    for topic, document, path, score in zip(
        found.topic, found.document.to_pylist(), found.path.to_pylist(), found.score, strict=True
    ):
        scores[found.topics[topic]][place[document, path]] = score
    if "prior" in options:
        scores = {topic: score * units.words ** options["prior"] for topic, score in scores.items()}
    else:
        names = np.unique(units.document.to_numpy(zero_copy_only=False), return_inverse=True)[1]
        for score in scores.values():
            best = np.full(names.max() + 1, -np.inf)
            np.maximum.at(best, names, np.nan_to_num(score, nan=-np.inf))
            score[score < options["near"] * best[names]] = np.nan
    return units.run(scores, task=task)


if __name__ == "__main__":
    for part in sys.argv[1:] or ("chroma", "xquad", "example"):
        {"chroma": chroma, "xquad": xquad, "example": example}[part]()
