import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.rendering import Document, Element, layout, render, title_of
from strategies.pages import ARTICLE, page_from_xml

TAGS = st.sampled_from(["p", "sec", "title", "b", "link", "item", "unknown"])
TREE = st.recursive(
    st.text("ab \n", max_size=5),
    lambda inner: st.tuples(TAGS, st.lists(inner, max_size=4)).map(lambda t: f"<{t[0]}>{''.join(t[1])}</{t[0]}>"),
    max_leaves=12,
)


def shown(document):
    return [(block.kind, document.text[block.start : block.end].strip()) for block in layout(document)]


def test_headings_paragraphs_and_items_are_seen_as_such():
    blocks = [block for block in shown(page_from_xml("a", ARTICLE)) if block[0] != "gap"]
    assert blocks[:3] == [
        ("heading", "Tides"),
        ("heading", "The moon"),
        ("paragraph", "The moon pulls the sea. Twice a day the water rises; spring tides follow the new moon."),
    ]
    assert ("item", "High water at Brest") in blocks


def test_an_unknown_tag_is_part_of_the_line_unless_it_holds_blocks():
    assert shown(page_from_xml("a", "<article><p>One <odd>two</odd> three</p></article>")) == [
        ("paragraph", "One two three")
    ]
    assert shown(page_from_xml("a", "<article><odd>Before<p>inside</p>after</odd></article>")) == [
        ("paragraph", "Before"),
        ("paragraph", "inside"),
        ("paragraph", "after"),
    ]


def test_a_title_inside_running_text_or_a_reference_is_no_heading():
    page = page_from_xml(
        "a", "<article><p>See <title>Tides</title>.</p><ref>A <article-title>B</article-title></ref></article>"
    )
    assert shown(page) == [("paragraph", "See Tides."), ("item", "A B")]


def test_a_name_is_a_heading_only_right_below_the_root():
    page = page_from_xml("a", "<article><name>Tides</name><p>x</p><au><name>Ann</name></au></article>")
    assert shown(page) == [("heading", "Tides"), ("paragraph", "x"), ("meta", "Ann")]


JATS = """<article><front><journal-meta><journal-id>plos</journal-id><publisher>P</publisher></journal-meta>
<article-meta><article-id>10.1</article-id><title-group><article-title>Tides</article-title></title-group>
<contrib-group><contrib>Ann</contrib></contrib-group><author-notes><fn><p>No interests.</p></fn></author-notes>
<volume>4</volume><issue>10</issue><permissions><license><p>Open access.</p></license></permissions>
<abstract><p>The moon pulls.</p></abstract><funding-group><p>A grant.</p></funding-group></article-meta></front>
<body><sec><title>Introduction</title><p>Twice a day.</p></sec></body></article>"""


def test_in_jats_everything_but_title_and_abstract_before_the_body_is_metadata():
    blocks = [block for block in shown(page_from_xml("a", JATS)) if block[0] != "gap"]
    assert [block for block in blocks if block[0] != "meta"] == [
        ("heading", "Tides"),
        ("paragraph", "The moon pulls."),
        ("heading", "Introduction"),
        ("paragraph", "Twice a day."),
    ]
    metadata = " ".join(text for kind, text in blocks if kind == "meta")
    for words in ("plos", "10.1", "Ann", "No interests.", "Open access.", "A grant.", "4"):
        assert words in metadata


def test_a_title_is_the_first_heading_that_is_no_metadata_or_the_first_line():
    assert title_of(page_from_xml("a", JATS)) == "Tides"
    assert title_of(Document("a", "x" * 200)) == "x" * 119 + "…"
    assert title_of(Document("a", " \n ")) == ""


def test_a_heading_knows_how_deep_it_stands():
    page = page_from_xml("a", "<article><title>A</title><sec><title>B</title><ss1><st>C</st></ss1></sec></article>")
    assert [block.level for block in layout(page)] == [1, 2, 3]


