"""Topics of all years, as found in real files: what is kept, what is refused, where errors point."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.topics import Topic, parse_topics, read_topics
from focuseval.errors import FocusevalError, FormatError, NexiError

YEAR_2002 = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE INEX-Topic SYSTEM "inex-topics.dtd">
<INEX-Topic topic-id="03" query-type="CAS" ct-no="012">
<Title><te>article/sec</te><cw>caf\xe9 music</cw><ce>atl</ce><cw>score</cw></Title>
<Description>d</Description><Narrative>n</Narrative><Keywords>k</Keywords></INEX-Topic>
"""

YEAR_2005 = """<inex_topic topic_id="231" query_type="CO+S" ct_no="76">
  <InitialTopicStatement>first words</InitialTopicStatement>
  <title>markov chains in graph related algorithms</title>
  <castitle>//article//sec[about(.,+"markov chains" +algorithm +graphs)]
</castitle>
  <parent>//article</parent>
  <description>Use of <b>markov</b> chains.</description><narrative>I&#8217;m &lt;interested&gt;</narrative>
  <keywords>graph</keywords><ontopic_keywords>walk</ontopic_keywords>
</inex_topic>
"""

YEAR_2009 = """<?xml version="1.0"?>
<!DOCTYPE inex-topic-file [
  <!ENTITY lt "less-than"> <!ENTITY gt 'greater-than'> <!ENTITY amp "ampersand">
  <!-- what's this ]> for? --> <!ENTITY inex "INEX"> <!ELEMENT topic ANY>
  <!ENTITY evil SYSTEM "file:///etc/passwd">
]>
<inex-topic-file>
<topic id="2009001" ct_no="186"><title>Nobel &amp; prize &inex;</title>
<castitle>//article[about(., Nobel prize) and .//yr &lt;= 2000]</castitle><phrasetitle>"Nobel prize"</phrasetitle>
<description>&eacute;</description><narrative/></topic>
<topic id="2009002"><title>x</title></topic>
</inex-topic-file>"""


def test_a_topic_of_2002_keeps_its_target_words_and_context(tmp_path):
    file = tmp_path / "t.xml"
    file.write_bytes(YEAR_2002.encode("latin-1"))
    [topic] = read_topics(file)
    assert (topic.id, topic.kind, topic.ct_no, topic.title) == ("03", "CAS", "012", "café music score")
    assert topic.parts == (("te", "article/sec"), ("cw", "café music"), ("ce", "atl"), ("cw", "score"))
    assert (topic.query, topic.target, topic.keywords) == (None, "article/sec", "k")
    assert topic.attributes["query-type"] == "CAS"


def test_a_topic_of_2005_keeps_every_field():
    [topic] = parse_topics(YEAR_2005)
    assert (topic.kind, topic.initial_statement, topic.parent) == ("CO+S", "first words", "//article")
    assert topic.description == "Use of markov chains."
    assert topic.narrative == "I’m <interested>"
    assert topic.extra == {"ontopic_keywords": "walk"}
    assert topic.target == "//article//sec"
    assert [term.text for term in topic.terms][:2] == ["markov", "chains"]


def test_declarations_of_2009_are_neither_trusted_nor_fatal():
    first, second = parse_topics(YEAR_2009)
    assert first.title == "Nobel & prize INEX"
    assert first.castitle.endswith("<= 2000]")
    assert first.phrasetitle == '"Nobel prize"'
    assert first.description == "é"
    assert (first.kind, second.kind) == ("CO+S", "CO")


def test_the_title_of_a_cas_topic_of_2003_is_its_query():
    [topic] = parse_topics(
        '<inex_topic topic_id="76" query_type="CAS"><title>//sec[about(.,\'car\')]</title></inex_topic>'
    )
    assert topic.target == "//sec"
    assert [term.text for term in topic.terms] == ["car"]


@pytest.mark.parametrize(
    "text",
    [
        YEAR_2005 + YEAR_2005.replace("231", "232"),
        f'<?xml version="1.0"?>\n{YEAR_2005}\n<?xml version="1.0"?><!DOCTYPE x>{YEAR_2005.replace("231", "232")}',
        f"<topics><part>{YEAR_2005}</part>{YEAR_2005.replace('231', '232')}</topics>",
        "\ufeff" + f"<!-- <!DOCTYPE no [ --> <inex_topics>{YEAR_2005}{YEAR_2005.replace('231', '232')}</inex_topics>",
    ],
)
def test_several_topics_in_one_file_need_no_common_root(tmp_path, text):
    file = tmp_path / "t.xml"
    file.write_text(text, encoding="utf-8")
    assert [topic.id for topic in read_topics(file)] == ["231", "232"]


