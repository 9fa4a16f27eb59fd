"""Bad input gets one line that names the place, what was expected and what was found."""

import pytest

from focuseval.data.topics.topic import parse_other
from focuseval.errors import FormatError
from focuseval.formats import detect_source, find_format, read_gold, read_run, source_of

GOOD = b"1 Q0 a 1 9 r\n1 Q0 b 2 8 r\n"


def refusal(name, text):
    known = find_format(name)
    source = source_of(text, "file")
    with pytest.raises(FormatError) as caught:
        known.read(source if known.kind == "run" else [source])
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "text", "start"),
    [
        ("trec-run", GOOD + b"1 Q0 c 3 7\n", "file:3: expected 6 columns (topic Q0 document rank score run), found 5"),
        ("trec-run", GOOD + b"1 Q0 c 3 7 r 5\n", "file:3: expected 6 columns"),
        ("trec-run", GOOD + b"1 Q0 c 3 nan r\n", "file:3: expected a finite number as score, found 'nan'"),
        ("trec-run", GOOD + b"1 Q0 c 3 inf r\n", "file:3: expected a finite number as score, found 'inf'"),
        ("trec-run", GOOD + b"1 Q0 c 3 1e999 r\n", "file:3: expected a finite number as score, found '1e999'"),
        ("trec-run", GOOD + b"1 Q0 c 3 high r\n", "file:3: expected a finite number as score, found 'high'"),
        ("trec-run", GOOD + b"1 Q0 c third 7 r\n", "file:3: expected a whole number as rank, found 'third'"),
        (
            "trec-run",
            GOOD + b"1 Q0 a 3 7 r\n",
            "file:3: expected a document once in a topic, found 'a' again, first on",
        ),
        ("trec-run", GOOD + b"1 Q0 c 3 7 other\n", "file:3: expected one run in the file, 'r', found 'other'"),
        ("trec-run", GOOD + b"1 Q0 \0 3 7 r\n", "file:3: expected text, found a NUL byte"),
        ("trec-run", GOOD + b"1 Q0 \xff 3 7 r\n", "file:3: expected UTF-8, found byte 0xff"),
        ("trec-run", GOOD + b"\n\n1 Q0  3 7 r\n", "file:5: expected 6 columns"),
        ("inex-text", b"1 Q0 a 1 9 r 5 6\n1 Q0 a 2 8 r 5 -6\n", "file:2: expected an offset (and a length) that"),
        ("inex-text", b"1 Q0 a 1 9 r /a 6\n", "file:1: expected two paths or an offset and a length"),
        ("inex-text", b"1 Q0 a 1 9 r 6\n1 Q0 a 1 9 r six\n", "file:2: expected a path, an offset, 'X' or '-1'"),
        ("inex-text", GOOD, "file:1: expected 7 to 8 columns"),
        ("trec-qrels", b"1 0 a 1\n1 0 b 0.5\n", "file:2: expected a whole number as grade, found '0.5'"),
        ("trec-qrels", b"1 0 a 1\n1 0 b 1\n1 0 a 1\n", "file:3: expected one judgement of document 'a' for topic '1'"),
        ("trec-qrels", b"1 0 a\n", "file:1: expected 4 columns (topic iteration document grade), found 3: '1 0 a'"),
        (
            "inex-2008",
            b"1 Q0 a 0 9\n1 Q0 a 0 9\n",
            "file:2: expected one judgement of document 'a' for topic '1', found",
        ),
        (
            "inex-2008",
            b"1 Q0 a 5 9 0 6:5\n",
            "file:1: expected a passage within the document's 9 characters, found 6:5",
        ),
        ("inex-2008", b"1 Q0 a 5 9 0 -6:5\n", "file:1: expected a passage as offset:length, found '-6:5'"),
        ("inex-2008", b"1 Q0 a 5 9 0\n", "file:1: expected offset:length of 5 relevant characters, found none"),
        ("inex-2008", b"1 Q0 a 5 9 12 1:5\n", "file:1: expected a best entry point within 0 … 9, found 12"),
        ("inex-2008", b"1 Q0 a -5 9\n", "file:1: expected sizes that are not negative"),
        ("run-jsonl", b'{"topic":"1","doc":"a","score":NaN}\n', "file:1: expected a JSON object, found: NaN is not"),
        ("run-jsonl", b'{"topic":"1","doc":"a","start":9,"end":5}\n', "file:1: expected start ≤ end, found a reversed"),
        ("run-jsonl", b'{"topic":"1","doc":"a","start":-9,"end":5}\n', "file:1: expected a whole number as 'start'"),
        ("run-jsonl", b'{"topic":"1","doc":"a","end":5}\n', "file:1: expected a 'start' beside the 'end'"),
        ("run-jsonl", b'{"topic":"1","docs":"a"}\n', "file:1: expected the key 'doc'"),
        ("run-jsonl", b'{"topic":"1"}\n', "file:1: expected the key 'doc', found none"),
        (
            "run-jsonl",
            b'{"topic":"1","doc":"a","run":"x"}\n{"topic":"1","doc":"b","run":"y"}\n',
            "file:2: expected one run",
        ),
        (
            "run-jsonl",
            b'{"topic":"1","doc":"a","rank":1}\n{"topic":"1","doc":"b"}\n',
            "file:2: expected a 'rank' in every",
        ),
        ("run-jsonl", b'{"topic":"1","doc":"a","path":"/a"}\n{"topic":"1","doc":"b"}\n', "file:2: expected a place"),
        ("run-jsonl", b"[1]\n", "file:1: expected a JSON object, found '[1]'"),
        ("gold-jsonl", b'{"topic":"1","doc":"a","spans":[{"start":9,"end":5}]}\n', "file:1: expected start ≤ end"),
        ("gold-jsonl", b'{"topic":"1","doc":"a","spans":[{"start":9}]}\n', "file:1: expected a span's start and end"),
        ("gold-jsonl", b'{"topic":"1","doc":"a"}\n', "file:1: expected 'spans' or a 'relevance', found neither"),
        (
            "gold-jsonl",
            b'{"topic":"1","doc":"a","spans":[]}\n\n{"topic":1,"doc":"a","spans":[]}\n',
            "file:3: expected one",
        ),
        ("gold-jsonl", b'{"topic":"1","doc":"a","relevance":0.5}\n', "file:1: expected a whole number as 'relevance'"),
        (
            "gold-jsonl",
            b'{"topic":"1","doc":"a","length":4,"spans":[{"start":1,"end":5}]}',
            "file:1: expected a span within",
        ),
    ],
)
def test_a_text_file_is_refused_where_it_is_wrong(name, text, start):
    assert refusal(name, text).startswith(start)