@given(st.lists(TREE, max_size=5))
def test_every_character_belongs_to_exactly_one_block_in_order(parts):
    page = page_from_xml("a", f"<article>{''.join(parts)}</article>")
    assert "".join(page.text[block.start : block.end] for block in layout(page)) == page.text


@given(st.text("ab \n\r🚢", max_size=200), st.integers(1, 200))
def test_plain_text_is_covered_too_however_long_its_lines(text, times):
    page = Document("a", text * times)
    blocks = layout(page)
    assert "".join(page.text[block.start : block.end] for block in blocks) == page.text
    assert all(block.start < block.end for block in blocks)


@pytest.mark.parametrize("piece", ["x" * 99 + "\n", "Word after word. ", "word ", "x"])
def test_a_very_long_paragraph_is_cut_where_a_reader_minds_least(piece):
    for page in (Document("a", piece * 30_000), page_from_xml("a", f"<article><p>{piece * 30_000}</p></article>")):
        blocks = layout(page)
        assert max(block.end - block.start for block in blocks) <= 16_000
        assert all(page.text[: block.end].endswith(piece) for block in blocks)
        assert sum(block.end - block.start for block in blocks) == len(page.text)


STRUCTURED = """<article><front><article-meta><contrib-group><contrib><contrib-id>0000-0001</contrib-id><name>
<surname>Smith</surname><given-names>J</given-names></name></contrib></contrib-group></article-meta></front><body>
<p>H<sub>2</sub>O and <inline-formula><alternatives><tex-math>$x_i$</tex-math><mml:math><mml:msub><mml:mi>x</mml:mi>
<mml:mi>i</mml:mi></mml:msub></mml:math></alternatives></inline-formula> in <ext-link>a place</ext-link>.</p>
<table-wrap><label>Table 1</label><caption><title>Tides.</title><p>By port.</p></caption><table>
<thead><tr><th>Port</th><th>High</th></tr></thead><tbody><tr><td>Brest</td><td/></tr><tr><td><p>Dover</p><p>old</p></td>
<td>6</td></tr><tr><td>All</td></tr></tbody></table></table-wrap><list><list-item><p>one</p><p>more</p></list-item></list>
<ol><li>first</li><li>second</li></ol></body></article>""".replace("<name>\n", "<name>")


def page_of(source):
    page = page_from_xml("a", source.replace("mml:", "mml-"))
    named = [one._replace(tag=one.tag.replace("mml-", "mml:")) for one in page.elements]
    return Document("a", page.text, tuple(named))


def words(page, first, last, blocks):
    return [page.text[block.start : block.end].strip() for block in blocks[first:last] if block.kind != "gap"]


def test_a_table_is_a_grid_with_its_empty_cells():
    page = page_of(STRUCTURED)
    rendering = render(page)
    grid, *inner = rendering.groups
    assert (grid.kind, grid.columns, grid.depth) == ("grid", 2, 0)
    rows = [group for group in inner if group.kind == "row"]
    assert [words(page, row.first, row.last, rendering.blocks) for row in rows] == [
        ["Port", "High"],
        ["Brest"],
        ["Dover", "old", "6"],
        ["All"],
    ]
    cells = [group for group in inner if group.kind in ("cell", "head")]
    assert [group.columns for group in cells] == [1, 1, 1, 1, 1, 1, 2], "one that is alone takes the whole row"
    assert [group.kind for group in cells[:3]] == ["head", "head", "cell"]
    assert cells[3].first == cells[3].last


def test_what_is_inside_of_a_line_is_named_and_nested():
    page = page_of(STRUCTURED)
    named = [(kind, page.text[start:end].strip(), depth) for start, end, kind, depth in render(page).inline]
    assert ("sub", "2", 0) in named
    assert ("link", "a place", 0) in named
    assert ("tex", "$x_i$", 0) in named
    assert [(kind, depth) for kind, _, depth in named if kind in ("math", "msub", "mi")] == [
        ("math", 0), ("msub", 1), ("mi", 2), ("mi", 2)]  # fmt: skip
    assert ("apart", "SmithJ", 0) in named, "a name is not glued to the id before it"


