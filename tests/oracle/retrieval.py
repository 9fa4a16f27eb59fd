"""Retrieval, slowly: every unit's own list of words, dictionaries, and the page's formulas word by word."""

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, product
from math import log
from xml.etree import ElementTree as ET

import numpy as np
import Stemmer

from focuseval.data.topics.syntax import Step
from focuseval.retrieval.terms import stop_words

DENSE = [
    range(0x0E00, 0x0F00), range(0x1000, 0x10A0), range(0x1780, 0x1800), range(0x3005, 0x3008), range(0x3040, 0x3100),
    range(0x31F0, 0x3200), range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0xFF66, 0xFFA0),
    range(0x20000, 0x323B0),
]  # fmt: skip


def split(text):
    """(start, end) of every word of a piece of text without tags."""
    inside = [unicodedata.category(c)[0] in "LMN" for c in text]
    at = 0
    while at < len(text):
        if not inside[at]:
            at += 1
            continue
        stop = at
        while stop < len(text) and inside[stop]:
            stop += 1
        yield from _run(text, at, stop)
        at = stop


def _run(text, start, stop):
    """A run becomes characters with their marks; those of scripts without blanks become pairs."""
    cuts = [at for at in range(start, stop) if at == start or unicodedata.category(text[at])[0] != "M"]
    characters = list(zip(cuts, [*cuts[1:], stop], strict=True))
    groups = []
    for first, end in characters:
        dense = any(ord(text[first]) in some for some in DENSE)
        if groups and groups[-1][0] == dense:
            groups[-1][1].append((first, end))
        else:
            groups.append((dense, [(first, end)]))
    for dense, members in groups:
        if not dense or len(members) == 1:
            yield members[0][0], members[-1][1]
        else:
            for one, two in pairwise(members):
                yield one[0], two[1]


@cache
def term_of(word, language):
    folded = word.casefold()
    if language == "none":
        return folded
    return None if folded in stop_words(language) else Stemmer.Stemmer(language).stemWord(folded)


@dataclass
class Unit:
    document: int
    number: int
    depth: int
    path: str | None
    tag: str
    start: int
    end: int
    terms: list = field(default_factory=list)
    parent: object = None
    text: str = ""

    def count(self, term):
        return sum(tuple(self.terms[i : i + len(term)]) == term for i in range(len(self.terms) - len(term) + 1))


class Page:
    """One document: its elements, and all of its words."""

    def __init__(self, number, xml, language):
        self.number, self.language, self.text, self.words, self.elements = number, language, "", [], []
        self._walk(ET.fromstring(xml), None, "", 1, 1)
        for element in self.elements:
            element.terms = [t for s, e, t in self.words if element.start <= s and e <= element.end and t is not None]
            element.text = self.text[element.start : element.end]

    def _add(self, piece):
        base = len(self.text)
        self.words += [(base + s, base + e, term_of(piece[s:e], self.language)) for s, e in split(piece or "")]
        self.text += piece or ""

    def _walk(self, node, parent, path, n, depth):
        path = f"{path}/{node.tag}[{n}]"
        unit = Unit(self.number, len(self.elements), depth, path, node.tag, len(self.text), 0, parent=parent)
        self.elements.append(unit)
        self._add(node.text)
        seen = Counter()
        for child in node:
            seen[child.tag] += 1
            self._walk(child, unit, path, seen[child.tag], depth + 1)
            self._add(child.tail)
        unit.end = len(self.text)

    def spans(self, spans):
        """Units of given spans; a word that an edge cuts belongs to none."""
        for number, (start, end) in enumerate(sorted(set(spans))):
            kept = [t for s, e, t in self.words if start <= s and e <= end and t is not None]
            yield Unit(self.number, number, 0, None, "", start, end, kept)

    def passages(self, size, step):
        number = 0
        while True:
            window = self.words[number * step : number * step + size]
            if window:
                kept = [t for _, _, t in window if t is not None]
                yield Unit(self.number, number, 0, None, "", window[0][0], window[-1][1], kept)
            if number * step + size >= len(self.words):
                return
            number += 1


def weights(terms, language):
    found = {}
    for term in terms:
        sign = {"": 1, "+": 2, "-": -1}[term.sign]
        kept = [t for s, e in split(term.text) if (t := term_of(term.text[s:e], language)) is not None]
        wanted = [(t,) for t in kept]
        if term.phrase and len(kept) > 1:
            wanted = [tuple(kept)] if sign < 0 else [*wanted, tuple(kept)]
        for one in wanted:
            found[one] = found.get(one, 0) + sign
    return {term: q for term, q in found.items() if q}


