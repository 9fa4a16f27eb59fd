"""The command line: one module for a command or a few, imported when one of them is called."""

from focuseval.cli.commands import COMMANDS, SECTIONS, main, run

__all__ = ["COMMANDS", "SECTIONS", "main", "run"]
