"""What ``focuseval judge`` does: read, ask, and say what came of it."""

from __future__ import annotations

import getpass
import os
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from focuseval.assessment.models.client import ModelSettings, endpoint_of
from focuseval.cli.printing import json_text
from focuseval.errors import ModelError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from focuseval.assessment.project import Project

_SETTINGS = ("endpoint", "model", "window", "jobs", "max_tokens", "timeout", "retries")


def judge_documents(folder: str, options: dict[str, Any]) -> None:
    """Judge a project's pooled documents, or print what would be asked."""
    from focuseval.assessment.project import is_project, open_project  # noqa: PLC0415  a wrong option is refused sooner

    key = _key(options["api_key_env"])
    settings = ModelSettings(**{name: options[name] for name in _SETTINGS}, key=key, assessor=options["assessor"] or "")
    if not is_project(folder):
        raise UsageError(f"{folder}: expected a project, found none; begin one with 'focuseval assess'")
    with closing(open_project(folder)) as project, project.store.database.translated("nothing more was kept"):
        if options["dry_run"]:
            _rehearse(project, settings, options)
        else:
            _judge(project, settings, options)


def _rehearse(project: Project, settings: ModelSettings, options: dict[str, Any]) -> None:
    from focuseval.assessment.models.judging import rehearse  # noqa: PLC0415  as above
    from focuseval.assessment.models.prompt import read_prompt  # noqa: PLC0415  as above

    for text in rehearse(project, settings, read_prompt(options["prompt"]), options["limit"]):
        click.echo(text)


def _judge(project: Project, settings: ModelSettings, options: dict[str, Any]) -> None:
    from focuseval.assessment.models.judging import judge_project  # noqa: PLC0415  as above
    from focuseval.assessment.models.prompt import read_prompt  # noqa: PLC0415  as above

    if settings.key and endpoint_of(settings.endpoint).is_open_to_listeners:
        click.echo("warning: the key goes over the network unencrypted; use https", err=True)
    prompt = read_prompt(options["prompt"])
    with _progress() as progress:
        limit, actor = options["limit"], getpass.getuser()
        done = judge_project(project, settings, prompt, actor=actor, limit=limit, progress=progress)
    click.echo(json_text(done.to_json()) if options["layout"] == "json" else "\n".join((*done.lines(), "")), nl=False)
    for line in done.addressed:
        click.echo(f"warning: {line}: the text speaks to a model; look at what it marked there", err=True)
    for line in done.failed:
        click.echo(f"warning: {line}", err=True)
    if done.failed:
        raise ModelError(f"{len(done.failed):,} documents have no judgement; the same command asks for them again")


def _key(variable: str | None) -> str:
    """Return the key in an environment variable."""
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"expected a key in the environment variable {variable}, found nothing; set it first")
    return key


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that moves a bar on a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  only a terminal needs it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415  same

    columns = (TextColumn("judging documents"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
