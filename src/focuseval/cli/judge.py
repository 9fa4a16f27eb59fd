"""``focuseval judge``: a language model as one more assessor."""

from __future__ import annotations

import getpass
from contextlib import closing
from typing import Any

import click

from focuseval.assessment.models.client import ModelSettings
from focuseval.assessment.models.judging import judge_project, rehearse
from focuseval.assessment.models.prompt import read_prompt
from focuseval.assessment.project import is_project, open_project
from focuseval.cli.options import FiniteRange, combined, key_option, layout_option, tags_option
from focuseval.cli.output import WRITES, Command, echo_lines, json_text, progress_bar
from focuseval.engine.http import endpoint_of
from focuseval.errors import ModelError, UsageError, counted

SETTINGS = ("endpoint", "model", "window", "max_tokens", "timeout", "retries")
"""Options that are fields of `ModelSettings`."""
RETRIES = "How often to ask again after 429, 5xx, a timeout."

server_options = combined(
    click.option("--endpoint", required=True, metavar="URL", help="The server: http://localhost:11434/v1, https://…."),
    click.option("--model", required=True, metavar="NAME", help="The model, as the server calls it."),
    key_option,
    click.option("--window", type=click.IntRange(200), default=12_000, help="Characters of one request's text."),
    click.option("--max-tokens", type=click.IntRange(1), default=2_000, help="The longest answer, in tokens."),
    click.option("--timeout", type=FiniteRange(0.1, 86_400), default=120.0, help="Seconds for one answer."),
    click.option("--retries", type=click.IntRange(0), default=5, help=RETRIES),
)
"""Which model is asked, and how."""


def settings_of(options: dict[str, Any], **more: Any) -> ModelSettings:
    """Return how a model is asked."""
    settings = ModelSettings(**{name: options[name] for name in SETTINGS}, key=options["key"] or "", **more)
    if settings.key and endpoint_of(settings.endpoint).is_open_to_listeners:
        click.echo("warning: the key goes over the network unencrypted; use https", err=True)
    return settings


@click.command(cls=Command, opens=WRITES, phases=("judging documents",))
@click.argument("project")
@server_options
@click.option("--assessor", metavar="NAME", help="NAME in the label model:NAME@HASH, if not the model's.")
@click.option("--jobs", "-j", type=click.IntRange(1, 64), default=1, help="Requests at once.")
@click.option("--prompt", metavar="FILE", help="Ask with this text: {query}, {document}, {description}, {narrative}.")
@tags_option("--exclude-tags", "Leave out elements with these tags, such as ref-list, separated by commas.")
@tags_option("--sections", "Ask about elements with these tags alone, separated by commas.")
@click.option("--limit", type=click.IntRange(1), help="Judge at most this many documents now.")
@layout_option("text", "json", what="How the counts are printed.")
@click.option("--dry-run", is_flag=True, help="Send nothing; print the prompts and an estimate.")
def judge(project: str, **options: Any) -> None:
    r"""Let a language model assess: ask it for verbatim quotes of what is relevant, and verify every one.

    Any server with OpenAI's chat completions will do: Ollama, vLLM, llama.cpp, or a hosted one. Each quote is looked
    for in the document; one that is not there is counted and never becomes a highlight. What comes out is an assessor
    called model:NAME@HASH, where HASH stands for the prompt; it is in no gold unless it is named. Every request and
    answer is kept in PROJECT, so the same command goes on where it was interrupted. Requests go to the endpoint alone:
    proxy variables are not read, redirections are refused.

    \b
    Examples:
      focuseval judge sea --endpoint http://localhost:11434/v1 --model llama3.1:8b --dry-run
      focuseval judge sea --endpoint http://localhost:11434/v1 --model llama3.1:8b
      focuseval judge sea --endpoint http://localhost:11434/v1 --model llama3.1:8b --exclude-tags ref-list,back
      focuseval judge sea --endpoint https://llm.example.org/v1 --model large --api-key-env LLM_KEY -j 8
      focuseval project agreement sea -o agreement.html
      focuseval score sea run.xml -m MAgP --assessor model:llama3.1:8b@57c1681f
    """
    tags = {name: options[name] or () for name in ("exclude_tags", "sections")}
    settings = settings_of(options, **tags, jobs=options["jobs"], assessor=options["assessor"] or "")
    if not is_project(project):
        raise UsageError(f"{project}: expected a project, found none; begin one with 'focuseval assess'")
    with closing(open_project(project)) as opened, opened.store.database.translated("nothing more was kept"):
        prompt = read_prompt(options["prompt"])
        if options["dry_run"]:
            for text in rehearse(opened, settings, prompt, options["limit"]):
                click.echo(text)
            return
        with progress_bar(unit="number") as progress:
            limit, actor = options["limit"], getpass.getuser()
            done = judge_project(opened, settings, prompt, actor=actor, limit=limit, progress=progress)
    click.echo(json_text(done.to_json()) if options["layout"] == "json" else "\n".join((*done.lines(), "")), nl=False)
    echo_lines(f"warning: {line}: the text addresses a model; check what was marked there" for line in done.addressed)
    echo_lines(f"warning: {line}" for line in done.failed)
    if done.failed:
        what = counted(len(done.failed), "document has", "documents have")
        raise ModelError(f"{what} no judgement; the same command asks again")
