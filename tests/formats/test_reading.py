"""What readers make of real files' habits: order, compression, byte-order marks, folders."""

import gzip
import hashlib
import io

import numpy as np
import pyarrow as pa
import pytest

from focuseval.collection.documents import open_documents
from focuseval.data.gold import NOT_ASSESSED, TOO_SMALL, UNKNOWN
from focuseval.errors import FormatError
from focuseval.formats import detect, detect_source, find_format, read_gold, read_run, source_of
from strategies.remarks import lines_of
from strategies.samples import SAMPLES

TREC = b"301 Q0 d1 1 2.5 VSM\n301 Q0 d2 2 1.5 VSM\n302 Q0 d1 1 0.5 VSM\n"


def trec(text):
    return find_format("trec-run").read(source_of(text, "file"))


def documents(run):
    return run.document.to_pylist()


def test_a_trec_run_is_ranked_by_score_and_ties_by_descending_document():
    run = trec(b"1 Q0 a 1 1 r\n1 Q0 b 2 3 r\n1 Q0 c 3 1 r\n1 Q0 d 4 1 r\n")
    assert documents(run) == ["b", "d", "c", "a"]
    assert run.line.tolist() == [2, 4, 3, 1]
    assert run.rank.tolist() == [2, 4, 3, 1]


def test_scores_that_differ_beyond_single_precision_tie_as_in_trec_eval():
    assert documents(trec(b"1 Q0 a 1 1.000000002 r\n1 Q0 b 2 1.000000001 r\n")) == ["b", "a"]


def test_topics_that_come_back_are_joined_in_order_of_first_appearance():
    run = trec(b"2 Q0 a 1 9 r\n1 Q0 a 1 9 r\n2 Q0 b 2 8 r\n")
    assert run.topics == ("2", "1")
    assert documents(run) == ["a", "b", "a"]
    assert run.bounds.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        TREC.replace(b" ", b"\t"),
        TREC.replace(b"\n", b"\r\n"),
        TREC.replace(b" ", b"   "),
        TREC.replace(b"Q0 ", b"Q0 \t "),
        b"\xef\xbb\xbf" + TREC,
        TREC + b"\n\n  \n",
        TREC.rstrip(),
        b"\n" + TREC.replace(b"\n", b" \n"),
        TREC.replace(b"2.5", b"+2.5"),
        gzip.compress(TREC, mtime=0),
        pa.compress(TREC, "zstd", asbytes=True),
    ],
)
def test_white_space_line_ends_marks_and_compression_change_nothing(text):
    run = trec(text)
    assert (run.topics, documents(run), run.run_id) == (("301", "302"), ["d1", "d2", "d1"], "VSM")
    assert run.score.tolist() == [2.5, 1.5, 0.5]


def test_a_blank_line_does_not_shift_the_line_numbers():
    assert trec(b"\n1 Q0 a 1 9 r\n\n\n1  Q0 b 2 8 r\n").line.tolist() == [2, 5]


def test_an_inex_text_run_is_ranked_by_rank_and_ties_stay_in_file_order():
    run = find_format("inex-text").read(source_of(b"1 Q0 a 2 9 r 5\n1 Q0 b 1 1 r 6\n1 Q0 c 2 99 r 7\n", "file"))
    assert documents(run) == ["b", "a", "c"]
    assert run.start.tolist() == [6, 5, 7]
    assert run.end.tolist() == [-1, -1, -1]


def test_unknown_places_of_a_text_run_are_kept_as_unknown():
    run = find_format("inex-text").read(source_of(b"1 Q0 a 1 9 r X X\n1 Q0 b 2 8 r -1 -1\n1 Q0 c 3 7 r 4 6\n", "file"))
    assert run.start.tolist() == [-1, -1, 4]
    assert run.end.tolist() == [-1, -1, 10]


XML = """<inex-submission participant-id="12" run-id="R" task="CO.Thorough " query="automatic" mmtitle="no">
<topic-fields title="yes" ontopic_keywords="no"/><description>R&amp;D</description>
<topic topic-id="9"><collections><collection>ieee</collection></collections>
{}
</topic></inex-submission>"""


def inex(results):
    return find_format("inex-xml").read(source_of(XML.format(results).encode(), "file"))


