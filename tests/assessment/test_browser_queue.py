"""The browser's queue: what waits, where it is shown, and what becomes of it, in a real browser."""

import pytest

from focuseval.assessment.progress import moment_of
from focuseval.assessment.store import Key
from strategies.pages import ARTICLE, page_from_xml

pytestmark = pytest.mark.service_worker

PAGE = page_from_xml("a/tides", ARTICLE)
ANN = Key("ann", "11", "a/tides")
SAVED = "return document.getElementById('saving').textContent === 'Saved'"
UNSAVED = "return document.getElementById('saving').textContent === arguments[0]"
HELD = "const node = document.getElementById('held'); return node.hidden ? '' : node.innerText"
WAITING = "const node = document.getElementById('waiting'); return node.hidden ? '' : node.textContent"
STORED = "return localStorage.length"


@pytest.fixture
def desk(site, browser):
    site.let_in(browser)
    site.read(browser)
    return browser


def judgement(site, key=ANN):
    return site.store.judgement(key).judgement


def leave_without_sending(browser, keys, count):
    """Edit while the server is away, and leave the page as a crash would."""
    browser.keys(*keys)
    browser.wait(UNSAVED, f"{count} unsaved")
    browser.run("desk.queue.items = []")
    browser.open("about:blank")


def elsewhere(site, edit, key=ANN):
    """Somebody edits the document from another browser."""
    page = site.pages.get(key.document)
    version = site.store.judgement(key).version
    site.store.edit(key, page, edit, version=version, token=f"elsewhere-{version}")


def second_tab(browser):
    first = browser.call("GET", "/window")
    second = browser.call("POST", "/window/new", {"type": "tab"})["handle"]

    def go_to(handle):
        browser.call("POST", "/window", {"handle": handle})

    return (lambda: go_to(first)), (lambda: go_to(second))


def test_edits_of_one_document_are_sent_from_any_other_page(site, desk):
    site.stop()
    leave_without_sending(desk, ("j", "j", "j", "x", "j", "x"), 2)
    site.start()
    desk.open(site.address("/"))
    desk.wait(STORED + " === 0")
    assert len(judgement(site).highlights) == 2


def test_edits_of_one_document_are_sent_from_the_page_of_another(site, desk):
    site.stop()
    leave_without_sending(desk, ("j", "x"), 1)
    site.start()
    site.read(desk, "b/plain")
    desk.wait(STORED + " === 0")
    assert judgement(site).highlights == ((0, 5),)


def test_what_waits_is_shown_on_every_page(site, desk):
    for path in ("/topic?topic=11", "/adjudicate", "/exchange", "/read?topic=11&document=b/plain"):
        desk.open(site.address(path))
        item = """
          const where = { topic: "12", document: "c/other" };
          const item = { id: "a-000001", user: "ann", where, edit: { kind: "skip" }, version: 0, token: "token-12345" };
          window.fetch = () => Promise.reject(new Error("away"));
          localStorage.setItem(JSON.stringify(["focuseval", document.body.dataset.project, "ann", item.id]),
                               JSON.stringify(item));"""
        desk.run(item)
        desk.wait(WAITING + ".includes('1 edit waits in this browser for the server')")
        desk.run("localStorage.clear()")
        desk.wait("return document.getElementById('waiting').hidden")


def test_a_conflict_lists_every_edit_and_offers_each_until_it_is_answered(site, desk):
    site.stop()
    leave_without_sending(desk, ("j", "x", "f", "j", "j", "s", "h"), 3)
    site.start()
    elsewhere(site, {"kind": "note", "text": "from elsewhere"})
    site.read(desk)
    desk.wait(HELD + ".includes('changed elsewhere')")
    rows = "return [...document.querySelectorAll('#held li > span:first-child')].map((node) => node.textContent)"
    assert desk.run(rows) == ["highlight “Tides”", "flag", "highlight “The moon pulls the sea.”"]
    assert judgement(site).highlights == ()
    desk.keys("j", "b")
    desk.wait(SAVED)
    assert len(desk.run(rows)) == 3, "an edit in between does not hide them"
    site.read(desk)
    assert len(desk.run(rows)) == 3, "nor does loading the page again"
    desk.open(site.address("/"))
    desk.wait(WAITING + ".includes('3 edits of a/tides need your answer')")
    desk.click("#waiting a")
    desk.wait("return document.documentElement.dataset.ready")
    desk.click("#held li:nth-child(1) button:nth-child(1)")  # Do again
    desk.wait(SAVED)
    assert judgement(site).highlights == ((0, 5),)
    desk.click("#held li:nth-child(1) button:nth-child(2)")  # Leave
    assert desk.run(rows) == ["highlight “The moon pulls the sea.”"]
    desk.click("#held li:nth-child(1) button:nth-child(1)")
    desk.wait(SAVED)
    desk.wait("return document.getElementById('held').hidden")
    assert len(judgement(site).highlights) == 2
    assert not judgement(site).flagged
    assert judgement(site).note == "from elsewhere"
    assert desk.run(STORED) == 0


def test_two_tabs_on_one_document_overwrite_nothing_of_each_other(site, desk):
    first, second = second_tab(desk)
    second()
    site.read(desk)
    site.stop()
    desk.keys("j", "x")
    desk.wait(UNSAVED, "1 unsaved")
    first()
    desk.keys("j", "j", "j", "s", "h")
    desk.wait(UNSAVED, "1 unsaved")
    assert desk.run(STORED) == 2
    site.start()
    for go in (first, second):
        go()
        desk.wait("return desk.queue.items.length === 0", seconds=60)
    texts = []
    for go in (first, second):
        go()
        texts.append(desk.run(HELD))
        desk.run("document.querySelector('#held button')?.click()")
        desk.wait(SAVED)
    assert sorted(bool(text) for text in texts) == [False, True], "one was saved, the other is asked about"
    assert len(judgement(site).highlights) == 2
    assert desk.run(STORED) == 0


