"""``focuseval assess``: the assessment server, and what surrounds it."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import MERGES, include_option
from focuseval.cli.options import GRIDS, collection_options, layout_option
from focuseval.cli.outputs import READS, WRITES, Command

NEWEST = "newest"
MODES = {
    "add_user": WRITES, "remove_user": WRITES, "log_out": WRITES, "restore": WRITES, "source": WRITES, "pool": WRITES,
    "add_runs": WRITES, "guidelines": WRITES, "split": WRITES, "invite": WRITES, "reanchor": WRITES, "topics": WRITES,
    "check": READS, "export": READS, "archive": READS, "progress": READS, "agreement": READS, "stability": READS,
}  # fmt: skip
"""Option → what it does to the project. A backup is put back only where nobody has the project open."""
EXPORTS = ("everything", "gold-jsonl", "inex-2005", "inex-2008", "trec-qrels")


@click.command(cls=Command, opens=MODES)
@click.argument("project")
@collection_options
@click.option("--topics", metavar="FILE", help="Topics or questions, as for 'focuseval retrieve'; needed once.")
@click.option("--pool", metavar="POOL", help="Documents to judge, made by 'focuseval pool'; later ones top up.")
@click.option("--exhaustivity", is_flag=True, help="2005 mode: grade elements 2, 1 or ? in a second pass.")
@click.option("--assessor", metavar="NAME", help="Who assesses, or whose judgements to export or import.")
@click.option("--adjudicated", is_flag=True, help="Export what the adjudication decided.")
@click.option(
    "--merge", type=click.Choice(MERGES), help="Export one gold from all: decisions, single ones, else this rule."
)
@click.option("--imported", is_flag=True, help="With --merge: also use imported assessors.")
@include_option
@click.option("--users", metavar="FILE", help="Named assessors with passwords, for a network.")
@click.option("--add-user", metavar="NAME", help="Add a user to the --users file; asks for the password.")
@click.option(
    "--remove-user", metavar="NAME", help="Take a user out of the --users file; a running server knows at once."
)
@click.option("--log-out", metavar="NAME", help="End all sessions of a user; a running server knows at once.")
@click.option("--lead", is_flag=True, help="The same as --role lead.")
@click.option(
    "--role",
    type=click.Choice(["assessor", "lead", "reader"]),
    help="What the added or invited user may do: judge, also lead, or only look.  [default: assessor]",
)
@click.option("--invite", metavar="NAME", help="Print a link with which NAME chooses a password; it works once.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8475, show_default=True, help="0 takes a free one.")
@click.option("--name", "names", multiple=True, help="Name by which browsers reach the server; may be repeated.")
@click.option("--trusted-proxy", metavar="ADDRESS", help="Take the sender's address and HTTPS from this proxy's word.")
@click.option("--check", is_flag=True, help="Verify the file, the log, every quote and the newest backup, and exit.")
@click.option(
    "--against", metavar="FILE", help="With --check: every event of this export, archive or backup must be in the log."
)
@click.option(
    "--restore",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[BACKUP]",
    help="Put back a backup, the newest without a name; what was there is kept. Not while a server runs.",
)
@click.option("--backup-to", metavar="DIR", help="Keep the server's backups here instead of in PROJECT/backups.")
@click.option("--export", metavar="FILE", help="Write judgements and exit.")
@click.option(
    "--to", "wanted", type=click.Choice(EXPORTS), default="everything", show_default=True, help="Format of --export."
)
@click.option(
    "--import", "source", metavar="FILE", help="Read an archive, an export of everything, or judgements made elsewhere."
)
@click.option(
    "--archive", metavar="FILE", help="Write the finished collection as one .zip, --merge-d by union, and exit."
)
@click.option("--anonymous", is_flag=True, help="With --archive: call people a1, a2 … instead of by their names.")
@click.option("--add-run", "add_runs", multiple=True, metavar="RUN", help="Pool one more run; may be repeated.")
@click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="How deep --add-run pools.")
@click.option("--preview", is_flag=True, help="With --add-run: only say what it would add.")
@click.option("--guidelines", metavar="FILE", help="Markdown that every assessor reads; replaces what is there.")
@click.option(
    "--reanchor", is_flag=True, help="Move judgements to texts that changed, where every quote is found again."
)
@click.option("--progress", is_flag=True, help="Print what every assessor has done and has to do, and exit.")
@click.option("--split", type=click.Choice(["topics", "pool"]), help="Deal out topics or documents --among assessors.")
@click.option("--among", metavar="NAMES", help="Assessors, separated by commas.")
@click.option("--overlap", type=click.IntRange(1), default=1, show_default=True, help="How many assessors get each.")
@click.option(
    "--agreement",
    is_flag=True,
    help="Say how far assessors agree, and exit; with --stability also whether the runs keep their order.",
)
@click.option("--stability", multiple=True, metavar="RUN", help="Rank these runs with other assessors and depths.")
@click.option("-m", "--measure", default="MAgP", show_default=True, help="Measure for --stability.")
@layout_option(*GRIDS, what="How --agreement, --stability, --progress and --add-run are printed.")
@click.option("-o", "--output", metavar="FILE", help="Write --agreement to this file; a page if it ends in .html.")
def assess(project: str, **options: Any) -> None:
    r"""Assess pooled documents in the browser: highlight what is relevant, get a recall base.

    Everything is kept in the folder PROJECT; the collection and the topics are needed once, and an index again when
    it has moved. The link that is printed opens the server; nobody else gets in.

    \b
    Examples:
      focuseval assess sea --index sea.idx --topics topics.xml --pool pool.jsonl
      focuseval assess sea --users people --add-user ann
      focuseval assess sea --users people --invite lea --role lead
      focuseval assess sea --users people --host 0.0.0.0 --name judge.example.org
      focuseval assess sea --users people --name judge.example.org --trusted-proxy 127.0.0.1
      focuseval assess sea --split pool --among ann,bob --overlap 2
      focuseval assess sea --import answers.jsonl --assessor model-x
      focuseval assess sea --export gold.jsonl --to gold-jsonl --merge union
      focuseval assess sea --agreement --stability run1.xml --stability run2.xml -o agreement.html
      focuseval assess sea --add-run new.xml --depth 20 --preview
      focuseval assess sea --archive sea.zip --anonymous
      focuseval assess again --docs articles --import sea.zip
      focuseval assess sea --check
      focuseval assess sea --check --against everything.jsonl
      focuseval assess sea --restore
    """
    from focuseval.cli.assessing import assess_project  # noqa: PLC0415  help must not wait for it

    assess_project(project, options)
