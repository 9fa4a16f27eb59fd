"""Small collections with much nesting, few words, and queries of these words."""

from hypothesis import strategies as st

WORDS = (
    "tide",
    "Tides",
    "moon",
    "ships",
    "the",
    "of",
    "self-made",
    "漢字",
    "字体学",
    "ก",
    "ไม้",
    "हिन्दी",
    "2010",
    "7",
    "e\u0301t\u00e9",
)
TAGS = ("article", "sec", "p", "yr")

pieces = st.lists(
    st.sampled_from([*WORDS, *WORDS[:4], "tide<!-- no end -->s", "mo<![CDATA[on]]>", "-", "\n"]), max_size=4
)
texts = st.one_of(pieces.map(" ".join), pieces.map("".join))


def element(children):
    return st.tuples(st.sampled_from(TAGS), texts, st.lists(st.tuples(children, texts), max_size=3)).map(_written)


def _written(parts):
    tag, text, children = parts
    return f"<{tag}>{text}{''.join(child + tail for child, tail in children)}</{tag}>"


trees = st.recursive(st.tuples(st.sampled_from(TAGS), texts, st.just([])).map(_written), element, max_leaves=8)
collections = st.lists(trees, min_size=1, max_size=4)

words = st.sampled_from(["tide", "moon", "ship", "the", "self-made", "漢字体", "ไม้", "हिन्दी", "2010", "unknown"])
phrases = st.lists(words, min_size=1, max_size=3).map(lambda some: f'"{" ".join(some)}"')
terms = st.tuples(st.sampled_from(["", "", "+", "-"]), st.one_of(words, words, phrases)).map("".join)
queries = st.lists(terms, min_size=1, max_size=4).map(" ".join)

names = st.sampled_from(["article", "sec", "p", "*", "*", "(sec|p)", "(article|sec|p|yr)", "yr", "@id"])
steps = st.tuples(st.sampled_from(["/", "//"]), names).map("".join)
paths = st.lists(steps, max_size=2).map(lambda some: "." + "".join(some))
abouts = st.tuples(paths, queries).map(lambda pair: f"about({pair[0]}, {pair[1]})")
comparisons = st.tuples(
    paths, st.sampled_from(["=", "<", ">", "<=", ">="]), st.sampled_from(["2010", "7", "'moon'"])
).map(" ".join)
clauses = st.recursive(
    st.one_of(abouts, abouts, comparisons),
    lambda inner: st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=3,
)
predicates = st.lists(clauses, max_size=2).map(lambda some: "".join(f"[{one}]" for one in some))
structured = st.tuples(st.lists(st.tuples(steps, predicates).map("".join), max_size=1).map("".join), steps, abouts).map(
    lambda parts: f"{parts[0]}{parts[1]}[{parts[2]}]"
)
