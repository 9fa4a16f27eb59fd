"""One run on chunking_evaluation's own questions, made by rule, so that other tools can be given the very same."""

import csv
import json

STEP, SIZE, SHOWN = 300, 400, 5


def questions(data):
    """Every question's corpus and references."""
    with (data / "questions_df.csv").open(newline="", encoding="utf-8") as lines:
        return [
            (row["corpus_id"], [(r["start_index"], r["end_index"]) for r in json.loads(row["references"])])
            for row in csv.DictReader(lines)
        ]


def corpora(data):
    return {path.stem: len(path.read_text(encoding="utf-8")) for path in (data / "corpora").iterdir()}


def chunks(length):
    """Chunks of 400 characters every 300."""
    return [(start, min(start + SIZE, length)) for start in range(0, length, STEP)]


def retrieved(number, corpus, references, sizes):
    """Five chunks around one of the references; every eleventh comes from the next corpus instead."""
    here = references[number % len(references)][0] // STEP
    names, found = sorted(sizes), []
    for j in range(SHOWN):
        place = here + (0, 1, -1, 17, 2)[(j + number) % SHOWN]
        own = chunks(sizes[corpus])
        if (number * 7 + j * 3) % 11:
            found.append((corpus, *own[place % len(own)]))
        else:
            other = names[(names.index(corpus) + 1) % len(names)]
            theirs = chunks(sizes[other])
            found.append((other, *theirs[place % len(own) % len(theirs)]))
    return found
