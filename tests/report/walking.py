"""The walk that the report is made for: verdict, topic, ranked lists, text, another pair, the same address again.

`walk` does one step after the other in a browser and yields what each step shows; the test checks them, the film
(`make film`) photographs them.
"""

from collections.abc import Iterator

READY = "return document.documentElement.dataset.heat"


def choose(browser, picker: str, text: str) -> None:
    """Choose an option of a picker by its words."""
    browser.run(
        """const pick = document.getElementById(arguments[0]);
        pick.value = [...pick.options].find((one) => one.textContent.startsWith(arguments[1])).value;
        pick.dispatchEvent(new Event('change'));""",
        picker,
        text,
    )
    browser.wait(READY)


def move(browser, amount: int) -> None:
    """Move the cut-off's slider."""
    browser.run(
        """const slider = document.getElementById('cut-amount');
        slider.value = arguments[0];
        slider.dispatchEvent(new Event('input'));""",
        amount,
    )
    browser.wait(READY)


def scroll(browser, selector: str) -> None:
    browser.run("document.querySelector(arguments[0]).scrollIntoView({ behavior: 'instant' })", selector)


def walk(browser, page: str, other: str, measure: str) -> Iterator[str]:
    """Go from the verdict into the text, choose another pair and measure, and open the same address again."""
    browser.open("about:blank")
    browser.open(page)
    browser.wait(READY)
    yield "verdict"
    scroll(browser, "#topics")
    yield "topics"
    scroll(browser, "#answer")
    browser.run("document.querySelector('#deciding tbody a').click()")
    browser.wait("return document.activeElement.id === 'lists-title'")
    browser.wait(READY)
    scroll(browser, "#heat")
    yield "lists"
    scroll(browser, "#text-title")
    yield "text"
    amount = browser.run("return Number(document.getElementById('cut-amount').max)")
    scroll(browser, "#heat")
    move(browser, amount)
    yield "cut"
    choose(browser, "pick-b", other)
    choose(browser, "pick-measure", measure)
    scroll(browser, "#answer")
    yield "pair"
    address = browser.address
    browser.open("about:blank")
    browser.open(address)
    browser.wait(READY)
    scroll(browser, "#heat")
    yield "again"
