"""Progress is a bar on a terminal, a line now and then elsewhere, and nothing where nobody wants it."""

import io
import sys
from threading import Event

import click

from focuseval.cli import output
from focuseval.cli.index import total_bytes


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


@click.command(cls=output.Command, opens=output.NO, phases=("scoring", "comparing"))
@click.argument("work")
@click.pass_context
def slow(context, work):
    """Do something, as a test says."""
    with output.progress_bar() as move, output.progress_bar() as again:
        assert again is move
        context.obj[work](move)


def ended(work, *options):
    """Run a command that does some work in its bar, and return what stands on the standard error."""
    before, sys.stderr = sys.stderr, sys.stderr if isinstance(sys.stderr, Terminal) else io.StringIO()
    try:
        slow.main(["work", *options], obj={"work": work}, standalone_mode=False)
        return sys.stderr.getvalue()
    finally:
        sys.stderr = before


def test_a_terminal_sees_a_bar_that_moves_and_remarks_above_it(monkeypatch):
    monkeypatch.setattr(output, "SOON", 0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")

    def work(move):
        move(1, 2, "1,234 documents")
        until(lambda: "1,234 documents" in terminal.getvalue())
        output.echo_lines(["a remark"])
        assert "a remark\n" in terminal.getvalue()

    ended(work)


def test_elsewhere_a_line_says_how_far_it_is_every_thirty_seconds_and_nothing_before(monkeypatch):
    assert ended(lambda move: move(1, 2)) == ""
    monkeypatch.setattr(output, "EVERY", 0.01)

    def work(move):
        move(1, 2, "comparing")
        until(lambda: "comparing, 75% done after 0 s" in sys.stderr.getvalue())

    ended(work)


def test_no_bar_stands_between_the_lines_of_the_standard_output(monkeypatch):
    monkeypatch.setattr(output, "EVERY", 0.01)

    def work(move):
        until(sys.stderr.getvalue)
        move.writes("-")
        assert not move.watcher.is_alive()

    ended(work)


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
    wait = lambda _: Event().wait(0.05)  # noqa: E731
    assert ended(wait, "--quiet") == ""
    assert "scoring, 0% done after 0 s" in ended(wait)


def test_the_whole_is_known_for_directories_only(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.xml").write_text("<a/>")
    assert total_bytes([tmp_path]) == 4
    assert total_bytes([tmp_path, tmp_path / "d" / "a.xml"]) is None
