"""Progress is a bar on a terminal, a line now and then elsewhere, and nothing where nobody wants it."""

import io
import sys
from threading import Event

import click
from click.testing import CliRunner

from focuseval.cli import output
from focuseval.cli.index import shown, total_bytes
from focuseval.collection.parse import ParseReport


class Terminal(io.StringIO):
    def isatty(self):
        return True


def until(condition):
    """Wait for another thread, which ends the wait."""
    for _ in range(2000):
        if condition():
            return
        Event().wait(0.01)
    raise AssertionError("nothing was shown")


def test_a_terminal_sees_a_bar_that_moves(tmp_path, monkeypatch):
    (tmp_path / "a.xml").write_text("<a/>")
    monkeypatch.setattr(output, "SOON", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with shown([tmp_path]) as progress:
        progress(ParseReport(documents=1_234, bytes=4))
        until(lambda: "1,234 documents" in sys.stderr.getvalue())


def test_elsewhere_a_line_says_how_far_it_is_every_thirty_seconds_and_nothing_before(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with shown([tmp_path]) as progress:
        progress(ParseReport(documents=1, bytes=4))
    assert sys.stderr.getvalue() == ""
    monkeypatch.setattr(output, "EVERY", 0.01)
    with output.progress_bar("scoring", "comparing") as move:
        move(1, 2, "comparing")
        until(lambda: "comparing, 75% done after 0 s" in sys.stderr.getvalue())


def test_a_phase_that_is_done_is_not_the_whole():
    meter = output.Meter(("reading", "searching"))
    told = []
    for done in (0, 5, 10):
        meter(done, 10)
        told.append(meter.share)
    meter.phase("searching")
    assert [*told, meter.share] == [0, 0.25, 0.5, 0.5]
    meter(10, 10)
    assert meter.share == 1


def test_quiet_shows_nothing(monkeypatch):
    monkeypatch.setattr(output, "EVERY", 0.001)

    @click.command()
    @output.quiet_option
    def slow():
        with output.progress_bar("waiting"):
            Event().wait(0.05)

    assert CliRunner().invoke(slow, ["--quiet"]).stderr == ""
    assert "waiting after 0 s" in CliRunner().invoke(slow, []).stderr


def test_the_whole_is_known_for_directories_only(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.xml").write_text("<a/>")
    assert total_bytes([tmp_path]) == 4
    assert total_bytes([tmp_path, tmp_path / "d" / "a.xml"]) is None
