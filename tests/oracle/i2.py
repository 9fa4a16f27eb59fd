"""inex_eval from its formula: masses rank by rank, in fractions."""

from fractions import Fraction


def precision(weak_ranks, xn):
    """P at relevant mass xn; weak_ranks are lists of gains. None where the mass is not reached."""
    j = reached = Fraction(0)
    for gains in weak_ranks:
        r = sum(gains, Fraction(0))
        i = len(gains) - r
        if reached + r >= xn:
            s = xn - reached
            return xn / (xn + j + s * i / (r + 1))
        reached += r
        j += i
    return None


def average_precision(weak_ranks, n, rest=None, levels=range(1, 101)):
    """Mean over x = .01 … 1, or other levels; the `rest` of the collection stands on one last weak rank."""
    total = Fraction(0)
    for level in levels:
        xn = Fraction(level, 100) * n
        found = precision(weak_ranks, xn)
        if found is None and rest is not None:
            returned = sum(len(gains) for gains in weak_ranks)
            reached = sum((g for gains in weak_ranks for g in gains), Fraction(0))
            r = n - reached
            i = max(rest - r, 0)
            found = xn / (xn + (returned - reached) + (xn - reached) * i / (r + 1))
        total += found or 0
    return total / len(levels)
