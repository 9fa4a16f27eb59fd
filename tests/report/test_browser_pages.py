"""Pages of PDFs in a report, with what was found and missed drawn on them."""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli.commands import main
from pdfs import paragraph, pdf


@pytest.fixture
def made(tmp_path):
    (tmp_path / "docs").mkdir()
    pages = paragraph("The sea rises", "twice a day."), paragraph("Nothing."), paragraph("The moon pulls", "the sea.")
    (tmp_path / "docs/a.pdf").write_bytes(pdf(*pages))
    (tmp_path / "docs/b.txt").write_text("A plain text.")
    gold = {
        "topic": "q1",
        "query": "tides?",
        "doc": "a",
        "spans": [{"page": 1, "quote": "twice a day."}, {"page_number": 3}],
    }
    run = [
        {"topic": "q1", "doc": "a", "rank": 1, "page_number": 1},
        {"topic": "q1", "doc": "b", "rank": 2, "start": 0, "end": 5},
    ]
    for name, lines in (("gold", [gold]), ("run", run)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def report(*more):
        given = [str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl")]
        target = tmp_path / "report.html"
        given += ["--docs", str(tmp_path / "docs"), "-m", "spanR@1", "-o", str(target)]
        return CliRunner().invoke(main, ["report", *given, *more]), target

    return report


def test_a_report_shows_pages_with_what_was_found_and_missed(made, browser):
    result, target = made("--pages")
    assert result.exit_code == 0, result.output
    browser.open(target.as_uri())
    browser.wait("return document.querySelectorAll('.page-frame img').length === 2")
    script = """
      return [...document.querySelectorAll(".page-frame")].map((frame) => {
        const box = frame.getBoundingClientRect();
        return [...frame.querySelectorAll(".drawn")].map((one) => {
          const place = one.getBoundingClientRect();
          const [top, left] = [(place.top - box.top) / box.height * 792, (place.left - box.left) / box.width * 612];
          return [one.title, top, left];
        });
      });"""
    first, third = browser.run(script)
    titles = [title for title, _, _ in first]
    assert titles == ["wasted by A"] * 3 + ["found by A"] * 3
    assert {title for title, _, _ in third} == {"missed"}
    assert first[0][1:] == pytest.approx([89, 72], abs=2)
    assert browser.run("return document.querySelector('.page-frame img').naturalWidth") == 765
    assert "Pictures of 2 PDF pages are embedded" in browser.run("return document.body.textContent")
    assert browser.errors() == []


def test_further_pages_are_said_and_without_the_option_there_is_none(made):
    _, target = made("--pages", "1")
    assert "more are not" in target.read_text()
    _, target = made()
    assert "as they look" not in target.read_text().split("<script")[0]


def test_pages_are_for_a_file(made):
    result, _ = made("--pages", "--serve")
    assert result.exit_code == 2
    assert "--pages embeds pictures into a file" in result.output
