"""The fast way and the slow way of reading agree, on tidy files and on files that were damaged."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.engine import native
from focuseval.engine.native import coded, hash64
from focuseval.errors import FocusevalError, FormatError
from focuseval.formats import files, find_format, read_run, source_of
from focuseval.formats.columns import read_table
from focuseval.formats.ranking import Order, by_rank, by_score_and_document, distinct_keys, full_order, taken
from focuseval.formats.trec import RUN as LAYOUT
from oracle import text_lines
from strategies.runs import WORD, runs
from strategies.samples import SAMPLES

BITS = st.sampled_from(
    [b" ", b"\t", b"\n", b"\r\n", b"\r", b"\v", b"\0", b"\1", b"nan", b"-Inf", b"-1", b"0x1", b"<", b">", b"&", b'"',
     b"1e9", b"1e999", b"\xff"]
)  # fmt: skip


@st.composite
def damaged(draw, text, times=3):
    """Bytes with a few pieces cut out, doubled or put in."""
    for _ in range(draw(st.integers(0, times))):
        at, size = draw(st.integers(0, len(text))), draw(st.integers(0, 9))
        middle = draw(st.sampled_from([b"", text[at : at + size] * 2]) | BITS)
        text = text[:at] + middle + text[at + size :]
    return text


def outcome(read, source):
    try:
        return read(source)
    except FocusevalError as error:
        return str(error)


@pytest.mark.parametrize("line", [b"\t1 Q0 a 1 2 R", b"1 Q0 a\t 1 2 R", b"1\tQ0\ta \t1\t2\tR", b" 1\tQ0\ta\t1\t2\tR"])
def test_blanks_and_tabs_together_never_become_part_of_a_name(line):
    table = read_table(source_of(b"1 Q0 b 1 3 R\n" + line + b"\n", "file"), LAYOUT)
    assert (table["topic"].to_pylist(), table["document"].to_pylist()) == (["1", "1"], ["b", "a"])


@pytest.mark.parametrize("line", [b"1  b 2 1 R", b"1\t\tb\t2\t1\tR"])
def test_a_missing_column_that_is_not_read_is_missed_nevertheless(line):
    with pytest.raises(FocusevalError, match=r"^file:2: expected 6 columns .*, found 5: '1 b 2 1 R'"):
        read_table(
            source_of(line.replace(line[1:3], line[1:2] + b"Q0" + line[1:2]) + b"\n" + line + b"\n", "file"), LAYOUT
        )


def bad_bytes_where_nobody_looks(text):
    """Whether the column that is read past holds bytes that are not UTF-8, which only the slow way sees."""
    read_past = [word for line in text.split(b"\n") for word in line.split()[1:2]]
    return any("\ufffd" in word.decode("utf-8", "replace") for word in read_past)


@pytest.mark.parametrize("library", [native.library(), None], ids=["compiled", "by NumPy"])
@given(st.data(), runs(("document",)), st.sampled_from([40, 1 << 20]))
def test_a_table_is_read_alike_in_pieces_and_line_by_line(library, data, run, piece):
    source = source_of(data.draw(damaged(b"".join(find_format("trec-run").write(run)))), "file")
    try:
        lines, expected, fault = text_lines.table(source.data, LAYOUT)
        refusal = None
    except text_lines.RefusedError as refused:
        refusal = refused.args
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("focuseval.formats.columns._SEGMENT", 3 * piece)
        patch.setattr("focuseval.formats.columns._PIECE", piece)
        patch.setattr(native, "library", lambda: library)
        table = outcome(lambda s: read_table(s, LAYOUT), source)
    if bad_bytes_where_nobody_looks(source.data):
        return
    if refusal is not None:
        assert isinstance(table, str)
        assert table.startswith(f"file:{refusal[0]}: {refusal[1]}")
        return
    found = {name: table[name].to_pylist() for name in expected}
    assert repr(found) == repr(expected)  # -0.0 is not 0.0, and NaN is NaN
    assert [table.at(row).line for row in range(len(lines))] == lines
    said = [f"file:{line}: {what}; correct the line" for line, what in ([fault] if fault else [])]
    assert [str(error) for error in table.faults] == said


@pytest.mark.parametrize("library", [native.library(), None], ids=["compiled", "by NumPy"])
def test_lines_of_different_widths_are_one_table(library, monkeypatch):
    monkeypatch.setattr(native, "library", lambda: library)
    monkeypatch.setattr("focuseval.formats.columns._PIECE", 20)
    text = b"1 Q0 a 1 3 R 5\n\n1 Q0 b 2 2 R /a[1] /a[2]\n1 Q0 c 3 1 R 7\n1 Q0 d 4 0 R 8 9\n"
    run = find_format("inex-text").read(source_of(text, "file"))
    assert (run.start.tolist(), run.end.tolist()) == ([5, -1, 7, 8], [-1, -1, -1, 17])
    assert (run.end_path.to_pylist(), run.line.tolist()) == ([None, "/a[2]", None, None], [1, 3, 4, 5])


def test_an_empty_file_is_an_empty_table():
    table = read_table(source_of(b"\n \n", "file"), LAYOUT)
    assert [len(table[name]) for name in ("topic", "document", "rank", "score", "run")] == [0] * 5


@given(st.data(), runs(("element", "passage", "span", "document"), header=True))
def test_a_submission_is_read_as_the_tree_of_its_elements_says(data, run):
    source = source_of(data.draw(damaged(b"".join(find_format("inex-xml").write(run)))), "file")
    found = outcome(find_format("inex-xml").read, source)
    try:
        root = ET.fromstring(source.data)
    except (ET.ParseError, ValueError):
        assert isinstance(found, str)
        return
    if isinstance(found, str):
        return
    topics = [(topic.get("topic-id").strip(), one) for topic in root.iter("topic") for one in topic.iter("result")]
    said = sorted((topic, *((one.findtext(name) or "").strip() for name in ("file", "path"))) for topic, one in topics)
    paths = [None] * len(found) if found.path is None else found.path.to_pylist()
    passages = [None] * len(found) if found.end_path is None else found.end_path.to_pylist()
    paths = [path or "" if end is None else "" for path, end in zip(paths, passages, strict=True)]
    topic = [found.topic_of(row) for row in range(len(found))]
    assert sorted(zip(topic, found.document.to_pylist(), paths, strict=True)) == said


def test_a_first_topic_that_is_written_in_another_way_keeps_its_results():
    result = b"<result><file>a</file><path>/a[1]</path></result>"
    topics = b'<topic topic-id ="1">' + result + b'</topic><topic topic-id="2">' + result + b"</topic>"
    source = source_of(b'<inex-submission run-id="r">' + topics + b"</inex-submission>")
    assert find_format("inex-xml").read(source).topics == ("1", "2")


def test_comments_and_references_inside_of_results_are_no_part_of_them():
    text = SAMPLES["inex-xml"]
    other = text.replace(b"<path>", b"<!-- --><path>").replace(b"</file>", b"&#49;<!-- 2 --></file>")
    plain, commented = (find_format("inex-xml").read(source_of(one)) for one in (text, other))
    assert commented.path.to_pylist() == plain.path.to_pylist()
    assert commented.document.to_pylist() == [f"{name}1" for name in plain.document.to_pylist()]


def test_an_empty_length_of_a_passage_is_refused():
    text = b'<inex-submission><topic topic-id="1"><result><file>a</file><fol offset="1" length=""/></result></topic>'
    with pytest.raises(FormatError, match=r"file:1: expected an offset and a length that are not negative, found ''"):
        find_format("inex-xml").read(source_of(text + b"</inex-submission>", "file"))


@given(st.lists(st.lists(WORD | st.text(max_size=40), max_size=6), min_size=1, max_size=4))
def test_equal_strings_have_equal_keys_and_unequal_ones_do_not(chunks):
    import pyarrow as pa  # noqa: PLC0415  a fast test file

    column = pa.chunked_array(chunks, pa.string())
    keys = hash64(column)
    values = column.to_pylist()
    assert [[a == b for b in keys] for a in keys] == [[a == b for b in values] for a in values]
    assert (
        keys.tolist() == hash64(column.cast(pa.large_string())).tolist() == hash64(column.dictionary_encode()).tolist()
    )


@given(st.lists(st.lists(st.sampled_from(["a", "b", "ab", "a longer identifier", "é"]), max_size=6), max_size=3))
def test_strings_are_coded_as_arrow_codes_them_even_where_keys_collide(chunks):
    import pyarrow as pa  # noqa: PLC0415  a fast test file

    column = pa.chunked_array(chunks, pa.string())
    expected = pa.array(column.to_pylist(), pa.string()).dictionary_encode()
    for keys in (hash64(column), np.zeros(len(column), np.uint64), hash64(column) % np.uint64(2)):
        codes, distinct = coded(column, keys)
        assert codes.tolist() == expected.indices.to_pylist()
        assert distinct.to_pylist() == expected.dictionary.to_pylist()


@given(st.data(), st.integers(1, 30))
def test_moving_few_rows_equals_taking_all(data, size):
    import pyarrow as pa  # noqa: PLC0415  a fast test file

    order = np.array(data.draw(st.permutations(range(size))))
    cut = data.draw(st.integers(0, size))
    column = pa.chunked_array([[f"d{i}" for i in range(cut)], [f"d{i}" for i in range(cut, size)]], pa.string())
    moved = np.flatnonzero(order != np.arange(size))
    expected = [f"d{i}" for i in order]
    assert taken(column, Order(size, moved, order[moved])).to_pylist() == expected
    assert taken(column, full_order(order)).to_pylist() == expected
    assert taken(np.arange(size), Order(size, moved, order[moved])).tolist() == order.tolist()


SCORE = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1e300, 2e300, -1e300, 1.0]
)


@given(st.lists(st.tuples(st.integers(0, 3), SCORE), min_size=1, max_size=12), st.integers(0, 12))
def test_a_run_is_ordered_by_topic_then_score_in_single_precision_then_document(rows, cut):
    import pyarrow as pa  # noqa: PLC0415  a fast test file

    names = [f"d{row:02d}" for row in range(len(rows))]
    document = pa.chunked_array([names[:cut], names[cut:]], pa.string())
    topic, score = np.array([t for t, _ in rows], np.int32), np.array([s for _, s in rows])
    with np.errstate(over="ignore"):
        single = score.astype(np.float32)
    expected = sorted(range(len(rows)), key=lambda row: (topic[row], -single[row], -row))
    order = by_score_and_document(topic, score, document)
    found = names if order is None else taken(document, order).to_pylist()
    assert found == [names[row] for row in expected]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=8))
def test_a_repeated_document_is_found_and_nothing_else(rows):
    import pyarrow as pa  # noqa: PLC0415  a fast test file

    topic = np.array([topic for topic, _ in rows], np.int32)
    documents = pa.chunked_array([[document for _, document in rows]])
    found = distinct_keys(topic, documents)
    later = [i for i, row in enumerate(rows) if row in rows[:i]]
    if later:
        assert found == (rows.index(rows[later[0]]), later[0])
    else:
        assert found.tolist() == hash64(documents).tolist()


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        ("trec-run", b"1 Q0 a 1 nan r\n1 Q0 b 2 2 r\n1 Q0 b 3 1 r\n", ["found 'nan'", "again, first on line 2"]),
        ("inex-text", b"1 Q0 a 1 -Inf r 5\n1 Q0 b 2 2 r 6\n1 Q0 b 3 NaN r 7\n", ["file:1: expected a finite number"]),
        ("run-jsonl", b'{"topic":"1","doc":"b","score":2}\n{"topic":"1","doc":"a","score":NaN}\n', ["file:2: "]),
        ("run-jsonl", b'{"topic":"1","doc":"a","score":-1e999}\n{"topic":"1","doc":"b","score":2}\n', ["found -inf"]),
        ("inex-xml", SAMPLES["inex-xml"].replace(b"0.67", b"inf"), ["file:5: expected a finite number as rsv"]),
    ],
)
def test_faults_are_kept_for_those_who_ask_and_refused_for_all_others(name, text, faults):
    run = find_format(name).reader(None, faults="keep")(source_of(text, "file"))
    assert len(run.faults) == len(faults)
    assert all(said in str(fault) for said, fault in zip(faults, run.faults, strict=True))
    with pytest.raises(FormatError) as caught:
        find_format(name).read(source_of(text, "file"))
    assert str(caught.value) == str(run.faults[0])


def test_a_run_is_read_with_its_faults_where_that_is_asked_for(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 a 1 nan r\n1 Q0 b 2 2 r\n")
    run = read_run(path, faults="keep")
    assert (run.document.to_pylist(), run.line.tolist(), len(run.faults)) == (["b", "a"], [2, 1], 1)
    with pytest.raises(FormatError, match=r"run:1: expected a finite number as score, found 'nan'; correct the line$"):
        read_run(path)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("trec-run", "{topic} Q0 d{row} {row} {score} r\n"),
        ("run-jsonl", '{{"topic":"{topic}","doc":"d","score":{score}}}\n'),
    ],
)
def test_a_block_of_a_large_run_is_refused_with_the_line_of_its_fault(tmp_path, monkeypatch, name, line):
    monkeypatch.setattr(files.cuts, "__defaults__", (100,))
    path = tmp_path / "run"
    path.write_text("".join(line.format(topic=row // 3, row=row, score="NaN" if row == 20 else 1) for row in range(30)))
    with pytest.raises(FormatError, match=r"run:21: expected .*NaN"):
        list(files.LargeRun(path, name).each(len))


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_finite_number_ranks_last(score):
    import pyarrow as pa  # noqa: PLC0415  a fast test file

    topic, scores = np.zeros(3, np.int32), np.array([score, -5.0, 5.0])
    assert by_rank(topic, None, scores).origin.tolist() == [2, 1, 0]
    assert by_score_and_document(topic, scores, pa.chunked_array([["a", "b", "c"]])).origin.tolist() == [2, 1, 0]


def test_a_trec_run_that_repeats_a_document_promises_nothing_of_its_keys():
    text = b"1 Q0 a 1 3 r\n1 Q0 a 2 2 r\n"
    assert find_format("trec-run").reader(None, faults="keep")(source_of(text, "file")).keys is None