RUN = b'<inex-submission run-id="r">\n<topic topic-id="1">\n%s</topic></inex-submission>'
OLD = b'<assessments topic="1">\n<file file="a">\n%s</file></assessments>'
NEW = b'<assessments topic="1">\n<file name="a">\n%s</file></assessments>'


@pytest.mark.parametrize(
    ("name", "text", "start"),
    [
        ("inex-xml", RUN % b"<result>\n</topic>", "file:4:3: expected well-formed XML, found: mismatched tag"),
        (
            "inex-xml",
            RUN % b"<result><path>/a[1]</path></result>",
            "file:3: expected a <file> in the result, found none",
        ),
        (
            "inex-xml",
            RUN % b"<result><file>a</file><path>/a</path><rank>x</rank></result>",
            "file:3: expected a whole number",
        ),
        (
            "inex-xml",
            RUN % b"<result><file>a</file><path>/a</path><rsv>NaN</rsv></result>",
            "file:3: expected a finite",
        ),
        (
            "inex-xml",
            RUN % b"<result><file>a</file><path>/a</path><path>/b</path></result>",
            "file:3: expected one place",
        ),
        (
            "inex-xml",
            RUN % b'<result><file>a</file><fol offset="-4" length="3"/></result>',
            "file:3: expected an offset",
        ),
        (
            "inex-xml",
            RUN % b'<result><file>a</file><passage start="/a"/></result>',
            "file:3: expected the attribute 'end'",
        ),
        (
            "inex-xml",
            RUN % b"<result><file>a</file><rank>1</rank></result>\n<result><file>b</file></result>",
            "file:4: expected a <rank> in every result or in none",
        ),
        (
            "inex-xml",
            b"<inex-submission><result><file>a</file></result></inex-submission>",
            "file:1: expected <result> inside",
        ),
        ("inex-xml", b'<!DOCTYPE x [<!ENTITY a "b">]><inex-submission/>', "file:1: expected no entity declarations"),
        (
            "inex-xml",
            b'<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><x>&a;</x>',
            "file:1: expected no entity declarations",
        ),
        (
            "inex-2003",
            OLD % b"<path path='/a' exhaustiveness='4'/>",
            "file:3: expected exhaustiveness to be one of 0, 1, 2, 3, U",
        ),
        (
            "inex-2002",
            OLD % b"<path path='/a' relevance='1' coverage='Q'/>",
            "file:3: expected coverage to be one of N, L, S, E, U",
        ),
        ("inex-2003", OLD % b"</file><file file='a'>", "file:3: expected one judgement of document 'a' for topic '1'"),
        (
            "inex-2005",
            NEW % b"</file>\n<file name='a'>",
            "file:4: expected one judgement of document 'a' for topic '1', found",
        ),
        (
            "inex-2005",
            NEW % b"<passage start='/a' end='/b' size='-3'/>",
            "file:3: expected a size that is not negative",
        ),
        (
            "inex-2005",
            NEW % b"<element path='/a' exhaustivity='5'/>",
            "file:3: expected an exhaustivity of 0 … 3 or '?'",
        ),
        ("inex-2005", b"<assessments topic='1'><passage/></assessments>", "file:1: expected <passage> inside <file>"),
        ("inex-2005", b"<other/>", "file: expected <assessments topic=…>, found none"),
        ("inex-2005", b"<assessments", "file:1:1: expected well-formed XML, found: unclosed token"),
    ],
)
def test_an_xml_file_is_refused_where_it_is_wrong(name, text, start):
    assert refusal(name, text).startswith(start)