def test_the_irregularities_of_real_xml_runs_are_understood():
    run = inex("<result><in>x</in><file> a </file><path>/a[1]</path><rank> 0 </rank></result>")
    assert (run.run_id, run.task, run.participant) == ("R", "CO.Thorough", "12")
    assert documents(run) == ["a"]
    assert run.rank.tolist() == [0]
    assert run.line.tolist() == [4]
    assert run.attributes == {
        "query": "automatic", "mmtitle": "no", "topic-fields.title": "yes", "topic-fields.ontopic_keywords": "no",
        "description": "R&D", "collections": "ieee", "in": "x",
    }  # fmt: skip


def test_what_a_topic_says_besides_its_id_is_kept_and_written_again():
    topics = "".join(
        f'<topic topic-id="{t}" topic-part="{part}"><result><file>a</file></result></topic>'
        for t, part in (("1", "T"), ("2].", "C&amp;D"))
    )
    text = f'<inex-submission run-id="R">{topics}<topic topic-id="3"/></inex-submission>'
    inex_xml = find_format("inex-xml")
    run = inex_xml.read(source_of(text.encode(), "file"))
    assert run.attributes == {"topic[1].topic-part": "T", "topic[2].].topic-part": "C&D"}
    assert inex_xml.read(source_of(b"".join(inex_xml.write(run)), "file")).attributes == run.attributes


def test_without_ranks_descending_rsv_decides_and_without_either_the_file():
    assert documents(
        inex("".join(f"<result><file>{d}</file><rsv>{s}</rsv></result>" for d, s in zip("abc", (1, 2, 1), strict=True)))
    ) == ["b", "a", "c"]
    assert documents(inex("<result><file>b</file></result><result><file>a</file></result>")) == ["b", "a"]


def test_a_passage_and_a_fol_keep_their_own_words():
    run = inex(
        '<result><file>a</file><fol offset="5" length="7"/></result>'
        '<result><file>a</file><passage start="/a[1]/text()[1].5" end="/a[1]/p[1]"/></result>'
    )
    assert (run.start.tolist(), run.end.tolist()) == ([5, -1], [12, -1])
    assert run.path.to_pylist() == [None, "/a[1]/text()[1].5"]
    assert run.end_path.to_pylist() == [None, "/a[1]/p[1]"]


def test_an_xml_run_in_another_encoding_is_read_as_declared():
    text = '<?xml version="1.0" encoding="iso-8859-1"?>' + XML.format("<result><file>é</file></result>")
    assert documents(find_format("inex-xml").read(source_of(text.encode("latin-1"), "file"))) == ["é"]
    assert detect_source(source_of(text.replace("iso-8859-1", "utf-16").encode("utf-16"))).name == "inex-xml"


def test_a_doctype_that_points_elsewhere_is_not_fetched(tmp_path):
    text = '<!DOCTYPE inex-submission SYSTEM "http://127.0.0.1:9/x.dtd">' + XML.format(
        "<result><file>a</file></result>"
    )
    assert documents(find_format("inex-xml").read(source_of(text.encode(), "file"))) == ["a"]


def test_assessments_of_2004_keep_grades_and_unassessed_elements():
    gold = find_format("inex-2003").read([source_of(b"""<assessments pool='41' topic='162'>
      <file file='co/2000/r7023'>
        <path path='/article[1]' exhaustiveness='2' specificity='1' inferred='true' inpool='true'/>
        <path path='/article[1]/p[1]' exhaustiveness='U' specificity='U'/>
        <path path='/article[1]/p[2]'/>
      </file><file file='x'/></assessments>""", "file")])  # fmt: skip
    assert gold.scale == "grades"
    assert gold.elements.exhaustivity.tolist() == [2, NOT_ASSESSED, NOT_ASSESSED]
    assert gold.elements.specificity.tolist() == [1, NOT_ASSESSED, NOT_ASSESSED]
    assert gold.elements.inferred.tolist() == [True, False, False]
    assert gold.articles.relevance.tolist() == [1, 0]


def test_assessments_of_2002_keep_coverage_as_grades():
    text = "<assessments topic='3'><file file='x'>{}</file></assessments>".format(
        "".join(f"<path path='/a[{i}]' relevance='{i}' coverage='{c}'/>" for i, c in enumerate("NLSE"))
    )
    gold = find_format("inex-2002").read([source_of(text.encode(), "file")])
    assert gold.scale == "coverage"
    assert gold.elements.specificity.tolist() == [0, 1, 2, 3]