def test_the_same_highlight_in_two_tabs_is_nothing_to_ask_about(site, desk):
    first, second = second_tab(desk)
    second()
    site.read(desk)
    first()
    desk.keys("j", "x")
    desk.wait(SAVED)
    second()
    desk.keys("j", "x")
    desk.wait(SAVED)
    assert desk.run(HELD) == ""
    assert judgement(site).highlights == ((0, 5),)
    assert desk.run(STORED) == 0


KEPT = "return caches.open('focuseval documents').then((cache) => cache.match('/kept')).then(Boolean)"


def test_while_the_server_is_away_the_next_documents_can_be_judged(site, desk):
    desk.wait(KEPT)
    desk.wait("return Boolean(navigator.serviceWorker.controller)")
    site.stop()
    desk.keys("j", "x", "r", ".")
    desk.wait(
        "return document.documentElement.dataset.ready && document.body.innerText.includes('Second 🚢 paragraph')"
    )
    desk.keys("j", "x")
    desk.wait(UNSAVED, "1 unsaved")
    assert "2 edits wait" in desk.wait(WAITING)
    desk.keys("r", ".")
    desk.wait("return document.documentElement.dataset.ready && document.body.innerText.includes('Nothing here.')")
    desk.keys("n")
    desk.keys(".")
    desk.wait("return document.body.innerText.includes('No other document is kept in this browser.')")
    site.start()
    desk.open(site.address("/"))
    desk.wait(STORED + " === 0", seconds=60)
    statuses = {key.document: judgement(site, key).status for key in site.store.judged("ann")}
    assert statuses == {"a/tides": "relevant", "b/plain": "relevant", "c/other": "not relevant"}
    assert judgement(site, Key("ann", "11", "b/plain")).highlights


def test_who_logs_out_leaves_no_document_in_the_browser(shared_site, browser):
    shared_site.log_in(browser, "ann")
    shared_site.read(browser)
    browser.wait(KEPT)
    browser.click("form.who button")
    browser.wait("return location.pathname === '/login'")
    browser.wait("return caches.keys().then((names) => names.length === 0)")


def test_a_verdict_and_the_way_on_say_that_the_server_is_away(site, desk):
    desk.run("Object.defineProperty(navigator.serviceWorker, 'controller', { value: null })")  # as without HTTPS
    desk.keys("j", "x")
    desk.wait(SAVED)
    site.stop()
    notice = "return document.getElementById('notice').textContent"
    desk.keys("r")
    desk.wait(notice + ".includes('waits in this browser')")
    desk.keys(".")
    desk.wait(notice + ".includes('the next document comes when it is back')")
    desk.run("for (const item of desk.queue.items) item.made -= 60000")
    site.start()
    desk.wait("return location.search.includes('b%2Fplain') || location.search.includes('b/plain')", seconds=60)
    assert judgement(site).status == "relevant"
    last = [event for event in site.store.events() if event["edit"]["kind"] == "finish"][-1]
    assert 55 < (moment_of(last["at"]) - moment_of(last["edit"]["made"])).total_seconds() < 600


def test_an_edit_refused_for_good_is_named_can_be_discarded_and_does_not_block_the_rest(site, desk):
    desk.run("desk.edit({ kind: 'note', text: 'half \\ud83d of a ship' })")
    desk.keys("j", "x")
    desk.wait(SAVED)
    assert judgement(site).highlights == ((0, 5),)
    held = desk.run(HELD)
    assert "cannot be saved" in held
    assert "lone surrogate" in held
    desk.click("#held button")
    desk.wait("return document.getElementById('held').hidden")
    assert desk.run(STORED) == 0


def test_a_server_that_fails_over_one_edit_does_not_keep_the_others(site, desk):
    script = """
      const real = window.fetch;
      const failed = () => new Response('{"error": "Internal Server Error."}', { status: 500 });
      window.fetch = (path, options) => String(options?.body).includes('"flag"')
        ? Promise.resolve(failed()) : real(path, options);"""
    desk.run(script)
    desk.keys("f", "j", "x")
    desk.wait(HELD + ".includes('Internal Server Error')", seconds=30)
    desk.wait(SAVED)
    assert judgement(site).highlights == ((0, 5),)


def test_a_text_that_changed_loses_no_waiting_edit(site, desk):
    desk.keys("j", "x")
    desk.wait(SAVED)
    site.pages.put(page_from_xml("a/tides", ARTICLE.replace("Tides", "On the tides")))
    desk.keys("f")
    desk.wait(
        "return window.desk?.state?.version === 1 && document.getElementById('held').textContent.includes('flag')"
    )
    assert not judgement(site).flagged


def test_another_user_of_the_same_browser_neither_sends_nor_sees_what_waits(shared_site, browser):
    shared_site.log_in(browser, "ann")
    shared_site.read(browser)
    shared_site.stop()
    leave_without_sending(browser, ("j", "x"), 1)
    shared_site.start()
    browser.cdp("Network.clearBrowserCookies")
    browser.open(shared_site.address("/login"))
    browser.wait(WAITING + ".includes('1 edit waits in this browser until you log in')")
    shared_site.log_in(browser, "bob")
    assert browser.run(WAITING) == ""
    assert shared_site.store.judged() == []
    browser.cdp("Network.clearBrowserCookies")
    shared_site.log_in(browser, "ann")
    browser.wait(STORED + " === 0")
    assert judgement(shared_site).highlights == ((0, 5),)
