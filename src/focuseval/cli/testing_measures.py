"""From the options of ``focuseval fidelity`` to the text that it prints."""

from __future__ import annotations

import json
from typing import Any


def fidelity_text(gold: str, options: dict[str, Any]) -> str:
    """Run the tests and return what they found in the layout asked for."""
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.printing import width_for  # noqa: PLC0415  as above
    from focuseval.cli.scoring import write_curves  # noqa: PLC0415  as above
    from focuseval.fidelity import fidelity  # noqa: PLC0415  as above
    from focuseval.fidelity.tables import as_json, tables  # noqa: PLC0415  as above
    from focuseval.tables import render  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    found = fidelity(judged, options["measures"] or None, index)
    if options["curves"]:
        write_curves(found.recall_base, options["curves"])
    if options["layout"] == "json":
        return json.dumps(as_json(found), ensure_ascii=False, indent=1) + "\n"
    signature = found.space.scores.signature
    return render(tables(found), options["layout"], signature=signature, width=width_for(options))
