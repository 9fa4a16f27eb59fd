"""The command line: one module per command, imported when the command is called."""

from focuseval.cli.commands import COMMANDS, SECTIONS, main, run

__all__ = ["COMMANDS", "SECTIONS", "main", "run"]