class Slow:
    """All units of a collection, scored one by one."""

    def __init__(self, pages, settings, spans=None):
        self.pages, self.s = pages, settings
        self.roots = [page.elements[0] for page in pages if page.elements[0].terms]
        self.elements = [unit for page in pages for unit in page.elements if unit.terms]
        if settings.kind == "element":
            tags, least = settings.tags, max(settings.min_words, 1)
            self.units = [u for u in self.elements if len(u.terms) >= least and (not tags or u.tag in tags)]
        elif settings.kind == "document":
            self.units = self.roots
        elif spans is not None:
            self.units = [u for page, own in zip(pages, spans, strict=True) for u in page.spans(own) if u.terms]
        else:
            self.units = [u for page in pages for u in page.passages(settings.spec.size, settings.spec.step) if u.terms]
        self.average = sum(len(u.terms) for u in self.units) / len(self.units) if self.units else 1.0
        self.document_average = sum(len(u.terms) for u in self.roots) / len(self.roots) if self.roots else 1.0

    def bm25(self, unit, query, among, average):
        total = 0.0
        for term, q in query.items():
            n = sum(u.count(term) > 0 for u in among)
            tf = unit.count(term)
            if tf:
                k1, b = self.s.k1, self.s.b
                idf = log(1 + (len(among) - n + 0.5) / (n + 0.5))
                total += q * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(unit.terms) / average))
        return total

    def own(self, unit, query):
        return self.bm25(unit, query, self.roots if self.s.idf == "documents" else self.units, self.average)

    def mixed(self, own, unit, query):
        root = self.pages[unit.document].elements[0]
        return (1 - self.s.mix) * own + self.s.mix * self.bm25(root, query, self.roots, self.document_average)

    def wanted(self, unit, query):
        return any(q > 0 and unit.count(term) for term, q in query.items())

    def found(self, query):
        scored = [(u, self.mixed(self.own(u, query), u, query)) for u in self.units if self.wanted(u, query)]
        return self.ordered(scored)

    def ordered(self, scored):
        rounded = [(u, float(np.round(score, 9))) for u, score in scored]
        kept = [(u, score) for u, score in rounded if score > 0]
        return sorted(kept, key=lambda pair: (-pair[1], pair[0].depth, pair[0].document, pair[0].number))

    def listed(self, found, task, limit):
        if task in {"thorough", "spans"}:
            return found[:limit]
        if task == "best-in-context":
            seen = {}
            for unit, score in found:
                seen.setdefault(unit.document, (unit, score))
            return list(seen.values())[:limit]
        kept = []
        for unit, score in found:
            mine = {(unit.document, at) for at in range(unit.start, unit.end)}
            if not any(mine & {(u.document, at) for at in range(u.start, u.end)} for u, _ in kept):
                kept.append((unit, score))
        kept = kept[:limit]
        if task == "focused":
            return kept
        best = {}
        for unit, score in kept:
            best.setdefault(unit.document, score)
        return [
            (u, best[document])
            for document in best
            for u, _ in sorted((pair for pair in kept if pair[0].document == document), key=lambda pair: pair[0].start)
        ]

    # NEXI

    def structured(self, query, all_terms, weigh):
        everything = weigh(all_terms)
        target, support = {"strict": "SS", "vague": "VV"}.get(self.s.cas, self.s.cas)
        bare = [Step(step.axis, step.names) for step in query.steps]
        anywhere = Step("//", ("*",), query.steps[-1].predicates)
        steps = [*query.steps[:-1], anywhere] if (target, support) == ("V", "S") else query.steps
        scored = []
        for unit in self.elements:
            if not self.wanted(unit, everything):
                continue
            exempt = (
                target == "S" and unit.tag in query.steps[-1].names and (not self.s.tags or unit.tag in self.s.tags)
            )
            if unit not in self.units and not (exempt and "*" not in query.steps[-1].names):
                continue
            sums = list(self._chains(unit, steps, weigh))
            asked = float(np.round(self.mixed(max(sums), unit, everything), 9)) if sums else None
            if support == "S" and asked is not None:
                scored.append((unit, asked))
            if support == "V" and (target == "V" or list(self._chains(unit, bare, weigh))):
                plain = float(np.round(self.mixed(self.own(unit, everything), unit, everything), 9))
                scored.append((unit, plain + (asked or 0.0)))
        return self.ordered(scored)

    def _chains(self, unit, steps, weigh):
        """The sums of all ways to walk the steps down to a unit under which all conditions hold."""
        line = [unit]
        while line[0].parent is not None:
            line.insert(0, line[0].parent)
        for places in product(range(len(line)), repeat=len(steps)):
            if places[-1] != len(line) - 1:
                continue
            before, total = -1, 0.0
            for step, place in zip(steps, places, strict=True):
                near = place == before + 1 if step.axis == "/" else place > before
                held = near and self._named(line[place], step) and self._all(line[place], step.predicates, weigh)
                if not held or not held[1]:
                    break
                total, before = total + held[0], place
            else:
                yield total

    def _named(self, unit, step):
        return "*" in step.names or unit.tag in step.names

    def _all(self, unit, clauses, weigh):
        parts = [self._clause(unit, clause, weigh) for clause in clauses]
        return sum(score for score, _ in parts), all(holds for _, holds in parts)

    def _clause(self, unit, clause, weigh):
        name = type(clause).__name__
        if name == "Both":
            return self._all(unit, clause.clauses, weigh)
        if name == "Either":
            parts = [self._clause(unit, part, weigh) for part in clause.clauses]
            return max(score for score, _ in parts), any(holds for _, holds in parts)
        reached = [unit]
        for step in clause.path.steps:
            reached = [y for x in reached for y in self._below(x, step)]
        if name == "About":
            query = weigh(clause.terms)
            scores = [self.own(y, query) for y in reached]
            return max(scores, default=0.0), any(self.wanted(y, query) for y in reached)
        return 0.0, any(self._compares(y.text.strip(), clause) for y in reached)

    def _below(self, unit, step):
        def inside(other):
            while other.parent is not None:
                other = other.parent
                if other is unit:
                    return True
            return False

        page = self.pages[unit.document].elements
        near = [y for y in page if (y.parent is unit if step.axis == "/" else inside(y))]
        return [y for y in near if self._named(y, step)]

    def _compares(self, left, clause):
        right = clause.value.text
        if clause.value.number:
            try:
                left, right = float(left), float(right)
            except ValueError:
                return False
        return {
            "=": left == right, "<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right,
        }[clause.operator]  # fmt: skip
