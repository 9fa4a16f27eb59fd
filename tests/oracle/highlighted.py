"""Measures of highlighted text written from the papers' formulas, with Python sets and fractions: slow and obvious.

`judged` is document → dict(length, spans, bep); `results` is a list of (document, start, end) in rank order.
"""

from fractions import Fraction
from math import ceil, log2

NOTHING = {"length": 0, "spans": [], "bep": -1}


def marked(judged, document):
    return {i for s, e in judged.get(document, NOTHING)["spans"] for i in range(s, e)}


def relevant_documents(judged):
    return {document for document in judged if marked(judged, document)}


def trel(judged):
    return sum(len(marked(judged, document)) for document in judged)


def div(a, b):
    return Fraction(a) / b if b else Fraction(0)


def new_text(results):
    """For each rank, the characters (as pairs) that no earlier rank returned."""
    seen, new = set(), []
    for document, start, end in results:
        text = {(document, i) for i in range(start, end)}
        new.append(text - seen)
        seen |= text
    return new


def good(judged, text):
    return {(document, i) for document, i in text if i in marked(judged, document)}


def articles(results):
    """Documents in order of first appearance, each with the set of its returned characters and its first start."""
    found = {}
    for document, start, end in results:
        text, _ = found.setdefault(document, (set(), start))
        text |= set(range(start, end))
    return [(document, text, entry) for document, (text, entry) in found.items()]


# -- section 5: generalised precision ---------------------------------------------------------------------------


def f_score(judged, document, text, beta=1):
    hit = marked(judged, document) & text
    if not hit:
        return Fraction(0)
    p, r, b = Fraction(len(hit), len(text)), Fraction(len(hit), len(marked(judged, document))), Fraction(beta) ** 2
    return (1 + b) * p * r / (b * p + r)


def t2i(judged, document, text, irr):
    """Read the returned passages, then the rest, character by character."""
    if not marked(judged, document):
        return Fraction(0)
    order = sorted(text) + sorted(set(range(judged[document]["length"])) - text)
    liked = disliked = 0
    for i in order:
        if disliked == irr:
            break
        if i in marked(judged, document):
            liked += 1
        else:
            disliked += 1
    return div(liked, liked + disliked)


def entry_point(judged, document):
    """The best entry point of a relevant document, −1 where there is none: an article without relevance scores 0."""
    return judged[document]["bep"] if document in relevant_documents(judged) else -1


def bep_score(judged, document, entry, n):
    b = entry_point(judged, document)
    return Fraction(max(0, n - abs(entry - b)), n) if b >= 0 else Fraction(0)


def article_scores(judged, results, *, score="f", beta=1, irr=300, n=500):
    return [
        {"f": f_score(judged, d, text, beta), "t2i": t2i(judged, d, text, irr), "bep": bep_score(judged, d, entry, n)}[
            score
        ]
        for d, text, entry in articles(results)
    ]


def no_beps(judged, score):
    return score == "bep" and not number_of_beps(judged)


def gP(judged, results, at, short="pad", **score):
    if no_beps(judged, score.get("score")):
        return None
    s = article_scores(judged, results, **score)
    return div(sum(s[:at]), at if short == "pad" else max(min(at, len(s)), 1))


def gR(judged, results, at, gain="documents", credit="document"):
    shown = articles(results)[:at]
    if gain == "documents":
        return div(sum(d in relevant_documents(judged) for d, _, _ in shown), len(relevant_documents(judged)))
    return div(sum(credited(judged, d, text, credit) for d, text, _ in shown), trel(judged))


def credited(judged, document, text, credit):
    whole = marked(judged, document)
    return len(whole if credit == "document" else whole & text)


def restricted(results, most):
    """Every article's results cut after its first `most` characters, repeats counted."""
    used, kept = {}, []
    for document, start, end in results:
        left = max(0, most - used.get(document, 0))
        used[document] = used.get(document, 0) + end - start
        kept.append((document, start, min(end, start + left)))
    return kept


def MAgP(judged, results, *, gain="documents", credit="document", form="average", most=None, **score):
    results = results if most is None else restricted(results, most)
    if no_beps(judged, score.get("score")):
        return None
    shown, relevant = articles(results), relevant_documents(judged)
    gp = [gP(judged, results, r, **score) for r in range(1, len(shown) + 1)]
    added = [
        (d in relevant) * (1 if gain == "documents" else credited(judged, d, text, credit)) for d, text, _ in shown
    ]
    whole = len(relevant) if gain == "documents" else trel(judged)
    if form == "average":
        return sum((div(a, whole) * p for a, p in zip(added, gp, strict=True)), Fraction(0))
    if form == "ratio":
        hits = [p for (d, _, _), p in zip(shown, gp, strict=True) if d in relevant]
        return div(sum(added), whole) * div(sum(hits), len(hits))
    reached = [div(sum(added[: r + 1]), whole) for r in range(len(added))]
    best = [max((p for p, g in zip(gp, reached, strict=True) if g >= Fraction(x, 100)), default=0) for x in range(101)]
    return div(sum(best), 101)


def T2I(judged, results, irr=300):
    return div(sum(t2i(judged, d, text, irr) for d, text, _ in articles(results)), len(relevant_documents(judged)))


# -- section 6: best in context ---------------------------------------------------------------------------------


