"""Ids, paths, offsets, quotes and texts → document rows and spans: the only package that places anything.

`place_run` and `place_gold` put a run or a gold into a collection, once; everything that needs to know where a result
or a highlight lies reads what they found: the columns `start` and `end`, and the `focuseval.data.placement.Placement`
beside them. `page` places texts in one document, and says which occurrence is nearest; `anchor` finds highlights again
in a text that has changed.
"""

from focuseval.placing.place import align_gold, align_run, place_gold, place_run
from focuseval.placing.texts import SIMILARITY, align_chunks

__all__ = ["SIMILARITY", "align_chunks", "align_gold", "align_run", "place_gold", "place_run"]
