"""Reports on small campaigns, and a browser to look at their pages."""

import pytest

from browser import start_driver
from focuseval.report import build_report, render_html
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


@pytest.fixture(scope="session")
def driver():
    started = start_driver()
    yield started
    started.close()


@pytest.fixture(scope="session")
def shared_browser(driver):
    one = driver.browser()
    yield one
    one.close()


@pytest.fixture
def browser(shared_browser):
    shared_browser.size(1600, 1000)
    yield shared_browser
    shared_browser.open("about:blank")
    shared_browser.errors()


@pytest.fixture
def shown(browser, page):
    """A browser with the report open and its first article drawn."""
    browser.open("about:blank")
    browser.open(page)
    browser.wait("return document.documentElement.dataset.heat")
    return browser
