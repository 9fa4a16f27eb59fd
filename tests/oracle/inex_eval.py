"""The official tool of 2008–10 by its habits (MEASURES.md §15): sets of characters, one result after another.

`judged` is document → dict(length, spans, bep); `results` is a list of (document, start, end) in the file's order, with
−1 for an unknown offset. Floats where the tool has floats: they decide which recall level is reached.
"""

from math import floor

from oracle.highlighted import articles, bep_score, f_score, marked, relevant_documents, t2i, trel

UNKNOWN_COST = 18


def costs(judged, results):
    """For each result, the characters that it costs and the relevant ones that it adds."""
    seen, found = set(), []
    for document, start, end in results:
        text = {(document, i) for i in range(max(start, 0), end)}
        new = text - seen
        relevant = document in relevant_documents(judged)
        gained = sum(i in marked(judged, document) for _, i in new) if relevant else 0
        cost = UNKNOWN_COST if start < 0 else len(new) if relevant else len(text)
        found.append((cost, gained))
        seen |= text
    return found


def counts(judged, results, mode):
    spent = costs(judged, results) if mode != "b" else []
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
    n = counts(judged, results, mode)
    found = {}
    for name, hit, shown, whole in (
        ("art", "num_rel_ret", "num_ret", "num_rel"),
        ("char", "rel_ret_size", "ret_size", "rel_size"),
    ):
        p, r = (n[hit] / n[part] if n[part] else 0.0 for part in (shown, whole))
        found |= {f"{name}_prec": p, f"{name}_rec": r, f"{name}_f1": 2 * p * r / (p + r) if p + r else 0.0}
    return found | (_listed(judged, results) if mode in "tf" else _in_context(judged, results, mode, **options))


def _listed(judged, results):
    best, read, gained = [0.0] * 101, 0, 0
    for cost, new in costs(judged, results):
        read, gained = read + cost, gained + new
        for level in range(floor(100 * (gained / trel(judged))) + 1) if read else ():
            best[level] = max(best[level], gained / read)
    found = {f"iP[{level / 100:.2f}]": best[level] for level in (0, 1, 5, 10)} | {"MAiP": sum(best) / 101}
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
    gr = [sum(relevant[:r]) / len(relevant_documents(judged)) for r in range(1, len(scores) + 1)]
    found = {"MAgP": sum(p for p, good in zip(gp, relevant, strict=True) if good) / len(relevant_documents(judged))}
    for name, values in (("gP", gp), ("gR", gr)):
        found |= {f"{name}[{k}]": values[min(k, len(values)) - 1] if values else 0.0 for k in (1, 2, 3, 5, 10, 25, 50)}
    levels = {
        f"ircl_prn.{x / 10:.2f}": [p for p, r in zip(gp, gr, strict=True) if 10 * r >= x - 1e-9] for x in range(11)
    }
    return found | {name: max(reached, default=0.0) for name, reached in levels.items()}
