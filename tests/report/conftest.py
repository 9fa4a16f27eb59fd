"""Reports on small campaigns, and their pages in a browser."""

import pytest

from focuseval.report.build import build_report
from focuseval.report.page import render_html
from strategies.campaigns import campaign

MEASURES = ["MAgP", "gP@5", "MAiP", "spanR@5", "BEPD(A=0.1)"]


@pytest.fixture(scope="session")
def small():
    """Gold, two runs and texts."""
    return campaign(topics=6, runs=2, documents=20, length=1500)


@pytest.fixture(scope="session")
def report(small):
    gold, runs, texts = small
    return build_report(gold, runs, MEASURES, docs=texts, task="spans")


@pytest.fixture(scope="session")
def page(report, tmp_path_factory):
    """The page's address."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def shown(browser, page):
    """A browser with the report open and its first article drawn."""
    browser.open("about:blank")
    browser.open(page)
    browser.wait("return document.documentElement.dataset.heat")
    return browser
