"""``python -m focuseval`` is the command."""

from focuseval.cli import run

run()
