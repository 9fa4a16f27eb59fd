"""Every command of the command line, the verbs of groups among them."""

import click

from focuseval.cli import COMMANDS, main


def every_command():
    """Yield the words of every command, such as "score" or "project users add", and the command."""
    for name in COMMANDS:
        yield from leaves(name, main.get_command(click.Context(main), name))


def leaves(words, command):
    """Yield a command, or the commands of a group instead of the group."""
    if not isinstance(command, click.Group):
        yield words, command
    else:
        for name, inner in command.commands.items():
            yield from leaves(f"{words} {name}", inner)


LEAVES = dict(every_command())
