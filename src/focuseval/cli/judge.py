"""``focuseval judge``: a language model as one more assessor."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import FiniteRange, layout_option
from focuseval.cli.outputs import WRITES, Command


@click.command(cls=Command, opens=WRITES)
@click.argument("project")
@click.option("--endpoint", required=True, metavar="URL", help="The server: http://localhost:11434/v1, https://….")
@click.option("--model", required=True, metavar="NAME", help="The model, as the server calls it.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the key; nothing else reads it.")
@click.option("--assessor", metavar="NAME", help="Another name than the model's in the label model:NAME@HASH.")
@click.option(
    "--window", type=click.IntRange(200), default=12_000, show_default=True, help="Characters of one request's text."
)
@click.option("--jobs", "-j", type=click.IntRange(1, 64), default=1, show_default=True, help="Requests at once.")
@click.option(
    "--max-tokens", type=click.IntRange(1), default=2_000, show_default=True, help="The longest answer, in tokens."
)
@click.option("--prompt", metavar="FILE", help="Ask with this text: {query}, {document}, {description}, {narrative}.")
@click.option(
    "--timeout", type=FiniteRange(0.1, 86_400), default=120.0, show_default=True, help="Seconds for one answer."
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How often to ask again after 429, 5xx or a time-out.",
)
@click.option("--limit", type=click.IntRange(1), help="Judge this many documents at most, this time.")
@layout_option("text", "json", what="How the counts are printed.")
@click.option("--dry-run", is_flag=True, help="Ask nothing: print the prompts and an estimate.")
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
      focuseval judge sea --endpoint https://llm.example.org/v1 --model large --api-key-env LLM_KEY -j 8
      focuseval assess sea --agreement -o agreement.html
      focuseval score sea run.xml -m MAgP --assessor model:llama3.1:8b@57c1681f
    """
    from focuseval.cli.judging import judge_documents  # noqa: PLC0415  help must not wait for it

    judge_documents(project, options)
