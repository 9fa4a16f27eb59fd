"""The official tool of 2008–10 by its habits (MEASURES.md §15): sets of characters, one result after another.

`judged` is document → dict(length, spans, bep); `results` is a list of (document, start, end) in the file's order, with
−1 for an unknown offset. Floats where the tool has floats: they decide which recall level is reached.
"""

from math import floor, nan

from oracle.highlighted import articles, bep_score, f_score, marked, relevant_documents, t2i, trel

UNKNOWN_COST = 18


def costs(judged, results, mode="f"):
    """For each result, the characters that it costs and the relevant ones that it adds."""
    seen, found = set(), []
    for document, start, end in results:
        text = {(document, i) for i in range(max(start, 0), end)}
        new = text - seen
        relevant = document in relevant_documents(judged)
        gained = sum(i in marked(judged, document) for _, i in new) if relevant else 0
        cost = len(new) if relevant else len(text)
        if start < 0:
            cost = 0 if relevant and mode == "t" else UNKNOWN_COST
        found.append((cost, gained))
        seen |= text
    return found


def counts(judged, results, mode):
    spent = costs(judged, results, mode) if mode != "b" else []
    shown = {document for document, _, _ in results}
    return {
        "num_ret": len(shown),
        "num_rel": len(relevant_documents(judged)),
        "num_rel_ret": len(shown & relevant_documents(judged)),
        "ret_size": sum(cost for cost, _ in spent),
        "rel_size": trel(judged),
        "rel_ret_size": sum(gained for _, gained in spent),
    }


def rates(judged, results, mode, **options):
    """Return one topic's values by the names that the tool prints."""
    return _listed(judged, results, mode) if mode in "tf" else _in_context(judged, results, mode, **options)


def _listed(judged, results, mode):
    n, found = counts(judged, results, mode), {}
    for name, hit, shown, whole in (
        ("art", "num_rel_ret", "num_ret", "num_rel"),
        ("char", "rel_ret_size", "ret_size", "rel_size"),
    ):
        p, r = n[hit] / n[shown] if n[shown] else 0.0, n[hit] / n[whole] if n[whole] else nan
        found |= {f"{name}_prec": p, f"{name}_rec": r, f"{name}_f1": 2 * p * r / (p + r) if p + r > 0 else 0.0}
    best, read, gained = [0.0] * 101, 0, 0
    for cost, new in costs(judged, results, mode) if n["rel_size"] else ():
        read, gained = read + cost, gained + new
        for level in range(floor(100 * (gained / trel(judged))) + 1) if read else ():
            best[level] = max(best[level], gained / read)
    found |= {f"iP[{level / 100:.2f}]": best[level] for level in (0, 1, 5, 10)} | {"MAiP": sum(best) / 101}
    return found | {f"ircl_prn.{level / 100:.2f}": value for level, value in enumerate(best)}


def _in_context(judged, results, mode, *, irr, n, beta):
    score = {
        "r": lambda document, text, _: f_score(judged, document, text, beta),
        "i": lambda document, text, _: t2i(judged, document, text, irr),
        "b": lambda document, _, entry: bep_score(judged, document, entry, n),
    }[mode]
    listed = articles(results)
    scores = [float(score(*article)) for article in listed]
    relevant = [document in relevant_documents(judged) for document, _, _ in listed]
    gp = [sum(scores[:r]) / r for r in range(1, len(scores) + 1)]
    whole = len(relevant_documents(judged))
    gr = [sum(relevant[:r]) / whole if whole else nan for r in range(1, len(scores) + 1)]
    found = {"MAgP": sum(p for p, good in zip(gp, relevant, strict=True) if good) / whole if whole else nan}
    for name, values, nothing in (("gP", gp, 0.0), ("gR", gr, 0.0 if whole else nan)):
        last = {k: values[min(k, len(values)) - 1] if values else nothing for k in (1, 2, 3, 5, 10, 25, 50)}
        found |= {f"{name}[{k}]": value for k, value in last.items()}
    levels = {
        f"ircl_prn.{x / 10:.2f}": [p for p, r in zip(gp, gr, strict=True) if 10 * r >= x - 1e-9] for x in range(11)
    }
    return found | {name: max(reached, default=0.0) for name, reached in levels.items()}
