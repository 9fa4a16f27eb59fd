"""NEXI: what parses, to which tree, and where an error points."""

import json

import pytest
from hypothesis import given

from focuseval.data.topics import parse_nexi, parse_terms
from focuseval.data.topics.parser import DEEPEST
from focuseval.data.topics.syntax import About, Both, Comparison, Either, Node
from focuseval.errors import NexiError
from strategies import nexi

FIGURE_1 = """
//article[(./fm//yr = ’2000’ OR ./fm//yr = ’1999’) AND about(.,
’"intelligent transportation system"’)]//sec[about(.,’automation
+vehicle’)]
"""
"""The CAS topic 76 of 2003, with the typographic quotes and line breaks of the overview paper's first figure."""


def nodes(node):
    if isinstance(node, tuple):
        return [found for part in node for found in nodes(part)]
    return [node, *nodes(tuple(vars(node).values()))] if isinstance(node, Node) else []


@given(nexi.queries)
def test_a_printed_query_parses_to_the_same_tree(query):
    assert parse_nexi(str(query)) == query


@given(nexi.queries)
def test_every_node_stands_where_its_own_text_is(query):
    text = str(query)
    for node in nodes(parse_nexi(text)):
        assert text[node.start : node.end] == str(node)


def error_of(text):
    try:
        assert parse_nexi(str(parse_nexi(text))) == parse_nexi(text)
    except NexiError as error:
        return error
    return None


@given(nexi.almost_queries)
def test_any_string_is_a_query_or_a_nexi_error_inside_it(text):
    if error := error_of(text):
        assert error.at.column <= len(text.split("\n")[error.at.line - 1]) + 1
        assert len(str(error).splitlines()) == 1


def test_the_papers_first_figure_reads_as_it_was_meant():
    query = parse_nexi(FIGURE_1)
    years, about = query.steps[0].predicates[0].clauses
    assert isinstance(query.steps[0].predicates[0], Both)
    assert isinstance(years, Either)
    assert [clause.value.text for clause in years.clauses] == ["2000", "1999"]
    assert [str(clause.path) for clause in years.clauses] == ["./fm//yr", "./fm//yr"]
    assert about.terms[0].phrase
    assert about.terms[0].text == "intelligent transportation system"
    assert query.target.names == ("sec",)
    assert [str(term) for term in query.target.predicates[0].terms] == ["automation", "+vehicle"]
    assert [str(condition.clause.path) for condition in query.support] == ["./fm//yr", "./fm//yr", "."]


def test_and_binds_tighter_than_or():
    clause = parse_nexi("//a[./b = 1 or ./c = 2 and ./d = 3]").steps[0].predicates[0]
    assert isinstance(clause, Either)
    assert isinstance(clause.clauses[1], Both)


def test_blanks_and_case_do_not_matter():
    plain = parse_nexi("//article[about(.//p, trust) and ./yr >= 2000]//(sec|p)")
    assert parse_nexi(" // article [ ABOUT ( . // p , trust ) \n And ./ yr>=2000 ] // ( sec | p ) ") == plain


def test_a_path_without_its_dot_is_read_as_if_it_had_one():
    assert parse_nexi("//a[about(//p, x)]") == parse_nexi("//a[about(.//p, x)]")


@pytest.mark.parametrize(
    ("text", "column", "expected", "found"),
    [
        ("", 1, "'/' or '//'", "the end of the query"),
        ("article", 1, "'/' or '//'", "'article'"),
        ("//", 3, "a tag", "the end"),
        ("//1a", 3, "a tag", "'1a'"),
        ("//(sec|)", 8, "a tag", "')'"),
        ("//(sec p)", 8, "'|' or ')'", "'p)'"),
        ("//a[]", 5, "about(…)", "']'"),
        ("//a[1]", 5, "about(…)", "'1]'"),
        ("//a[about(x, y)]", 11, "a path", "'x,'"),
        ("//a[about(. y)]", 13, "','", "'y)]'"),
        ("//a[about(., )]", 14, "terms", "')]'"),
        ("//a[about(., x]", 15, "a term or ')'", "']'"),
        ("//a[about(., 'x y)]", 18, "a quote that closes", "')]'"),
        ('//a[about(., "x y)]', 14, "terms", "'\"x'"),
        ("//a[about(., x) about(., y)]", 17, "'and', 'or' or ']'", "'about(.,'"),
        ("//a[./yr 2000]", 10, "=, <, >, <= or >=", "'2000]'"),
        ("//a[./yr = two]", 12, "a number or a 'string'", "'two]'"),
        ("//a[(./yr = 1]", 14, "'and', 'or' or ')'", "']'"),
        ("//a[./yr = 1", 13, "'and', 'or' or ']'", "the end"),
        ("//a[./yr = 1]]", 14, "'/', '//', '['", "']'"),
        ("//a[about(.[1], x)]", 12, "','", "'[1],'"),
    ],
)
def test_an_error_points_at_the_column_and_says_what_was_expected(text, column, expected, found):
    with pytest.raises(NexiError) as error:
        parse_nexi(text)
    assert (error.value.at.line, error.value.at.column) == (1, column)
    assert expected in error.value.what.partition("found")[0]
    assert found in error.value.what.partition("found")[2]


def test_an_error_on_the_third_line_says_so():
    with pytest.raises(NexiError, match="query:3:5: expected"):
        parse_nexi("//a[\nabout(.,x) and\n    ]")


def test_brackets_nested_too_deep_are_refused_with_a_clear_error():
    deep = "//a[" + "(" * 100_000 + "./b = 1" + ")" * 100_000 + "]"
    with pytest.raises(NexiError, match=f"at most {DEEPEST} nested brackets"):
        parse_nexi(deep)
    fine = "//a[" + "(" * DEEPEST + "./b = 1" + ")" * DEEPEST + "]"
    assert isinstance(parse_nexi(fine).steps[0].predicates[0], Comparison)


def test_a_query_of_many_steps_does_not_overflow_the_stack():
    assert len(parse_nexi("//a" * 20_000).steps) == 20_000


def test_apostrophes_inside_quoted_terms_are_letters():
    about = parse_nexi("//a[about(., 'moore's law')]").steps[0].predicates[0]
    assert isinstance(about, About)
    assert [term.text for term in about.terms] == ["moore's", "law"]


def test_the_syntax_tree_as_json_carries_positions():
    tree = json.loads(json.dumps(parse_nexi("//sec[about(., +car)]").as_json()))
    [step] = tree["steps"]
    [about] = step["predicates"]
    assert (tree["node"], step["node"], about["node"]) == ("Query", "Step", "About")
    assert (about["start"], about["end"]) == (6, 20)
    assert about["terms"] == [{"node": "Term", "text": "car", "sign": "+", "phrase": False, "start": 15, "end": 19}]


@pytest.mark.parametrize(
    ("title", "terms"),
    [
        ('+important -unwanted "a phrase"', ["+important", "-unwanted", '"a phrase"']),
        ("query expansion - techniques", ["query", "expansion", "-", "techniques"]),
        ("wine, cheese; 10,000 m", ["wine", "cheese;", "10,000", "m"]),
        ('disk 5" floppy', ["disk", "5", "floppy"]),
        ("“curly quotes” C++ e-mail", ['"curly quotes"', "C++", "e-mail"]),
        ("keyword (computing)", ["keyword", "computing"]),
        ("", []),
    ],
)
def test_a_title_is_a_list_of_terms(title, terms):
    assert [str(term) for term in parse_terms(title)] == terms