def test_a_folder_is_read_in_order_of_name(tmp_path):
    (tmp_path / "b.xml").write_text(YEAR_2005.replace("231", "2"))
    (tmp_path / "a.XML").write_text(YEAR_2005.replace("231", "9"))
    (tmp_path / "README").write_text("no topic")
    assert [topic.id for topic in read_topics(tmp_path)] == ["9", "2"]


def test_two_topics_with_one_id_are_refused_and_both_places_named(tmp_path):
    (tmp_path / "a.xml").write_text(YEAR_2005)
    (tmp_path / "b.xml").write_text("\n" + YEAR_2005)
    with pytest.raises(FormatError, match=r"b\.xml:2:1: .*topic '231' again \(first at .*a\.xml:1:1\)"):
        read_topics(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found none"),
        ("<a/>", "found none"),
        ("<inex_topic><title>x</title></inex_topic>", "expected a topic with topic_id or id"),
        ('<topic topic-id="5"><result/></topic>', "expected a title in topic '5'"),
        ('<topic id="5" query_type="XY"><title>x</title></topic>', "expected query_type CO, CAS or CO[+]S, found 'XY'"),
        ('<topic id="5"><title>\nx</topic>', ":2:.*expected well-formed XML, found mismatched tag"),
        ('<topic id="5"><title>x &nope; y</title></topic>', ":1:24: expected a known entity, found &nope;"),
        ('<!DOCTYPE t [<!ENTITY a "&b;&b;">]><topic id="5"><title>&a;</title></topic>', "found &a;"),
        ('<topic id="5"><title>\0</title></topic>', "expected well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><topic id="5"/>', "found 'klingon'"),
    ],
)
def test_bad_topic_files_get_one_line_with_a_place(tmp_path, text, message):
    file = tmp_path / "t.xml"
    file.write_text(text)
    with pytest.raises(FormatError, match=message) as error:
        read_topics(file)
    assert str(error.value).startswith(str(file))
    assert len(str(error.value).splitlines()) == 1


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path):
    file = tmp_path / "t.xml"
    file.write_bytes(b'<topic id="5">\n<title>\xe9</title></topic>')
    with pytest.raises(FormatError, match=r"t\.xml:2: expected utf-8 text, found byte 0xe9; declare"):
        read_topics(file)


def test_a_gzipped_topic_file_is_read(tmp_path):
    file = tmp_path / "t.xml.gz"
    file.write_bytes(gzip.compress(YEAR_2005.encode()))
    assert read_topics(file)[0].id == "231"


def test_a_file_that_does_not_exist_is_one_line(tmp_path):
    with pytest.raises(FormatError, match="No such file"):
        read_topics(tmp_path / "none.xml")
    with pytest.raises(FormatError, match=r"topic files \(\*\.xml\)"):
        read_topics(tmp_path)


def test_a_nexi_error_points_into_the_file_past_entities_and_lines():
    text = '<topic id="5"><title>x</title>\n  <castitle>//é[./yr &lt;= 2\n and about(., ]</castitle></topic>'
    [topic] = parse_topics(text, "t.xml")
    with pytest.raises(NexiError, match=r"^t\.xml:3:15: expected terms, found '\]'"):
        _ = topic.query
    [other] = parse_topics(text.replace("2\n", "two\n"), "t.xml")
    with pytest.raises(NexiError) as error:
        _ = other.query
    line = text.replace("2\n", "two\n").split("\n")[error.value.at.line - 1]
    assert line[error.value.at.column - 1 :].startswith("two")


def test_what_a_file_says_of_a_topics_fate_is_kept():
    assert Topic("1", "CO", attributes={"status": "Selected, assessed"}).statuses == ("selected", "assessed")
    assert Topic("1", "CO", attributes={"candidate": "yes", "selected": "no"}).statuses == ("candidate",)
    assert Topic("1", "CO").statuses == ()


pieces = st.sampled_from(
    [
        "<topic id='1'>",
        "</topic>",
        "<title>",
        "</title>",
        "<castitle>",
        "</castitle>",
        "//a[",
        "]",
        "&lt;",
        "&x;",
        "<!DOCTYPE",
        "[",
        "]>",
        "<!ENTITY x 'y'>",
        "<?xml ",
        "?>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "'",
        '"',
        "\n",
        "é",
        "\x00",
        "</any>",
    ]
)


def error_of(text):
    try:
        for topic in parse_topics(text):
            topic.as_json()
    except FocusevalError as error:
        return str(error)
    return None


@given(st.lists(pieces, max_size=20).map("".join))
def test_any_text_is_topics_or_an_error_on_purpose(text):
    error = error_of(text)
    assert error is None or "expected" in error
