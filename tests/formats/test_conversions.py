"""Conversions with an index: paths to offsets, offsets to XPointers, and refusals that name what would be lost."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.documents import open_documents
from focuseval.data.remarks import Remark
from focuseval.errors import FormatError
from focuseval.formats import find_format, read_gold, read_run, source_of
from focuseval.formats.convert import convert_file, convert_run, write_gold, write_run
from focuseval.placing import place_gold, place_run
from strategies.golds import judged
from strategies.remarks import lines_of
from strategies.runs import runs, said

ARTICLES = {
    "a": "<article><title>Wind</title><p>Sails<!-- cut --> catch <b>it</b> well.</p>\n<p>語 and 🙂</p></article>",
    "b": "<article><p>One</p><p> </p><p>Two</p></article>",
}
LENGTHS = {"a": len("WindSails catch it well.\n語 and 🙂"), "b": len("One Two")}


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    for name, text in ARTICLES.items():
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")
    return open_documents(folder)


def run_of(results):
    rows = "".join(
        f"<result><file>{file}</file>{place}<rsv>{9 - i}</rsv></result>" for i, (file, place) in enumerate(results)
    )
    text = f'<inex-submission run-id="r"><topic topic-id="1">{rows}</topic></inex-submission>'
    return find_format("inex-xml").read(source_of(text.encode(), "file"))


def written(thing, name, tmp_path, **options):
    write = write_run if find_format(name).kind == "run" else write_gold
    remarks = [str(remark) for remark in write(thing, tmp_path / "out", name, **options)]
    return (tmp_path / "out").read_text(encoding="utf-8"), remarks


PLACES = [
    ("a", "<path>/article[1]/p[1]</path>"),
    ("a.xml", '<passage start="/article[1]/p[1]/text()[2].1" end="/article[1]/p[1]/b[1]/text()[1].1"/>'),
    ("b", '<passage start="/article[1]/p[1]" end="/article[1]/p[3]"/>'),
    ("b", '<fol offset="1" length="2"/>'),
]


def test_paths_become_offsets_with_an_index(index, tmp_path):
    text, _ = written(run_of(PLACES), "inex-fol", tmp_path, index=index)
    assert [line.split()[6:] for line in text.splitlines()] == [["4", "20"], ["10", "7"], ["0", "7"], ["1", "2"]]


def test_paths_need_an_index_and_the_message_says_so(tmp_path):
    with pytest.raises(FormatError, match=r"give docs= or index="):
        written(run_of(PLACES), "inex-fol", tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_path_that_is_not_in_the_index_is_named(index, tmp_path):
    with pytest.raises(FormatError, match=r"^file:1: expected a place in the index, found '/article\[1\]/p\[9\]'"):
        written(run_of([("a", "<path>/article[1]/p[9]</path>")]), "inex-fol", tmp_path, index=index)
    resolved = place_run(run_of([("a", "<path>/article[1]/p[9]</path>"), ("z", "<path>/x</path>")]), index)
    assert resolved.start.tolist() == [-1, -1]
    assert lines_of(resolved) == (
        "1 result names a document that is not in the index, first 'z' for topic '1' (file:1)",
        "1 result names a place that is not in the index, first '/article[1]/p[9]' of 'a' for topic '1' (file:1)",
    )


def test_whole_documents_become_spans_with_an_index(index, tmp_path):
    run = find_format("trec-run").read(source_of(b"1 Q0 a 1 2 R\n1 Q0 b 2 1 R\n", "file"))
    text, _ = written(run, "inex-fol", tmp_path, index=index)
    assert text == f"1 Q0 a 1 2 R 0 {LENGTHS['a']}\n1 Q0 b 2 1 R 0 {LENGTHS['b']}\n"
    with pytest.raises(FormatError, match=r"^file: expected offsets, found 2 whole documents; .*give docs= or index="):
        written(run, "inex-fol", tmp_path)
    run = find_format("trec-run").read(source_of(b"1 Q0 nowhere 1 2 R\n", "file"))
    with pytest.raises(FormatError, match=r"^file:1: expected a place in the index, found document 'nowhere' \(1 "):
        written(run, "inex-fol", tmp_path, index=index)


def test_a_span_past_the_end_of_the_text_is_refused(index):
    with pytest.raises(FormatError, match=r"^file:1: expected a span within the 7 characters of 'b', found 5 … 8"):
        place_run(run_of([("b", '<fol offset="5" length="3"/>')]), index)


def test_a_target_that_cannot_say_elements_refuses_and_lossy_counts_what_it_drops(tmp_path):
    run = run_of(PLACES)
    with pytest.raises(
        FormatError, match=r"^file: trec-run cannot express .*1 element by path.*; lossy=True leaves them out"
    ):
        written(run, "trec-run", tmp_path)
    text, remarks = written(run, "trec-run", tmp_path, lossy=True)
    assert [line.split()[2] for line in text.splitlines()] == ["a", "a.xml", "b"]
    assert "1 result of documents returned before" in remarks[0]


def test_scores_that_contradict_the_ranks_do_not_become_a_trec_run(tmp_path):
    run = find_format("run-jsonl").read(
        source_of(b'{"topic":"1","doc":"a","rank":1,"score":1}\n{"topic":"1","doc":"b","rank":2,"score":2}\n', "file")
    )
    with pytest.raises(FormatError, match="expected scores that agree with the ranking"):
        written(run, "trec-run", tmp_path)
    text, remarks = written(run, "trec-run", tmp_path, lossy=True)
    assert text == "1 Q0 a 1 1 file\n1 Q0 b 2 0.5 file\n"
    assert "scores that contradict the ranking" in remarks[0]


def test_ranks_that_contradict_the_scores_of_a_trec_run_are_numbered_again(tmp_path):
    run = find_format("trec-run").read(source_of(b"1 Q0 a 1 1 r\n1 Q0 b 2 2 r\n", "file"))
    text, remarks = written(run, "run-jsonl", tmp_path)
    assert [line.split(", ")[1:3] for line in text.splitlines()] == [
        ['"doc": "b"', '"rank": 1'],
        ['"doc": "a"', '"rank": 2'],
    ]
    assert "numbered again" in remarks[0]


@given(runs(("element", "range", "span", "point", "mixed")), st.sampled_from(["inex-text", "inex-xml", "run-jsonl"]))
def test_a_run_that_the_target_can_say_passes_through_unchanged(run, name):
    known = find_format(name)
    there = known.read(source_of(b"".join(known.write(convert_run(run, known)[0])), "file"))
    assert said(there) == said(run)


GOLD = """<assessments topic="1"><file name="a"><best-entry-point path="/article[1]/p[1]"/>
<passage start="/article[1]/p[1]/text()[1].0" end="/article[1]/p[1]/b[1]/text()[1].2" size="14"/>
<element path="/article[1]" exhaustivity="2" size="31" rsize="14"/></file><file name="b"/></assessments>"""


def test_assessments_of_2007_become_text_with_an_index(index, tmp_path):
    gold = find_format("inex-2005").read([source_of(GOLD.encode(), "file")])
    with pytest.raises(FormatError, match=r"lossy=True leaves them out"):
        written(gold, "inex-2008", tmp_path, index=index)
    text, remarks = written(gold, "inex-2008", tmp_path, index=index, lossy=True)
    assert text == "1 Q0 a 14 31 4 4:14\n1 Q0 b 0 7\n"
    assert "unlike what the highlights make them" in remarks[0]


def test_sizes_that_differ_from_the_index_are_counted_and_kept(index):
    gold = place_gold(
        find_format("inex-2005").read([source_of(GOLD.replace('size="14"', 'size="15"', 1).encode(), "file")]), index
    )
    assert gold.passages.size.tolist() == [15]
    assert (gold.passages.start.tolist(), gold.passages.end.tolist()) == ([4], [18])
    assert "1 of 1 passage sizes differs from the index; the file's are kept" in lines_of(gold)
    assert gold.articles.bep.tolist() == [4, -1]
    assert gold.articles.length.tolist() == [31, LENGTHS["b"]]


def test_a_pointer_that_leads_nowhere_is_refused(index):
    gold = find_format("inex-2005").read([source_of(GOLD.replace("text()[1].0", "text()[9].0").encode(), "file")])
    with pytest.raises(FormatError, match=r"^file:2: expected a passage of the document, found .*not in the index"):
        place_gold(gold, index)


def test_white_space_nodes_are_left_out_of_the_count_when_the_file_says_so(index):
    text = GOLD.replace('topic="1"', 'topic="1" whitespace-text-node="strip"')
    gold = place_gold(find_format("inex-2005").read([source_of(text.encode(), "file")]), index)
    assert gold.passages.start.tolist() == [4]


@st.composite
def span_golds(draw):
    lines = []
    for topic in "12":
        for document, length in LENGTHS.items():
            cuts = sorted(draw(st.lists(st.integers(0, length), max_size=6, unique=True)))
            pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
            size = sum(end - start for start, end in pairs)
            spans = " ".join(f"{start}:{end - start}" for start, end in pairs)
            bep = draw(st.integers(0, length))
            lines.append(f"{topic} Q0 {document} {size} {length} {f'{bep} {spans}' if pairs else ''}".strip())
    return find_format("inex-2008").read([source_of("\n".join(lines).encode(), "file")])


@given(gold=span_golds())
def test_spans_become_xpointers_that_resolve_to_the_same_spans(index, tmp_path_factory, gold):
    folder = tmp_path_factory.mktemp("gold") / "assessments"
    write_gold(gold, folder, "inex-2005", index)
    back = read_gold(folder, index=index)
    for name in ("start", "end", "size"):
        assert np.array_equal(getattr(back.passages, name), getattr(gold.passages, name))
    assert np.array_equal(back.articles.bep, gold.articles.bep)
    assert not [remark for remark in lines_of(back) if "differ" in remark]
    again = folder.parent / "again"
    write_gold(back, again, "inex-2008", index)
    assert judged(dataclasses.replace(read_gold(again), attributes={})) == judged(gold)


def test_a_gold_of_documents_cannot_become_one_of_passages(tmp_path):
    gold = find_format("trec-qrels").read([source_of(b"1 0 a 1\n", "file")])
    with pytest.raises(FormatError, match="inex-2008"):
        written(gold, "inex-2008", tmp_path, lossy=True)
    with pytest.raises(FormatError, match="inex-2003 says graded elements"):
        written(gold, "inex-2003", tmp_path, lossy=True)


def test_spans_become_qrels_only_when_asked(tmp_path):
    gold = find_format("inex-2008").read([source_of(b"1 Q0 a 2 9 0 0:2\n1 Q0 b 0 9\n", "file")])
    with pytest.raises(FormatError, match="trec-qrels cannot express 1 highlighted span, 1 best entry point by offset"):
        written(gold, "trec-qrels", tmp_path)
    assert written(gold, "trec-qrels", tmp_path, lossy=True)[0] == "1 0 a 1\n1 0 b 0\n"


def test_a_quote_that_moved_is_repaired_and_reported(index, tmp_path):
    file = tmp_path / "gold.jsonl"
    file.write_text('{"topic":"1","doc":"a","spans":[{"start":12,"end":17,"quote":"catch"}]}\n', encoding="utf-8")
    gold = read_gold(file, index=index)
    assert gold.passages.start.tolist() == [10]
    assert any("1 repaired" in remark for remark in lines_of(gold))


def test_a_chunk_text_finds_its_place(index, tmp_path):
    file = tmp_path / "run.jsonl"
    file.write_text('{"topic":"1","doc":"b","text":"One"}\n', encoding="utf-8")
    run = read_run(file, index=index)
    assert (run.start.tolist(), run.end.tolist()) == ([0], [3])
    assert written(run_of([("b", "<path>/article[1]/p[3]</path>")]), "run-jsonl", tmp_path)[0].count("path") == 1


def test_tags_survive_where_a_format_has_them_and_are_counted_where_not(tmp_path):
    line = '{"topic": "q", "doc": "d", "length": 9, "spans": [{"start": 1, "end": 3}], "tags": ["tea", "easy"]}\n'
    (tmp_path / "gold.jsonl").write_text(line)
    before = str(tmp_path / "gold.jsonl")
    legal, text = str(tmp_path / "legal.json"), str(tmp_path / "gold.txt")
    assert convert_file(before, legal, "legalbench-rag") == (Remark("left out", details=("1 document length",)),)
    assert '"tea"' in (tmp_path / "legal.json").read_text()
    (remark,) = convert_file(before, text, "inex-2008", lossy=True)
    assert str(remark) == "left out: 1 tag of topics"
