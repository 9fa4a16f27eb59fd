"""What ``focuseval assess PROJECT --agreement`` prints or writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.cli.printing import json_text, say_written, tables_text, write_text

if TYPE_CHECKING:
    from focuseval.assessment.project import Project


def show_agreement(project: Project, options: dict[str, Any]) -> None:
    """Print tables or JSON, or write a page."""
    from focuseval.assessment.models.trust import project_trust, tables  # noqa: PLC0415  help must not wait for it
    from focuseval.formats import read_run  # noqa: PLC0415  help must not wait for it

    runs = [read_run(path, index=project.documents.index) for path in options["stability"]]
    trust, output = project_trust(project, runs, options["measure"]), options["output"]
    if output and Path(output).suffix.lower() in (".html", ".htm"):
        from focuseval.assessment.models.agreement_page import render_agreement  # noqa: PLC0415  only a page needs it

        write_text(render_agreement(trust, f"Agreement in {project.folder.resolve().name}"), output)
    else:
        json = options["layout"] == "json"
        write_text(json_text(trust.to_json()) if json else tables_text(tables(trust), options), output)
    if output:
        say_written(output, f"the agreement of {len(trust.assessors)} assessors")
