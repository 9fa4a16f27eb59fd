"""Chunk text aligned per second, against one `str.find` per chunk (which cannot tell one place from several).

First texts that come without a document: megabytes of the collection that are searched per second for 2,000 of them,
as they stand, and with every blank doubled, so that all are found in normal form after an exact search in vain; against
one `str.find` per text in all documents joined.

Times are processor time of this one thread, so that a busy machine changes little.
"""

import random
import time
from collections.abc import Callable, Sequence

from focuseval.collection.documents import open_documents
from focuseval.data.gold import Gold
from focuseval.formats.frames import gold_from_frame
from focuseval.placing import align_chunks, place_gold
from focuseval.placing.texts import holders_of

SYLLABLES = ("ba", "ke", "lin", "mo", "nu", "pra", "sto", "ring", "tel", "u", "xed", "yan", "zi")
WORDS = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
ZIPF = [1 / rank for rank in range(1, len(WORDS) + 1)]


def best(work: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def corpus(documents: int, size: int) -> dict[str, str]:
    """Random prose: words of an invented language, sentences, paragraphs."""
    rng = random.Random(5)
    texts = {}
    for i in range(documents):
        words = rng.choices(WORDS, ZIPF, k=size // 6)
        texts[f"d{i}"] = " ".join(word + ("." if rng.random() < 0.1 else "") for word in words)[:size]
    return texts


def chunked(texts: dict[str, str], size: int, overlap: int) -> tuple[list[str], list[str], list[int]]:
    rows = [
        (name, text[at : at + size], number)
        for name, text in texts.items()
        for number, at in enumerate(range(0, len(text), size - overlap))
    ]
    return tuple(map(list, zip(*rows, strict=True)))


def find_each(names: Sequence[str], chunks: Sequence[str], texts: dict[str, str]) -> None:
    for name, chunk in zip(names, chunks, strict=True):
        texts[name].find(chunk)


def row(documents: int, size: int, chunk: int, overlap: int) -> str:
    texts = corpus(documents, size)
    names, chunks, order = chunked(texts, chunk, overlap)
    megabytes = sum(map(len, chunks)) / 1e6
    floor = best(lambda: find_each(names, chunks, texts), 1)
    free = best(lambda: align_chunks(names, chunks, texts))
    numbered = best(lambda: align_chunks(names, chunks, texts, order=order))
    return (
        f"{documents:>6} × {size:>9,}, {chunk:>4} / {overlap:<3} {megabytes / floor:>15.1f}"
        f"{megabytes / free:>16.1f} {floor / free:>7.2f} {megabytes / numbered:>12.1f} {floor / numbered:>7.2f}"
    )


def quoted_gold(texts: dict[str, str], every: int) -> Gold:
    """A gold of three spans in every 1,000 characters, of which one in `every` has no quote."""
    rows = [
        {
            "topic": "q",
            "doc": name,
            "start": at,
            "end": at + 80,
            "quote": text[at : at + 80] if (at // 333 + 1) % every else None,
        }
        for name, text in texts.items()
        for at in range(0, len(text) - 100, 333)
    ]
    return gold_from_frame(rows)


def mixed_row(documents: int, size: int) -> str:
    texts = corpus(documents, size)
    collection = open_documents(texts)
    quoted, mixed = quoted_gold(texts, 10**9), quoted_gold(texts, 2)
    alone, both = (best(lambda gold=gold: place_gold(gold, collection), 3) for gold in (quoted, mixed))
    return f"{documents:>6} × {size:>9,}{alone:>14.3f} s{both:>14.3f} s {both / alone:>7.2f}"


def anywhere_row(documents: int, size: int, accents: bool) -> str:
    texts = corpus(documents, size)
    if accents:
        texts = {name: text.replace("a", "ä") for name, text in texts.items()}
    collection, names, rng = open_documents(texts), list(texts), random.Random(7)
    wanted = []
    for _ in range(2_000):
        text = texts[rng.choice(names)]
        at = rng.randrange(max(len(text) - 400, 1))
        wanted.append(text[at : at + 400])
    spaced = [text.replace(" ", "  ") for text in wanted]
    assert (holders_of(wanted, collection)[0] >= 0).all()
    assert (holders_of(spaced, collection)[0] >= 0).all()
    megabytes, joined = sum(map(len, texts.values())) / 1e6, "\n".join(texts.values())
    exact, normal = (best(lambda some=some: holders_of(some, collection), 3) for some in (wanted, spaced))
    floor = best(lambda: [joined.find(text) for text in wanted[:50]], 1) * len(wanted) / 50
    letters = "with accents" if accents else ""
    return (
        f"{documents:>6} × {size:>9,} {letters:<13}{megabytes / floor:>9.1f}{megabytes / exact:>13.1f}"
        f" {floor / exact:>7.1f} {megabytes / normal:>12.1f} {floor / normal:>7.1f}"
    )


def main() -> None:
    print("documents, no document named  find MB/s   exact MB/s   ratio  normal MB/s   ratio")
    for documents, size in ((20, 500_000), (2_000, 5_000), (20_000, 500)):
        for accents in (False, True):
            print(anywhere_row(documents, size, accents))
    print("documents                     quoted gold  half without quotes   ratio")
    for documents, size in ((20, 500_000), (2_000, 5_000)):
        print(mixed_row(documents, size))
    print("documents, chunk / overlap          find MB/s   without order   ratio   with order   ratio")
    for documents, size in ((1, 5_000_000), (20, 500_000), (2_000, 5_000), (20_000, 500)):
        for chunk, overlap in ((200, 0), (1000, 200)):
            print(row(documents, size, chunk, overlap))


if __name__ == "__main__":
    main()
