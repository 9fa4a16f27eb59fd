"""The page of a sweep draws its graph in a browser, without an error."""

from pathlib import Path

from focuseval.formats.content import write_whole
from focuseval.report.page import render_html
from focuseval.retrieval.sweeping import sweep

TEXTS = {f"d{n}": f"Harbour {n} is old. The light of harbour {n} is tall. Ships wait for tide {n}." for n in range(6)}
GOLD = [{"topic": f"q{n}", "query": f"light of harbour {n}", "doc": f"d{n}", "start": 18, "end": 48} for n in range(6)]


def test_quality_is_drawn_against_cost(tmp_path: Path, browser):
    found = sweep(GOLD, TEXTS, ["sentences:1", "characters:20", "characters:20/10"], measures=["spanR@40c"])
    write_whole(tmp_path / "sweep.html", [render_html(found.report()).encode()])
    browser.open((tmp_path / "sweep.html").as_uri())
    browser.run("document.getElementById('chart-chunking-cost').scrollIntoView()")
    drawn = browser.wait("return document.querySelector('#chart-chunking-cost svg')?.textContent")
    assert all(name in drawn for name in found.names)
    assert browser.run("return document.querySelector('h1').textContent") == found.advice()
    assert browser.run("return document.getElementById('verdict-word').textContent") == "→ Advice"
    leads = browser.run("return document.getElementById('verdict-caveat').textContent")
    assert leads.startswith(found.comparison.conclusion("chunking").headline)
    told = browser.run("return document.querySelector('.remarks').textContent")
    assert found.advice() not in told
    assert "The highest mean" in told
    assert browser.errors() == []
