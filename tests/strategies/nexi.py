"""Random NEXI syntax trees, and random strings made of the language's own pieces."""

from hypothesis import strategies as st

from focuseval.data.topics import Query, Term
from focuseval.data.topics.syntax import About, Both, Comparison, Either, Path, Step, Value

tags = st.sampled_from(["article", "bdy", "sec", "p", "item-none", "h1", "größe", "an.d", "or"])
names = st.one_of(
    st.tuples(tags),
    st.just(("*",)),
    st.just(("@year",)),
    st.lists(tags, min_size=2, max_size=3, unique=True).map(tuple),
)
axes = st.sampled_from(["/", "//"])
words = st.text(st.sampled_from("abc+-,'’.:/é語=<>"), min_size=1, max_size=6).filter(
    lambda word: word.strip(",") == word and word[0] not in "'’+-" and word[-1] not in "'’"
)
phrases = st.text(st.sampled_from("ab c)('+-[]"), min_size=1, max_size=8).filter(str.strip)
signs = st.sampled_from(["", "+", "-"])
terms = st.one_of(st.builds(Term, words, signs), st.builds(Term, phrases, signs, st.just(True)))
paths = st.builds(Path, st.lists(st.builds(Step, axes, names), max_size=3).map(tuple))
values = st.one_of(
    st.builds(Value, st.sampled_from(["0", "2000", "-3", "1.50"]), st.just(True)),
    st.builds(Value, st.text(st.sampled_from('ab "é]'), max_size=5), st.just(False)),
)
abouts = st.builds(About, paths, st.lists(terms, min_size=1, max_size=4).map(tuple), st.booleans())
comparisons = st.builds(Comparison, paths, st.sampled_from(["=", "<", ">", "<=", ">="]), values)


def nested(clauses):
    several = st.lists(clauses, min_size=2, max_size=3).map(tuple)
    return st.one_of(several.map(Both), several.map(Either))


clauses = st.recursive(st.one_of(abouts, comparisons), nested, max_leaves=6)
steps = st.builds(Step, axes, names, st.lists(clauses, max_size=2).map(tuple))
queries = st.builds(Query, st.lists(steps, min_size=1, max_size=4).map(tuple))

pieces = st.sampled_from(
    [
        "//",
        "/",
        "article",
        "*",
        "@yr",
        "(",
        ")",
        "|",
        "[",
        "]",
        "about(",
        ".",
        ",",
        "'",
        '"',
        "’",
        "+x",
        " and ",
        " OR ",
        " = ",
        "<=",
        "2000",
        "-1.5",
        "\n",
        "“",
        "”",
        "é",
        "\x00",
    ]
)
almost_queries = st.one_of(
    st.text(max_size=40),
    st.lists(pieces, max_size=25).map("".join),
    st.tuples(queries.map(str), st.integers(0, 60), pieces).map(lambda x: x[0][: x[1]] + x[2] + x[0][x[1] + 1 :]),
)
