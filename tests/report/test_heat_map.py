"""One document's heat map: pieces by hand and against sets of characters, and HTML that shows itself."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import InputError
from focuseval.report.heat import KINDS, HeatMap, segments

TEXT = "Boil water. Stir <b>well</b>. Add the leaves & wait. Serve."
GOLD = gold_of({"q1": {"tea": {"spans": [(0, 11), (30, 43)]}}})
RUN = run_of({"q1": [("milk", 0, 3), ("tea", 0, 16), ("tea", 5, 20)]})
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted).map(tuple), max_size=5)


def drawn(**options):
    return fe.heat_map(GOLD, RUN, "q1", "tea", docs={"tea": TEXT, "milk": "Moo"}, **options)


@given(SPANS, SPANS, st.integers(0, 25))
def test_pieces_say_of_every_character_what_sets_say(highlights, results, length):
    found = segments(length, highlights, results)
    assert "".join("x" * (e - s) for s, e in zip(found.start, found.end, strict=True)) == "x" * length
    for start, end, marked, rank, times in zip(
        found.start, found.end, found.highlighted, found.rank, found.times, strict=True
    ):
        for i in range(start, end):
            ranks = [n for n, (s, e) in enumerate(results, 1) if s <= i < e]
            assert marked == any(s <= i < e for s, e in highlights)
            assert (rank, times) == (min(ranks, default=0), len(ranks))


def test_ranks_are_those_of_the_whole_list():
    """The first result is in another document, so that this document's begin at rank 2."""
    assert drawn().segments.rank.tolist() == [2, 2, 2, 3, 0, 0, 0]


def test_characters_are_counted_by_kind():
    assert drawn().segments.characters() == {"plain": len(TEXT) - 33, "noise": 9, "missed": 13, "found": 11}


def test_a_run_that_was_read_without_its_collection_is_placed_in_it(tmp_path):
    """Its paths say where the results lie: not the whole document, as it once was shown."""
    (tmp_path / "tea.xml").write_text("<a><p>Boil water.</p><p>Add the leaves.</p></a>")
    run = replace(run_of({"q1": ["tea"]}), path=pa.array(["/a[1]/p[2]"]))
    found = fe.heat_map(gold_of({"q1": {"tea": {"spans": [(0, 11)]}}}), run, "q1", "tea", docs=tmp_path)
    assert found.segments.characters() == {"plain": 0, "noise": 15, "missed": 11, "found": 0}


def test_later_ranks_can_be_left_out():
    assert drawn(at=2).segments.characters()["noise"] == 5


def test_the_html_is_well_formed_escaped_and_without_script():
    html = drawn()._repr_html_()
    tree = ET.fromstring(html)
    assert {element.tag for element in tree.iter()} <= {"figure", "figcaption", "div", "span", "sub", "b", "br", "i"}
    shown = "".join(tree.find("div").itertext())
    for rank in "23":
        shown = shown.replace(rank, "")
    assert shown == TEXT
    assert "script" not in html
    assert "http" not in html


def test_long_stretches_without_a_mark_are_left_out_and_counted():
    text = "x" * 5000
    shown = HeatMap("q", "d", "r", text, segments(5000, [(2000, 2100)], []), context=100)._repr_html_()
    assert "… 1,900 characters …" in shown
    assert "… 2,800 characters …" in shown
    assert shown.count("x") < 400


def test_a_run_of_texts_is_aligned_and_a_path_is_read(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text(TEXT)
    rows = [{"topic": "q1", "doc": "tea.md", "text": "Boil water."}]
    gold = [{"topic": "q1", "doc": "tea.md", "start": 0, "end": 4, "quote": "Boil"}]
    assert fe.heat_map(gold, rows, "q1", "tea.md", docs=tmp_path / "docs").segments.characters()["found"] == 4


@pytest.mark.parametrize(("topic", "document"), [("q9", "tea"), ("q1", "coffee")])
def test_what_is_not_there_is_refused(topic, document):
    with pytest.raises(InputError, match=f"found '{'q9' if topic == 'q9' else 'coffee'}'"):
        fe.heat_map(GOLD, RUN, topic, document, docs={"tea": TEXT})


def test_every_kind_has_a_name():
    assert len(KINDS) == 4