def test_a_judgement_in_two_files_names_both():
    sources = [source_of(NEW % b"", "one.xml"), source_of(NEW % b"", "two.xml")]
    with pytest.raises(FormatError, match=r"two.xml:2: .*found another at one.xml:2; keep one of the two"):
        find_format("inex-2005").read(sources)
    sources = [source_of(b"1 0 a 1\n", "one"), source_of(b"2 0 a 1\n1 0 a 1\n", "two")]
    with pytest.raises(FormatError, match=r"two:2: .*found another at one:1"):
        find_format("trec-qrels").read(sources)


def test_one_bad_line_does_not_hide_the_format():
    source = source_of(GOOD + b"1 Q0 c 3 7\n", "file")
    assert detect_source(source, "run").name == "trec-run"


def test_a_gold_in_place_of_a_run_is_told():
    with pytest.raises(FormatError, match=r"^file:1: expected a run in a known format, found a gold \(trec-qrels\)"):
        detect_source(source_of(b"1 0 a 1\n", "file"), "run")


@pytest.mark.parametrize("text", [b"", b"\n\n", b"hello\n", b"<html/>", b"{}", b"\x00\x01\x02", b"1 2\n"])
def test_a_file_of_no_known_format_is_refused(text):
    with pytest.raises(FormatError, match=r"expected a (run|gold|run or gold)"):
        detect_source(source_of(text, "file"))


@pytest.mark.parametrize(
    ("text", "read"),
    [("1 0 d 0x1\n", read_gold), ("1 Q0 d 1 0.5 r 0x10 5\n", read_run), ("1 Q0 d 0x10 20\n", read_gold)],
)
def test_a_hexadecimal_number_is_no_number(tmp_path, text, read):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"file\.txt:1: "):
        read(path)


LONG = "9" * 5000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run-jsonl", f'{{"topic": "1", "doc": "d", "rank": {LONG}, "score": 1}}\n'),
        ("gold-jsonl", f'{{"topic": "1", "doc": "d", "spans": [{{"start": 0, "end": {LONG}}}]}}\n'),
        ("legalbench-rag", f'{{"tests": [{{"query": "q", "snippets": [{{"file_path": "a", "span": [0, {LONG}]}}]}}]}}'),
        ("chunking-evaluation", f'question,references,corpus_id\nq,"[{{""start_index"": {LONG}}}]",x\n'),
    ],
)
def test_a_number_that_python_refuses_is_named_without_python_s_advice(name, text):
    message = refusal(name, text.encode())
    assert "found a number of thousands of digits" in message.replace("found:", "found")
    assert "sys." not in message


def test_topics_with_a_number_that_python_refuses_are_refused_in_the_same_words():
    with pytest.raises(FormatError, match="found a number of thousands of digits"):
        parse_other(f'{{"qid": {LONG}, "query": "q"}}\n', "json", "file")
