"""A headless Chromium, driven through chromedriver's own protocol: no dependency but the two programs.

`browser()` finds them or skips the test with what to install. A `Browser` types, clicks, runs scripts, takes pictures.
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    # Every test has a server of its own, and so a page of another origin: make no process ahead for the next one.
    "--disable-features=SpareRendererForSitePerProcess,BackForwardCache,ProactivelySwapBrowsingInstance",
)
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Tab": "\ue004",
    "Delete": "\ue017",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
}
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One browser with a profile of its own."""

    def __init__(self, driver, session):
        self._driver, self._session = driver, session

    def call(self, method, path, body=None):
        return self._driver.call(method, f"/session/{self._session}{path}", body)

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def rest(self):
        """Leave a page for one that does nothing; of the same site, if it has one: its process serves the next."""
        self.open(f"{self._driver.address}/status" if self.address.startswith("http:") else "about:blank")

    @property
    def address(self):
        return self.call("GET", "/url")

    def run(self, script, *arguments):
        """Run a function body in the page and return what it returns; a promise is waited for."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=30.0):
        """Run a script until it returns something true, ever less often: what it waits for needs the processor."""
        end, pause = time.monotonic() + seconds, 0.01
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(pause)
            pause = min(1.3 * pause, 0.2)
        raise AssertionError(f"not within {seconds} s: {script}")

    def keys(self, *strokes):
        """Press keys as a person does: 'j', 'Enter', 'Shift+W', 'Control+z'."""
        actions = []
        for stroke in strokes:
            *held, key = stroke.split("+") if len(stroke) > 1 else [stroke]
            values = [KEYS[name] for name in held] + [KEYS.get(key, key)]
            actions += [{"type": "keyDown", "value": value} for value in values]
            actions += [{"type": "keyUp", "value": value} for value in reversed(values)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, start, end):
        """Press the mouse at a point of the window, move it, and let it go."""
        move = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)} for x, y in (start, end)]
        middle = {**move[1], "x": (move[0]["x"] + move[1]["x"]) // 2}
        actions = [move[0], {"type": "pointerDown", "button": 0}, middle, move[1], {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def click(self, selector):
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self.call("POST", f"/element/{element}/click", {})

    def type(self, selector, text):
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self.call("POST", f"/element/{element}/value", {"text": text})

    def cdp(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height, *, dark=False):
        """Make the window a size, in the light or in the dark."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path):
        """Write what is seen as a PNG."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def errors(self):
        """What the console complained about."""
        logged = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in logged if entry["level"] == "SEVERE"]

    def close(self):
        self._driver.call("DELETE", f"/session/{self._session}")


class Driver:
    """A chromedriver process; every browser asked of it has a fresh profile."""

    def __init__(self, chromium, chromedriver):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._chromium, self.address = chromium, f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen([chromedriver, f"--port={port}", "--silent"], stdout=subprocess.DEVNULL)
        self._profiles = []
        self._wait()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def browser(self):
        profile = tempfile.mkdtemp(prefix="focuseval-browser-")
        self._profiles.append(profile)
        options = {"binary": self._chromium, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        return Browser(self, session["sessionId"])

    def close(self):
        self._process.terminate()
        self._process.wait(10)
        for profile in self._profiles:
            shutil.rmtree(profile, ignore_errors=True)

    def _wait(self):
        for _ in range(200):
            try:
                if self.call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("chromedriver did not start")


def start_driver():
    """Return a driver, or skip the test where Chromium is missing or FOCUSEVAL_BROWSER=no."""
    if os.environ.get("FOCUSEVAL_BROWSER") == "no":
        pytest.skip("FOCUSEVAL_BROWSER=no: without a browser, as asked")
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    chromedriver = shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("no Chromium: 'make browser', or apt-get install chromium chromium-driver")
    return Driver(chromium, chromedriver)


PICTURES = Path(__file__).parents[1] / "docs" / "images"


def illustrate(browser, name, width=1280, height=720, **others):
    """Write a picture of the documentation, where FOCUSEVAL_PICTURES in the environment asks for it."""
    if "FOCUSEVAL_PICTURES" in os.environ:
        browser.size(width, height, **others)
        browser.picture(PICTURES / f"{name}.png")