ASSESSED = b"""<assessments pool="7" topic="401" version="2" whitespace-text-node="strip">
  <inex_topic topic_id="401"><title>Nobel  prize</title><file name="no"/></inex_topic>
  <file collection="wikipedia" name="9996">
    <best-entry-point path="/article[1]/body[1]/p[2]"/>
    <passage start="/article[1]/body[1]/p[2]/text()[1].0" end="/article[1]/body[1]/p[3]/text()[2].56" size="812"/>
    <element path="/article[1]" exhaustivity="2" size="3046" rsize="812"/>
    <element path="/article[1]/b[1]" exhaustivity="?" size="3" rsize="3"/>
  </file>
  <file collection="wikipedia" name="10013"></file>
</assessments>"""


def test_assessments_of_2005_to_2007_keep_everything_that_the_file_says():
    gold = find_format("inex-2005").read([source_of(ASSESSED, "file")])
    assert gold.queries == {"401": "Nobel prize"}
    assert gold.attributes["401"]["whitespace-text-node"] == "strip"
    assert gold.attributes["401"]["inex_topic"].startswith('<inex_topic topic_id="401">')
    assert gold.attributes["401"]["collection"] == "wikipedia"
    assert gold.articles.relevance.tolist() == [1, 0]
    assert gold.articles.length.tolist() == [3046, UNKNOWN]
    assert gold.articles.bep_path.to_pylist() == ["/article[1]/body[1]/p[2]", None]
    assert gold.passages.size.tolist() == [812]
    assert gold.elements.exhaustivity.tolist() == [2, TOO_SMALL]
    assert gold.scale == "exhaustivity"


def test_a_folder_of_files_is_one_gold_in_the_order_of_names(tmp_path):
    for topic in ("402", "401"):
        (tmp_path / f"{topic}.xml").write_bytes(ASSESSED.replace(b"401", topic.encode()))
    gold = read_gold(tmp_path)
    assert gold.topics == ("401", "402")
    assert len(gold.articles.topic) == 4
    assert [name[-7:] for name in gold.sources] == ["401.xml", "402.xml"]
    assert detect(tmp_path).name == "inex-2005"


def test_a_topic_may_be_split_over_files(tmp_path):
    (tmp_path / "a").write_bytes(b"1 Q0 x 0 9\n2 Q0 x 0 9\n")
    (tmp_path / "b").write_bytes(b"1 Q0 y 4 9 0 0:4\n")
    gold = read_gold(tmp_path)
    assert gold.articles.topic.tolist() == [0, 0, 1]
    assert gold.articles.line.tolist() == [1, 1, 2]
    assert gold.articles.source.tolist() == [0, 1, 0]


EMPTY = [
    b"<assessments topic='3'></assessments>",
    b"<assessments topic='3'><file file='x'/><file file='y'/></assessments>",
]


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("name", ["inex-2002", "inex-2003", "inex-2005"])
@pytest.mark.parametrize("place", ["0.xml", "9.xml"])
def test_a_topic_without_any_judged_element_fits_the_year_of_the_others(tmp_path, name, empty, place):
    (tmp_path / "1.xml").write_bytes(SAMPLES[name])
    (tmp_path / place).write_bytes(empty)
    gold = read_gold(tmp_path)
    alone = read_gold(tmp_path / "1.xml")
    assert (gold.scale, len(gold.elements.topic)) == (alone.scale, len(alone.elements.topic))
    assert set(gold.topics) == {"3", *alone.topics}


def test_years_with_judged_elements_are_still_told_apart(tmp_path):
    (tmp_path / "0.xml").write_bytes(EMPTY[0])
    for name in ("inex-2002", "inex-2003"):
        (tmp_path / f"{name}.xml").write_bytes(SAMPLES[name])
    with pytest.raises(
        FormatError, match=r"inex-2003.xml: expected one format in the folder, inex-2002, found inex-20"
    ):
        read_gold(tmp_path)


def test_a_folder_of_two_formats_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"1 Q0 x 0 9\n")
    (tmp_path / "b").write_bytes(b"1 0 x 0\n")
    with pytest.raises(FormatError, match=r"b: expected one format in the folder, inex-2008, found trec-qrels"):
        read_gold(tmp_path)


