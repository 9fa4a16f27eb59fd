"""The page of agreement between people and a model, in a browser: a local server stands in for the model."""

from contextlib import closing

import pytest

from browser import illustrate, start_driver
from focuseval.assessment import open_project
from focuseval.example import ROOT
from page_folders import marked
from strategies.model_server import ModelServer, answer, asked_text
from strategies.projects import as_person, command


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Two people and a model over the pool of the embedded example's runs; one marks the first half of each passage."""
    monkeypatch.chdir(tmp_path)
    runs = sorted(map(str, (ROOT / "runs" / "focused").iterdir()))
    command("pool", *runs, "-o", "pool.jsonl")
    begin = {"collection": str(ROOT / "articles"), "topics": str(ROOT / "topics.xml"), "pool": "pool.jsonl"}
    passages = marked()
    with closing(open_project("sea", **begin)) as project:
        as_person(project, "ann", passages)
        as_person(project, "bob", {unit: [text[: len(text) // 2] for text in some] for unit, some in passages.items()})

    def model(body, number):
        text = asked_text(body)
        found = [quote for some in passages.values() for quote in some if quote in text]
        return answer([*found[: number % 3], *(["The sea is never still."] if number % 4 == 0 else [])])

    with ModelServer(model) as server:
        command("judge", "sea", "--endpoint", server.url, "--model", "llama3.1:8b")
    command("project", "agreement", "sea", *runs, "-m", "MAiP", "-o", "agreement.html")
    return tmp_path / "agreement.html"


def test_the_page_of_agreement_fits_a_phone_and_complains_of_nothing(campaign):
    driver = start_driver()
    try:
        browser = driver.browser()
        browser.size(390, 800)
        browser.open(campaign.as_uri())
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.run("return document.querySelectorAll('svg[role=img][aria-label]').length") == 6
        illustrate(browser, "agreement-page", height=900)
        assert browser.errors() == []
        browser.close()
    finally:
        driver.close()
