"""Runs made from the gold itself, in a controlled way: what a measure should prefer is known beforehand.

``full``, ``ideal``, ``reversed`` and ``leaves`` are the recall-base runs of Kazai and Lalmas (2005); ``S-R`` …
``S_ST-R_SI`` the space of Pehcevski and Thom (2007), see `focuseval.studies.simulation.parts` and
`focuseval.studies.simulation.ranking`; ``random`` and ``degraded`` turn a dial from the ideal order to chance.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from focuseval.errors import MeasureError
from focuseval.studies.simulation.parts import SELECTIONS
from focuseval.studies.simulation.ranking import RANKINGS

if TYPE_CHECKING:
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run
    from focuseval.studies.simulation.degraded import Dial

RECALL_BASE_KINDS = ("full", "ideal", "reversed", "leaves")
SPACE = tuple(f"{s}-{r}" for s, r in product(SELECTIONS, RANKINGS))
DIAL_KINDS = ("random", "degraded")
KINDS = (*RECALL_BASE_KINDS, *SPACE, *DIAL_KINDS)
"""Everything `simulate` can make."""


def simulate(
    gold: Gold,
    kind: str,
    index: Any = None,
    *,
    dial: Dial | None = None,
    quant: str = "auto",
    without: tuple[str, ...] = (),
) -> Run:
    """Return a simulated run of the named kind; `dial` turns ``random`` and ``degraded``.

    `without` are tags that the recall base leaves out, and with it every run that is made of it; the runs of the S×R
    space are made of the highlighted text, and keep them.

    Runs of elements from a gold of highlights, and every kind of S but ``S`` itself, need the collection's `index`.
    """
    from focuseval.measures.matching.prepared import prepare  # noqa: PLC0415  KINDS must be cheap to list
    from focuseval.studies.simulation import degraded, recall_base, space  # noqa: PLC0415  as above

    if kind not in KINDS:
        raise MeasureError(f"expected a kind among {', '.join(KINDS)}, found {kind!r}")
    prepared = prepare(gold, index)
    if kind in RECALL_BASE_KINDS:
        return recall_base.recall_base_run(prepared, kind, quant, without)
    if kind in DIAL_KINDS:
        return degraded.degraded_run(prepared, kind, dial or degraded.Dial(), without)
    return space.space_run(prepared, kind)
