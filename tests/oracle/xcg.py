"""XCG from the papers' formulas, one topic at a time, in fractions."""

from fractions import Fraction

from oracle.recall_base import contains


def gains(results, base):
    """xG of every result: its gain the first time it is returned, else 0."""
    seen, found = set(), []
    for x in results:
        found.append(Fraction(0) if x in seen else base.get(x, Fraction(0)))
        seen.add(x)
    return found


def cumulated(values):
    return [sum(values[: i + 1], Fraction(0)) for i in range(len(values))]


def ideal_rank(xci, reached, line=False):
    """First rank at which the ideal list has gathered as much; with `line`, read off straight lines."""
    rank = next(i for i, value in enumerate(xci, 1) if value >= reached)
    if not line:
        return Fraction(rank)
    before = xci[rank - 2] if rank > 1 else Fraction(0)
    return rank - 1 + (reached - before) / (xci[rank - 1] - before)


def natural_points(results, base, line=False):
    """(gr, ep) at every rank that gains."""
    xg, xci = gains(results, base), cumulated(sorted(base.values(), reverse=True))
    xcg = cumulated(xg)
    return [(xcg[i] / xci[-1], ideal_rank(xci, xcg[i], line) / (i + 1)) for i in range(len(results)) if xg[i] > 0]


def maep(results, base, line=False):
    return sum((ep for _, ep in natural_points(results, base, line)), Fraction(0)) / len(base)


def ep_at(level, results, base, line=False):
    points = natural_points(results, base, line)
    for i, (gr, ep) in enumerate(points):
        if gr >= level:
            if i == 0:
                return ep
            gr0, ep0 = points[i - 1]
            return ep0 + (ep - ep0) * (level - gr0) / (gr - gr0)
    return Fraction(0)


def imaep(results, base, line=False):
    return sum(ep_at(Fraction(i, 100), results, base, line) for i in range(1, 101)) / 100


def normalised(results, base, ideal):
    """xG_norm of every result."""
    xg, found = gains(results, base), []
    for j, x in enumerate(results):
        best = Fraction(0)
        for y in ideal:
            if contains(x, y) or contains(y, x):
                earlier = sum(
                    (xg[k] for k in range(j) if contains(results[k], y) or contains(y, results[k])), Fraction(0)
                )
                best = max(best, min(xg[j], ideal[y] - earlier))
        found.append(best)
    return found


def nxcg(k, results, base, ideal, against=None):
    best = sorted((against or ideal).values(), reverse=True)
    return sum(normalised(results, base, ideal)[:k], Fraction(0)) / sum(best[:k])


def manxcg(k, results, base, ideal):
    return sum(nxcg(i, results, base, ideal) for i in range(1, k + 1)) / k


def nxcg_of_all(k, results, base):
    """Every relevant element is ideal: gains of the full base over the best list of the full base."""
    return sum(gains(results, base)[:k], Fraction(0)) / sum(sorted(base.values(), reverse=True)[:k])
