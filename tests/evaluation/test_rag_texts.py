"""Texts that make offsets go wrong: emoji, combining marks, CRLF, normal forms, right-to-left, a text said twice."""

import json
import unicodedata

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main

CASES = {
    "emoji": ("Ask 👩‍👩‍👧‍👦 first 🙂 then go.", "first 🙂"),
    "combining marks": ("Cafe\u0301 au lait, re\u0301sume\u0301.", "re\u0301sume\u0301"),
    "right to left": ("אם תרצו, אין זו אגדה. السلام عليكم يا أصدقاء.", "السلام عليكم"),
    "CRLF": ("One line.\r\nAnother line.\r\nThe last.\r\n", "line.\r\nThe last."),
    "astral": ("𝔘𝔫𝔦𝔠𝔬𝔡𝔢 is wide: 𝟘𝟙𝟚𝟛.", "wide: 𝟘𝟙"),
}
LOOSE = {
    "composed for decomposed": ("Cafe\u0301 au lait, re\u0301sume\u0301.", "Café au lait", "Cafe\u0301 au lait"),
    "decomposed for composed": ("Café au lait, résumé.", unicodedata.normalize("NFD", "résumé"), "résumé"),
    "newline for CRLF": ("One line.\r\nAnother line.\r\nThe last.", "line.\nAnother", "line.\r\nAnother"),
    "straight for curly quotes": ("She said “no” and left.", 'said "no" and', "said “no” and"),
    "ligature": ("The oﬃce is closed.", "office is", "oﬃce is"),
}


@pytest.mark.parametrize(("text", "quote"), CASES.values(), ids=CASES)
def test_a_drifted_quote_is_found_again_to_the_character(text, quote):
    start = text.index(quote)
    for drift in (-1, 0, 1, 2):
        claimed = max(0, start + drift)
        gold = [{"topic": "q", "doc": "d", "start": claimed, "end": claimed + len(quote), "quote": quote}]
        run = [{"topic": "q", "doc": "d", "start": start, "end": start + len(quote)}]
        scores = fe.evaluate(gold, run, ["spanR", "spanP"], docs={"d": text})
        assert scores.means()["run"] == {"spanR": 1.0, "spanP": 1.0}


@pytest.mark.parametrize(("text", "said", "stands"), LOOSE.values(), ids=LOOSE)
def test_a_text_spelt_otherwise_covers_what_stands_in_the_document(text, said, stands):
    start = text.index(stands)
    gold = [{"topic": "q", "doc": "d", "start": start, "end": start + len(stands)}]
    scores = fe.evaluate(gold, [{"topic": "q", "doc": "d", "text": said}], ["spanR", "spanP"], docs={"d": text})
    assert scores.means()["run"] == {"spanR": 1.0, "spanP": 1.0}
    assert "1 normalised" in scores.remarks()[0]


@pytest.mark.parametrize(("text", "quote"), CASES.values(), ids=CASES)
def test_files_on_disk_keep_every_character(tmp_path, text, quote):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "d.txt").write_bytes(text.encode())
    start = text.index(quote)
    span = {"start": start, "end": start + len(quote), "quote": quote}
    (tmp_path / "gold.jsonl").write_text(json.dumps({"topic": "q", "doc": "d.txt", "spans": [span]}) + "\n")
    (tmp_path / "run.jsonl").write_text(json.dumps({"topic": "q", "doc": "d.txt", "text": quote}) + "\n")
    files = [str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl")]
    done = CliRunner().invoke(
        main, ["score", *files, "--docs", str(tmp_path / "docs"), "-m", "IoU", "--format", "json"]
    )
    assert json.loads(done.stdout)["runs"][0]["measures"]["IoU"] == 1.0
    assert "the only span is in place" in done.stderr


def test_a_text_repeated_whole_is_told_apart_by_chunk_numbers():
    """The same three sentences twice: four chunks, each of half a copy."""
    once = "Boil water. Stir well. Serve. "
    text = once * 2
    chunks = [text[start : start + 15] for start in range(0, 60, 15)]
    rows = [{"topic": "q", "doc": "d", "rank": i + 1, "text": t, "chunk": i} for i, t in enumerate(chunks)]
    gold = [{"topic": "q", "doc": "d", "start": 30, "end": 60}]
    assert fe.evaluate(gold, rows, ["spanR"], docs={"d": text}).means()["run"]["spanR"] == 1.0
    for row in rows:
        del row["chunk"]
    scores = fe.evaluate(gold, rows, ["spanR"], docs={"d": text})
    assert scores.counts[0].unplaced == 4
    assert scores.means()["run"]["spanR"] == 0.0


def test_two_documents_with_the_same_text_are_not_mixed_up():
    gold = [{"topic": "q", "doc": "b", "start": 0, "end": 11, "quote": "Boil water."}]
    docs = {"a": "Boil water.", "b": "Boil water."}
    for document, recall in (("a", 0.0), ("b", 1.0)):
        rows = [
            {"topic": "q", "doc": document, "text": "Boil water."},
            {"topic": "q", "doc": "b", "start": 0, "end": 0},
        ]
        assert fe.evaluate(gold, rows, ["spanR"], docs=docs).means()["run"]["spanR"] == recall
