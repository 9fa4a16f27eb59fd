"""Recall bases from the definitions, with dictionaries and fractions.

An assessment is ``{(topic, document, path): (e, s, size, rsize)}``; a base is ``{(topic, document, path): gain}``.
"""

from fractions import Fraction

TABLES = {
    "strict": {(3, 3): 1},
    "gen": {
        (3, 3): 1,
        **dict.fromkeys([(2, 3), (3, 2), (3, 1)], Fraction(3, 4)),
        **dict.fromkeys([(1, 3), (2, 2), (2, 1)], Fraction(1, 2)),
        **dict.fromkeys([(1, 2), (1, 1)], Fraction(1, 4)),
    },
    "sog": {
        (3, 3): 1,
        (2, 3): Fraction(9, 10),
        **dict.fromkeys([(1, 3), (3, 2)], Fraction(3, 4)),
        (2, 2): Fraction(1, 2),
        **dict.fromkeys([(1, 2), (3, 1)], Fraction(1, 4)),
        **dict.fromkeys([(2, 1), (1, 1)], Fraction(1, 10)),
    },
}
COVERAGE = {
    "strict": {(3, "E"): 1},
    "gen": {
        (3, "E"): 1,
        **dict.fromkeys([(2, "E"), (3, "L")], Fraction(3, 4)),
        **dict.fromkeys([(1, "E"), (2, "L"), (2, "S")], Fraction(1, 2)),
        **dict.fromkeys([(1, "S"), (1, "L")], Fraction(1, 4)),
    },
}


def specificity(size, rsize):
    if rsize == 0:
        return Fraction(0)
    return min(Fraction(1), Fraction(rsize, size)) if size else Fraction(1)


def gain(quant, said, scale="grades"):
    """Gain of one assessment; e may be "?" (2005) or "U" (not assessed)."""
    e, s, size, rsize = said
    if "U" in (e, s):
        return Fraction(0)
    if scale == "coverage":
        return Fraction(COVERAGE[quant].get((e, s), 0))
    if quant in TABLES:
        return Fraction(TABLES[quant].get((e, s), 0))
    if quant.startswith("e") and "_s" in quant:
        es, ss = quant[1:].split("_s")
        return Fraction(int(str(e) in es and str(s) in ss))
    e, spec = (0 if e == "?" else e), specificity(size, rsize)
    return {
        "spec": spec,
        "gen5": e * spec,
        "genLifted": (e + 1) * spec,
        "strict5": Fraction(int(e == 2 and spec == 1)),
    }[quant]


def full(assessments, quant, scale):
    gains = {where: gain(quant, said, scale) for where, said in assessments.items()}
    return {where: value for where, value in gains.items() if value > 0}


def filtered(base, tags):
    return {(t, d, path): g for (t, d, path), g in base.items() if path.rsplit("/", 1)[1].split("[")[0] not in tags}


def contains(outer, inner):
    """Whether one element contains another, or is the same one."""
    return outer[:2] == inner[:2] and (inner[2] + "/").startswith(outer[2] + "/")


def ideal(base):
    """On every path to a relevant leaf the best element, nearer the root on ties; then the outermost of these."""
    leaves = [x for x in base if not any(contains(x, y) and x != y for y in base)]
    kept = set()
    for leaf in leaves:
        path = [x for x in base if contains(x, leaf)]
        kept.add(max(path, key=lambda x: (base[x], -x[2].count("/"))))
    return {x: base[x] for x in kept if not any(contains(y, x) and x != y for y in kept)}


def topic_of(base, topic):
    return {where: value for where, value in base.items() if where[0] == topic}
