"""``focuseval publish``: a gold and its documents as one citable file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from focuseval.assessment.publish import WANTED, Card, missing_facts
from focuseval.assessment.publish import publish as write_collection
from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, say_written
from focuseval.errors import InputError, MissingDataError, counted


@click.command(cls=Command, opens=READS)
@click.argument("gold", metavar="GOLD")
@click.option("-o", "--output", metavar="FILE.zip", type=click.Path(path_type=Path), help="The file to write.")
@click.option("--title", default="", help="What the collection is called.")
@click.option("--description", default="", help="What it is for, in a sentence or two.")
@click.option("--licence", "--license", default="", help="Of gold and documents, such as CC-BY-4.0.")
@click.option("--creator", "creators", multiple=True, metavar="NAME", help="Who made it; may be repeated.")
@click.option("--citation", default="", help="How it is to be cited.")
@click.option("--source", default="", help="Where the documents come from, and their licence.")
@click.option("--language", default="", help="Of the documents, such as en.")
@click.option("--url", default="", help="Where the collection can be had.")
@click.option("--hashes", is_flag=True, help="Hashes in place of the documents' texts, which may not be passed on.")
@click.option("--check", is_flag=True, help="Write nothing; say what is missing, and exit with 1 if anything is.")
@shared.gold_options
def publish(gold: str, output: Path | None, **options: Any) -> None:
    r"""Write GOLD and its documents as one file that others can cite, load and score with.

    The file holds documents, topics and highlights as JSON lines, a data card with a datasheet that is filled in from
    what is known, Croissant metadata, and the SHA-256 of every file; unpacked, it is a data set of Hugging Face. GOLD
    may be a project. 'focuseval score FILE.zip RUN' needs nothing else.

    \b
    Examples:
      focuseval publish gold.jsonl --docs docs/ --check
      focuseval publish gold.jsonl --docs docs/ -o harbour.zip --title "Harbour handbook" --licence CC-BY-4.0
      focuseval publish judging/ --merge majority -o sea.zip --title Sea --hashes
    """
    judged, index = shared.read_judged(gold, options)
    if index is None:
        raise MissingDataError(f"{gold}: expected the documents, found none; give --docs or --index")
    card = Card(**{name: options[name] for name in (*WANTED, "language", "url")})
    missing = missing_facts(judged, card)
    if options["check"]:
        if missing:
            click.echo("\n".join(f"missing: {line}" for line in missing))
            raise InputError(f"{gold}: {counted(len(missing), 'fact is', 'facts are')} missing; give them as options")
        click.echo("nothing is missing")
        return
    if output is None:
        raise click.UsageError("Name the file with -o, such as -o collection.zip, or ask --check.")
    echo_lines(write_collection(judged, index, output, card, texts=not options["hashes"]))
    echo_lines(f"missing: {line}" for line in missing)
    say_written(str(output), "nothing is missing" if not missing else "see above for what is missing")
