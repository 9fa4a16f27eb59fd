"""A small article, a way to say an edit in a few words, and random edits with the model they must agree with."""

import itertools

from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document, Element

TEXT = "Title Some first words. A second sentence! Last paragraph."
PAGE = Document(
    "a/one",
    TEXT,
    (
        Element("/article[1]", "article", 0, len(TEXT), -1),
        Element("/article[1]/title[1]", "title", 0, 6, 0),
        Element("/article[1]/p[1]", "p", 6, 43, 0),
        Element("/article[1]/p[1]/b[1]", "b", 11, 16, 2),
        Element("/article[1]/p[2]", "p", 43, len(TEXT), 0),
    ),
)
ANN = Key("ann", "1", "a/one")
_tokens = itertools.count()


def mark(start, end, kind="highlight", text=TEXT):
    return {"kind": kind, "start": start, "end": end, "quote": text[start:end]}


def save(store, edit, key=ANN, page=PAGE, **others):
    """Edit the newest version under a token of its own."""
    values = {"version": store.judgement(key).version, "token": f"t{next(_tokens)}", **others}
    return store.edit(key, page, edit, **values)


def random_edit(random, text=TEXT):
    """An edit that is always allowed."""
    start = random.randrange(len(text) - 1)
    end = random.randrange(start + 1, len(text) + 1)
    kinds = (
        mark(start, end, "highlight", text),
        mark(start, min(end, start + 5), "unhighlight", text),
        {"kind": "entry", "position": start},
        {"kind": "note", "text": f"note {start}"},
        {"kind": "flag", "on": bool(start % 2)},
        {"kind": "skip"},
    )
    return random.choice(kinds)


class Model:
    """What the store must say, kept as a set of characters and a stack of whole states."""

    def __init__(self):
        self.past, self.future = [(frozenset(), None, "todo", False, "")], []

    def step(self, edit):
        characters, bep, status, flagged, note = self.past[-1]
        kind = edit["kind"]
        if kind == "undo":
            self.future.append(self.past.pop())
            return
        if kind == "redo":
            self.past.append(self.future.pop())
            return
        if kind == "highlight":
            characters, status = characters | set(range(edit["start"], edit["end"])), "in progress"
        elif kind == "unhighlight":
            characters, status = characters - set(range(edit["start"], edit["end"])), "in progress"
        elif kind == "entry":
            bep, status = edit["position"], "in progress"
        elif kind == "note":
            note, status = edit["text"], self.remarked(status)
        elif kind == "flag":
            flagged, status = edit["on"], self.remarked(status)
        elif kind == "skip":
            status = "skipped"
        elif kind == "finish":
            status, bep = ("relevant", bep) if edit["relevant"] else ("not relevant", None)
        self.past.append((characters, bep, status, flagged, note))
        self.future = []

    @staticmethod
    def remarked(status):
        return "in progress" if "relevant" in status else status

    def choose(self, random, text=TEXT):
        """An edit, an undo or a redo that is possible now."""
        draw = random.random()
        if draw < 0.15 and len(self.past) > 1:
            return {"kind": "undo"}
        if draw < 0.25 and self.future:
            return {"kind": "redo"}
        if draw < 0.35:
            return {"kind": "finish", "relevant": bool(self.past[-1][0])}
        return random_edit(random, text)

    def agrees(self, judgement):
        characters = frozenset(p for start, end in judgement.highlights for p in range(start, end))
        return self.past[-1] == (characters, judgement.bep, judgement.status, judgement.flagged, judgement.note)