def test_captions_items_and_numbers():
    blocks = [(block.named, page_of(STRUCTURED).text[block.start : block.end]) for block in layout(page_of(STRUCTURED))]
    told = [(kind, text.strip()) for kind, text in blocks if kind not in ("gap", "meta")]
    assert ("caption", "Tides.") in told
    assert ("caption", "By port.") in told
    assert told[-4:] == [("item", "one"), ("paragraph", "more"), ("item 1.", "first"), ("item 2.", "second")]


def test_markdown_is_laid_out_over_its_own_text():
    table = "| Port | High |\n|---|---|\n| Brest | |\n"
    text = f"# Tides\n\nTwo\nlines.\n\n{table}\n- one\n- two\n\n```\n# no heading\n```\nEnd.\n"
    page = Document("a", text, (Element("/document[1]", "document", 0, len(text), -1),))  # as an index has it
    rendering = render(page)
    assert "".join(text[block.start : block.end] for block in rendering.blocks) == text
    told = [(block.kind, text[block.start : block.end].strip()) for block in rendering.blocks if block.kind != "gap"]
    assert told == [("heading", "# Tides"), ("plain", "Two\nlines."), ("cell", "Port"), ("cell", "High"),
                    ("cell", "Brest"), ("cell", ""), ("item", "- one"), ("item", "- two"),
                    ("code", "```\n# no heading\n```"), ("plain", "End.")]  # fmt: skip
    assert [group.kind for group in rendering.groups] == ["grid", "row", "head", "head", "row", "cell", "cell"]
    grid = rendering.groups[0]
    assert text[rendering.blocks[grid.first].start : rendering.blocks[grid.last - 1].end] == table


def test_markdown_shows_code_links_and_what_is_emphasised_and_no_second_sign_of_an_item():
    text = "# A *b*\n\nThe `x*y*z` and **bold**, 2 * 3 * 4, a_b_c, [a link](http://x.org/a_b_c).\n\n- _one_\n"
    text += "\n```\n*no*\n```\n"
    rendering = render(Document("a", text))
    told = [(kind, text[start:end]) for start, end, kind, _ in rendering.inline]
    assert told == [("em", "*b*"), ("code", "`x*y*z`"), ("strong", "**bold**"), ("link", "[a link](http://x.org/a_b_c)"),
                    ("em", "_one_")]  # fmt: skip
    assert [block.sign for block in rendering.blocks if block.kind == "item"] == ["\u200b"]
    assert render(Document("a", "plain *text*")).inline == []


@given(st.lists(st.sampled_from(["# a", "|a|b|", "|-|-|", "|a||", "- a", "```", "text", "", "  1. x", "|", "--|--"])))
def test_markdown_is_cut_without_losing_a_character(lines):
    text = "\n".join(lines)
    blocks = render(Document("a", text)).blocks
    assert "".join(text[block.start : block.end] for block in blocks) == text
    assert all(block.start < block.end for block in blocks)


GRIDS = st.recursive(
    st.text("ab \n", max_size=5),
    lambda inner: st.tuples(
        st.sampled_from(["p", "table", "tr", "td", "th", "sub", "math", "mi", "label", "caption", "li", "ol"]),
        st.lists(inner, max_size=4),
    ).map(lambda t: f"<{t[0]}>{''.join(t[1])}</{t[0]}>"),
    max_leaves=16,
)


@given(GRIDS)
def test_groups_and_what_is_inside_are_nested_over_the_same_text(source):
    page = page_from_xml("a", f"<article>{source}</article>")
    rendering = render(page)
    assert "".join(page.text[block.start : block.end] for block in rendering.blocks) == page.text
    spans = [(start, end, depth) for start, end, _, depth in rendering.inline]
    for found in ([(one.first, one.last, one.depth) for one in rendering.groups], spans):
        stack = []
        for start, end, depth in found:  # each lies in the one that is open at its depth
            assert depth <= len(stack)
            stack = [*stack[:depth], (start, end)]
            assert all(a <= start and end <= b for a, b in stack)
