"""What many tests share: the folder of real data, a browser, an object store; each may be absent."""

import faulthandler
import gc
import os
import signal
import threading
from functools import wraps
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from browser import start_driver
from focuseval.assessment.database import Database
from object_store import object_store

settings.register_profile("tests", deadline=None, max_examples=10, derandomize="CI" in os.environ)
settings.register_profile("many", settings.get_profile("tests"), max_examples=60)  # the newest Python that CI tries
settings.register_profile(  # `make mutants`: the same examples every time, and no search for the smallest that fails
    "mutants", settings.get_profile("tests"), max_examples=25, derandomize=True, database=None,
    phases=(Phase.explicit, Phase.generate),
)  # fmt: skip
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tests"))

PATIENCE = 240
"""Seconds that a test may take to set up, to run or to clean up; the slowest needs a tenth of it on a quiet machine."""

DATA = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_make_parametrize_id(val, argname):
    """Name a zip by its argument: it holds the time when it was made, and all workers must collect the same names."""
    return argname if isinstance(val, bytes) and val.startswith(b"PK") else None


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Start a worker more than there are cores (``-n auto``): many tests wait for a browser or a server."""
    cores = yield
    return cores + 1


class Stuck(BaseException):
    """A test waited too long; no ``except Exception`` on its way may hide that."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Raise where a test waits when its time is up, be it for a process, a lock or an answer."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        return (yield)

    def stop(*_):
        faulthandler.dump_traceback()
        raise Stuck(f"not done after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, 10)  # and again: what cleans up may wait for the same
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


pytest_runtest_setup = pytest_runtest_teardown = pytest_runtest_call


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Look for garbage only in what the tests make: thousands of them are collected, and stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real articles and span gold; a test that needs it skips where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no data folder at {DATA}: set FOCUSEVAL_DATA to run this test")
    return DATA


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Plays and articles that lie beside the tests; all of ``shared_data`` is larger, and may be absent."""
    return Path(__file__).parent / "real"


@pytest.fixture(scope="session")
def driver():
    """What starts browsers; skips where Chromium is missing."""
    started = start_driver()
    yield started
    started.close()


@pytest.fixture(scope="session")
def shared_browser(driver):
    """One browser for the tests that need no other."""
    one = driver.browser()
    yield one
    one.close()


@pytest.fixture
def browser(shared_browser, request):
    """The shared browser, logged out, of a desk's size and in the light, with nothing in its console.

    Without service workers, as over HTTP from another machine, unless a test is marked: to start one for every server
    takes a quarter of the time of the tests that are not about it.
    """
    ordinary = request.node.get_closest_marker("service_worker") is None
    if ordinary:
        source = "delete Navigator.prototype.serviceWorker"
        added = shared_browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=source)
    shared_browser.cdp("Network.clearBrowserCookies")
    shared_browser.size(1600, 1000)
    shared_browser.errors()  # what earlier tests left in the console
    yield shared_browser
    shared_browser.rest()
    if ordinary:
        shared_browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **added)


@pytest.fixture(scope="session")
def store():
    """A real object store over HTTP, with a bucket; skips where moto is missing."""
    pytest.importorskip("moto")
    with object_store() as started:
        yield started


@pytest.fixture(autouse=True, scope="session")
def _no_wait_for_the_disk():
    """Let nothing in this process wait until bytes are on the disk: a test ends programs, never the machine."""
    connect = Database._connect

    @wraps(connect)
    def connected(self):
        connection = connect(self)
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", os.fstat)  # which refuses what is no file, too
        patched.setattr(Database, "_connect", connected)
        yield


@pytest.fixture(autouse=True, scope="session")
def _interruptible():
    """Let programs that tests start end with SIGINT, as a user's do, even where the tests run in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