def nearness(judged, results, A, L):
    reach = Fraction(str(A)) * L
    beps = [(entry_point(judged, d), entry) for d, _, entry in articles(results)]
    return [div(reach, reach + abs(x - b)) if b >= 0 else Fraction(0) for b, x in beps]


def number_of_beps(judged):
    return sum(entry_point(judged, document) >= 0 for document in judged)


def BEPD(judged, results, L, A=0.1):
    T = number_of_beps(judged)
    return div(sum(nearness(judged, results, A, L)), T) if T else None


def eprum_precision(p, R):
    """Sum over all outcomes of who sees what: the rank at which the R-th point is seen."""
    total = Fraction(0)
    possible = [i for i, chance in enumerate(p) if chance]
    for outcome in range(1 << len(possible)):
        seen = [i for bit, i in enumerate(possible) if outcome >> bit & 1]
        if len(seen) >= R:
            chance = Fraction(1)
            for bit, i in enumerate(possible):
                chance *= p[i] if outcome >> bit & 1 else 1 - p[i]
            total += chance * Fraction(R, seen[R - 1] + 1)
    return total


def EPRUM(judged, results, L, A=0.1, at=None):
    T, p = number_of_beps(judged), nearness(judged, results, A, L)
    if not T:
        return None
    if at is not None:
        return eprum_precision(p, max(ceil(Fraction(at) * T), 1))
    return sum(eprum_precision(p, R) for R in range(1, T + 1)) / T


def EPRUM_P(judged, results, L, at, A=0.1):
    return div(sum(nearness(judged, results, A, L)[:at]), at) if number_of_beps(judged) else None


# -- section 7: characters in rank order ------------------------------------------------------------------------


def hP(judged, results, at):
    new = new_text(results)[:at]
    return div(sum(div(len(good(judged, n)), e - s) for n, (_, s, e) in zip(new, results, strict=False)), at)


def hR(judged, results, at):
    return div(sum(len(good(judged, n)) for n in new_text(results)[:at]), trel(judged))


def harmonic(p, r):
    return div(2 * p * r, p + r)


def hF(judged, results, at):
    return harmonic(hP(judged, results, at), hR(judged, results, at))


def hAP(judged, results):
    new = new_text(results)
    return sum(
        (hP(judged, results, r) * div(len(good(judged, n)), trel(judged)) for r, n in enumerate(new, 1)), Fraction(0)
    )


def iP(judged, results, at):
    points, relevant, read = [], 0, 0
    for new in new_text(results):
        relevant, read = relevant + len(good(judged, new)), read + len(new)
        points.append((div(relevant, trel(judged)), div(relevant, read)))
    return max((p for r, p in points if r >= Fraction(at)), default=Fraction(0))


def MAiP(judged, results):
    return sum(iP(judged, results, Fraction(x, 100)) for x in range(101)) / 101


def charP(judged, results, at=None):
    return spanP(judged, results, at)


def charR(judged, results, at=None):
    return spanR(judged, results, at)


def charF(judged, results, at=None):
    return harmonic(charP(judged, results, at), charR(judged, results, at))


def artP(judged, results):
    shown = [d for d, _, _ in articles(results)]
    return div(sum(d in relevant_documents(judged) for d in shown), len(shown))


def artR(judged, results):
    shown = [d for d, _, _ in articles(results)]
    return div(sum(d in relevant_documents(judged) for d in shown), len(relevant_documents(judged)))


def artF(judged, results):
    return harmonic(artP(judged, results), artR(judged, results))


# -- section 11: spans ------------------------------------------------------------------------------------------


def shown_text(results, at=None):
    """The union of the first `at` results, or of as much as a budget of characters ('7c') pays for."""
    if isinstance(at, str):
        left, text = int(at[:-1]), set()
        for document, start, end in results:
            text |= {(document, i) for i in range(start, min(end, start + left))}
            left = max(0, left - (end - start))
        return text
    return {(document, i) for document, start, end in results[:at] for i in range(start, end)}


def spanP(judged, results, at=None):
    text = shown_text(results, at)
    return div(len(good(judged, text)), len(text))


def spanR(judged, results, at=None):
    return div(len(good(judged, shown_text(results, at))), trel(judged))


def spanF(judged, results, at=None):
    return harmonic(spanP(judged, results, at), spanR(judged, results, at))


def IoU(judged, results, at=None):
    text = shown_text(results, at)
    return div(len(good(judged, text)), len(text) + trel(judged) - len(good(judged, text)))


def hit(judged, results, at=None):
    return Fraction(bool(good(judged, shown_text(results, at))))


def full(judged, results, at=None):
    return Fraction(len(good(judged, shown_text(results, at))) == trel(judged))


def spanRR(judged, results, at=None):
    return next((Fraction(1, r) for r, n in enumerate(new_text(results[:at]), 1) if good(judged, n)), Fraction(0))


def spanNDCG(judged, results, at=None):
    new = new_text(results)[:at]
    return sum(len(good(judged, n)) / log2(r + 1) for r, n in enumerate(new, 1)) / trel(judged)


def ceiling(judged, chunks, M):
    """`chunks`: all (document, start, end) of the chunking."""
    kept = [c for c in chunks if good(judged, shown_text([c]))]
    return {"spanP": spanP, "spanR": spanR, "spanF": spanF, "IoU": IoU}[M](judged, kept)
