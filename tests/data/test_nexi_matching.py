"""Which elements a query asks for, strictly and vaguely, one path or millions."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.topics import IEEE_EQUIVALENTS, parse_nexi
from focuseval.data.topics.syntax import parse_reading
from focuseval.errors import MeasureError
from oracle.nexi import reaches
from strategies import nexi

element_paths = st.lists(
    st.tuples(st.sampled_from(["article", "bdy", "sec", "p", "ss1", "h1", "größe"]), st.integers(1, 12)),
    min_size=1,
    max_size=5,
).map(lambda steps: "".join(f"/{tag}[{n}]" for tag, n in steps))


@given(
    nexi.queries, st.lists(element_paths | element_paths.map(lambda path: path + "/@year"), max_size=8), st.booleans()
)
def test_matching_by_pattern_equals_trying_every_walk(query, paths, ieee):
    equivalents = IEEE_EQUIVALENTS if ieee else ()
    steps = [(step.axis, step.names) for step in query.steps]
    expected = [reaches(steps, path, equivalents) for path in paths]
    assert query.matches(paths, "strict", equivalents).tolist() == expected


@pytest.mark.parametrize(
    ("query", "path", "strict"),
    [
        ("//article//sec", "/article[1]/bdy[1]/sec[2]", True),
        ("//article//sec", "/article[1]/bdy[1]/sec[2]/p[1]", False),
        ("//article/sec", "/article[1]/bdy[1]/sec[2]", False),
        ("/article//*", "/article[1]", False),
        ("//*", "/article[1]", True),
        ("//sec", "/article/bdy/sec", True),
        ("//article//(sec|p)", "/article[1]/p[11]", True),
        ("//sec", "/article[1]/section[1]", False),
        ("//a.b", "/axb[1]", False),
    ],
)
def test_a_strict_target_satisfies_the_location_path_and_a_vague_one_is_any_element(query, path, strict):
    assert parse_nexi(query).matches(path) is strict
    assert parse_nexi(query).matches(path, "vague") is True


def test_equivalent_tags_count_only_when_they_are_named():
    query = parse_nexi("//article//sec[about(., x)]//p")
    path = "/article[1]/bdy[1]/ss1[1]/ip1[2]"
    assert not query.matches(path)
    assert query.matches(path, equivalents=IEEE_EQUIVALENTS)
    assert query.matches(path, equivalents=[{"sec", "ss1"}, {"p", "ip1"}])


@pytest.mark.parametrize("paths", [["/a[1]", None, "/b[1]"], [], [None]])
def test_every_kind_of_arrow_array_gives_the_same_answers(paths):
    query = parse_nexi("//a")
    column = pa.array(paths, pa.string())
    expected = [path == "/a[1]" for path in paths]
    for array in (
        column,
        pa.chunked_array([column]),
        column.dictionary_encode(),
        pa.chunked_array([column.dictionary_encode()]),
    ):
        assert query.matches(array).tolist() == expected
        assert query.matches(array, "VV").tolist() == [path is not None for path in paths]
    assert query.matches(column).dtype == np.bool_


def test_a_small_dictionary_code_has_room_for_null():
    codes = pa.array([*range(127), None], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array([f"/a[{n}]" for n in range(127)]))
    assert parse_nexi("/a").matches(array).tolist() == [True] * 127 + [False]


def test_a_hostile_query_on_a_deep_path_is_answered():
    query = parse_nexi("//a" * 40 + "//b")
    assert not query.matches("/a[1]" * 2_000)


def test_readings_have_the_names_of_the_field():
    assert [parse_reading(name) for name in ("strict", "vague", "SVCAS", "vs")] == ["SS", "VV", "SV", "VS"]
    with pytest.raises(MeasureError, match="found 'loose'"):
        parse_reading("loose")
