"""inex_eval_ng from its formula, with sets of characters and fractions."""

from fractions import Fraction


def quantised(grade, quant):
    return Fraction(grade, 3) if quant == "gen" else Fraction(int(grade == 3))


def points(results, grades, quant, overlap="yes"):
    """(r_o, p_o) after every result; results are (element, document, start, end), grades {element: (e, s)}."""
    whole = sum((quantised(e, quant) for e, _ in grades.values()), Fraction(0))
    seen, returned, found = set(), set(), []
    recall = relevant = text = Fraction(0)
    for element, document, start, end in results:
        characters = {(document, c) for c in range(start, end)}
        new = len(characters if overlap == "no" else characters - seen)
        e, s = (0, 0) if element in returned else grades.get(element, (0, 0))
        if characters:
            recall += quantised(e, quant) * new / len(characters)
        relevant += quantised(s, quant) * new
        text += new
        seen |= characters
        returned.add(element)
        found.append((recall / whole if whole else None, relevant / text if text else Fraction(0)))
    return found


def average_precision(results, grades, quant, overlap="yes", levels=range(1, 101)):
    total = Fraction(0)
    for level in levels:
        reached = (p for r, p in points(results, grades, quant, overlap) if r >= Fraction(level, 100))
        total += next(reached, Fraction(0))
    return total / len(levels)
