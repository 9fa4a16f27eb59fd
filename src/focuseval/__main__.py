"""``python -m focuseval`` is the command."""

from focuseval.cli import main

main(prog_name="focuseval")
