"""Progress is shown on a terminal and nowhere else."""

import io
import sys

from focuseval.cli.index import shown, total_bytes
from focuseval.collection.parse import ParseReport


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_a_bar_that_moves(tmp_path, monkeypatch):
    (tmp_path / "a.xml").write_text("<a/>")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with shown([tmp_path]) as progress:
        progress(ParseReport(documents=1_234, bytes=4))
    assert "1,234 documents" in sys.stderr.getvalue()


def test_elsewhere_nothing_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with shown([tmp_path]) as progress:
        assert progress is None
    assert sys.stderr.getvalue() == ""


def test_the_whole_is_known_for_directories_only(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.xml").write_text("<a/>")
    assert total_bytes([tmp_path]) == 4
    assert total_bytes([tmp_path, tmp_path / "d" / "a.xml"]) is None
