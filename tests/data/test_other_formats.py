"""Topics as plain lines, TREC's SGML, Indri's parameters and JSON lines are detected by their content."""

import pytest

from focuseval.data.topics import read_topics
from focuseval.errors import FormatError

TREC = """<top>
<num> Number: 401
<title> foreign minorities, Germany

<desc> Description:
What language and cultural differences &amp; laws?

<narr> Narrative:
A relevant document …
</top>
<top><num>402</num><title>behavioral genetics</title></top>
"""
INDRI = "<parameters>\n<query><number>7</number><text>tides &amp; moons</text></query>\n</parameters>\n"


def read(tmp_path, text):
    file = tmp_path / "topics"
    file.write_text(text, encoding="utf-8")
    return read_topics(file)


def test_plain_lines_have_an_id_a_tab_and_a_query(tmp_path):
    one, two = read(tmp_path, "401\tforeign minorities, Germany\n\nq2\t//sec[about(., tides)]\n")
    assert (one.id, one.kind, one.title) == ("401", "CO", "foreign minorities, Germany")
    assert (two.id, two.kind, str(two.query)) == ("q2", "CAS", "//sec[about(., tides)]")


def test_tags_of_trec_topics_need_not_be_closed(tmp_path):
    one, two = read(tmp_path, TREC)
    assert (one.id, one.title) == ("401", "foreign minorities, Germany")
    assert one.description == "What language and cultural differences & laws?"
    assert one.narrative == "A relevant document …"
    assert (two.id, two.title, two.description) == ("402", "behavioral genetics", "")


def test_queries_of_indri_are_topics(tmp_path):
    [topic] = read(tmp_path, INDRI)
    assert (topic.id, topic.title) == ("7", "tides & moons")


@pytest.mark.parametrize("line", ['{"qid": 7, "question": "tides"}', '{"_id": "7", "text": "tides"}',
                                  '{"topic": "7", "query": "tides", "user_input": "tides"}'])  # fmt: skip
def test_json_lines_may_name_their_fields_as_others_do(tmp_path, line):
    [topic] = read(tmp_path, line + "\n")
    assert (topic.id, topic.title) == ("7", "tides")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\nno tab here\n", "topics:2: expected a topic's id, a tab and a query, found 1 columns"),
        ("1\ta\tb\n", "topics:1: expected a topic's id, a tab and a query, found 3 columns"),
        ("<top><title> no number </top>", "topics:1: expected <num> in a topic, found none"),
        (INDRI.replace("tides", "#combine(tides)"), "topics:2: expected words, found Indri's operator #combine"),
        (
            '{"qid": 1}\n',
            "topics:1: expected the field 'query' (one of query, question, user_input, input, text, title), found qid",
        ),
        ('{"qid": 1, "query": "a", "text": "b"}\n', "topics:1: expected one value, found query='a' and text='b'"),
        ('{"qid": 1,\n', "topics:1: expected a JSON object"),
        ("1\ta\n1\tb\n", "topics:2: expected each topic once, found topic '1' again"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, text, message):
    with pytest.raises(FormatError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert "; " in str(error.value)


def test_a_gold_gives_every_topic_once(tmp_path):
    lines = ['{"topic": "1", "query": "tides", "doc": "a", "spans": []}', '{"topic": "1", "doc": "b", "spans": []}',
             '{"topic": "1", "query": "tides", "doc": "c", "spans": []}']  # fmt: skip
    [topic] = read(tmp_path, "\n".join(lines))
    assert (topic.id, topic.title) == ("1", "tides")
