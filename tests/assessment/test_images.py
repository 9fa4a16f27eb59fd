"""Images of figures beside the text: given out by number to those who may see the document, and never by a path."""

import numpy as np
import pytest

from focuseval import open_documents
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key
from focuseval.collection.pdfium import png
from focuseval.collection.rendering import DocumentCache
from strategies.assessing import save

from .conftest import Site

PICTURE = png(np.full((40, 60, 3), 200, np.uint8))
PAGE = '<h1>Tides</h1><p>Before.</p><figure><img src="wave.png"><figcaption>A wave.</figcaption></figure><p>End.</p>'


@pytest.fixture
def pages(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "tides.html").write_text(PAGE.replace("wave.png", "../secret.png") + PAGE)
    (docs / "plain.txt").write_text("No figure.")
    (docs / "wave.png").write_bytes(PICTURE)
    (tmp_path / "secret.png").write_bytes(PICTURE)
    return DocumentCache(open_documents(docs))


@pytest.fixture
def pooled(store, pages):
    add_to_pool(store, [Pooled("11", "tides"), Pooled("12", "plain")], actor="lead")
    return store


def asked(client, number=0, document="tides", topic="11"):
    return client.get("/api/image", topic=topic, document=document, number=number)


def test_an_image_is_given_out_as_what_it_is_and_runs_nothing(alone):
    answer = asked(alone.enter())
    assert (answer.status_code, answer.mimetype, answer.data) == (200, "image/png", PICTURE)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("number", [1, "-1", "../../secret.png", "", "9" * 30])
def test_a_number_that_no_image_has_is_not_found(alone, number):
    assert asked(alone.enter(), number).status_code == 404


def test_a_document_out_of_the_pool_has_no_image_and_nobody_sees_one_without_logging_in(alone, together):
    assert asked(alone.enter(), topic="12").status_code == 404
    assert asked(together.anonymous()).status_code in (302, 401, 403)
    assert asked(together("lea")).status_code == 200


def test_an_image_is_seen_in_its_place_and_the_text_stays_the_text(pooled, pages, browser):
    save(pooled, {"kind": "finish", "relevant": False}, Key("bob", "11", "tides"), pages.get("tides"))
    site = Site(pooled, pages)
    try:
        site.let_in(browser)
        for path in ("/read", "/adjudicate/document"):
            browser.open(site.address(f"{path}?topic=11&document=tides"))
            browser.wait("return document.querySelector('.image img')?.naturalWidth === 60")
            shown = browser.run(
                """return [...document.querySelectorAll("#text .block")].map((one) => one.textContent).join("")"""
            )
            assert shown == pages.plain("tides").text
            script = 'return document.querySelector(".image").nextElementSibling.textContent.trim()'
            assert browser.run(script) == "A wave."
    finally:
        site.stop()