def test_assessments_of_2008_to_2010_with_windows_line_ends():
    gold = find_format("inex-2008").read([source_of(b"1 Q0 d1 100 400 50 50:60 200:40\r\n1 Q0 d3 0 300\r\n", "file")])
    assert gold.passages.start.tolist() == [50, 200]
    assert gold.passages.end.tolist() == [110, 240]
    assert gold.articles.bep.tolist() == [50, UNKNOWN]
    assert gold.articles.relevance.tolist() == [1, 0]


def test_a_sum_that_differs_from_the_passages_is_counted():
    gold = find_format("inex-2008").read([source_of(b"1 Q0 d1 99 400 50 50:60 200:40\n", "file")])
    assert "in 1 document" in lines_of(gold)[0]


def test_overlapping_passages_of_2008_are_counted_and_a_negative_one_is_named():
    read = find_format("inex-2008").read
    assert lines_of(read([source_of(b"1 Q0 d1 20 57 6 6:10 10:10\n", "file")])) == ("1 overlapping span is united",)
    with pytest.raises(FormatError, match=r"^file:1: expected a passage as offset:length, found '6:-10'; write both"):
        read([source_of(b"1 Q0 d1 10 57 6 6:-10\n", "file")])
    assert detect_source(source_of(b"1 Q0 d1 10 57 6 6:-10\n", "file"), "gold").name == "inex-2008"


def test_the_hash_is_that_of_the_content(tmp_path, monkeypatch):
    file = tmp_path / "run"
    file.write_bytes(gzip.compress(TREC))
    assert read_run(file).sha256 == hashlib.sha256(TREC).hexdigest()

    class Stdin:
        buffer = io.BytesIO(TREC)

    monkeypatch.setattr("sys.stdin", Stdin)
    run = read_run("-")
    assert (run.sha256, run.file) == (hashlib.sha256(TREC).hexdigest(), "<stdin>")


@pytest.mark.parametrize(
    "broken",
    [gzip.compress(TREC, mtime=0)[:-9], pa.compress(TREC * 9, "zstd", asbytes=True)[:-9]],
    ids=["gzip", "zstd"],
)
def test_a_truncated_compressed_file_is_refused(broken):
    with pytest.raises(FormatError, match="expected a complete compressed file"):
        source_of(broken, "file")


def test_a_missing_file_is_one_line():
    with pytest.raises(
        FormatError, match=r"^nowhere/x: cannot be read: No such file or directory; check the name and the permissions$"
    ):
        read_run("nowhere/x")


def test_large_files_are_mapped_and_read_alike(tmp_path, monkeypatch):
    monkeypatch.setattr("focuseval.formats.content._LARGE", 1)
    file = tmp_path / "run"
    file.write_bytes(b"\xef\xbb\xbf" + TREC)
    run = read_run(file)
    assert documents(run) == ["d1", "d2", "d1"]
    assert run.sha256 == hashlib.sha256(b"\xef\xbb\xbf" + TREC).hexdigest()


def test_a_jsonl_run_may_number_its_topics_and_name_its_chunks():
    run = find_format("run-jsonl").read(
        source_of(b'{"topic":7,"doc":"a","text":"so it is","chunk":3}\n', "dir/x.jsonl")
    )
    assert (run.topics, run.run_id) == (("7",), "x")
    assert run.text.to_pylist() == ["so it is"]
    assert run.chunk.tolist() == [3]


def test_detection_looks_at_content_not_at_names(tmp_path):
    file = tmp_path / "run.xml"
    file.write_bytes(b'{"topic":"1","doc":"a","spans":[]}\n')
    assert detect(file).name == "gold-jsonl"
    assert np.isscalar(len(read_gold(file).topics))


@pytest.mark.parametrize("given", ["folder", "name of a folder", "mapping", "index"])
def test_documents_are_given_as_everywhere_else(tmp_path, given):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("one two three", encoding="utf-8")
    (tmp_path / "run.jsonl").write_text('{"topic": "q", "doc": "a.md", "text": "two"}\n', encoding="utf-8")
    judged = '{"topic": "q", "doc": "a.md", "spans": [{"quote": "three"}]}\n'
    (tmp_path / "gold.jsonl").write_text(judged, encoding="utf-8")
    mapping = {"a.md": "one two three"}
    docs = {"folder": folder, "name of a folder": str(folder), "mapping": mapping, "index": open_documents(mapping)}[
        given
    ]
    assert read_run(tmp_path / "run.jsonl", docs=docs).start.tolist() == [4]
    assert read_gold(tmp_path / "gold.jsonl", docs=docs).passages.start.tolist() == [8]
