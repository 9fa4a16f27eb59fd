"""The tasks' rules, one result at a time: slow, obvious, with sets of characters and prefixes of paths."""

import math


def extent(result):
    """A result's characters as a set, or its path as a tuple of steps, or None where it has neither."""
    if result["path"] is not None:
        return tuple(result["path"].split("/")[1:])
    if result["start"] is None:
        return ()
    return set(range(result["start"], result["end"]))


def overlap(one, other):
    if one["doc"] != other["doc"]:
        return False
    a, b = extent(one), extent(other)
    if () in (a, b):
        return True
    if isinstance(a, set) != isinstance(b, set):
        return False
    if isinstance(a, set):
        return bool(a & b)
    size = min(len(a), len(b))
    return a[:size] == b[:size]


def same(one, other):
    return all(one[name] == other[name] for name in ("doc", "path", "start", "end"))


def broken(results, *, limit, may_overlap, grouped, single):
    """(rule, number of the result) pairs of one topic, its results in ranking order."""
    found = []
    for i, result in enumerate(results):
        above = results[:i]
        repeat = any(same(result, other) for other in above)
        if repeat:
            found.append(("duplicate", i))
        if limit is not None and i >= limit:
            found.append(("too-many", i))
        article = [other for other in above if other["doc"] == result["doc"]]
        if grouped and article and above[-1]["doc"] != result["doc"]:
            found.append(("interleaved", i))
        if single and article and not repeat:
            found.append(("second-result", i))
        if not may_overlap and not repeat and any(overlap(result, other) for other in above):
            found.append(("overlap", i))
        if not math.isfinite(result["score"]):
            found.append(("bad-score", i))
        finite = [other["score"] for other in above if math.isfinite(other["score"])]
        if math.isfinite(result["score"]) and finite and result["score"] > finite[-1]:
            found.append(("score-order", i))
    return found


def kept(results, *, limit, may_overlap, grouped, single):
    """Numbers of the results that a repair keeps, in their new order."""
    stay = []
    for i, result in enumerate(results):
        above = [results[j] for j in stay]
        clash = any(same(result, other) for other in above)
        clash |= single and any(other["doc"] == result["doc"] for other in above)
        clash |= not may_overlap and any(overlap(result, other) for other in above)
        if not clash:
            stay.append(i)
    if grouped:
        docs = list(dict.fromkeys(results[i]["doc"] for i in stay))
        stay.sort(key=lambda i: docs.index(results[i]["doc"]))
    return stay[:limit]
