"""``focuseval.formats.frame_rows`` of 0.2.0, now `focuseval.formats.frames`."""  # noqa: INP001  found by `focuseval.formats`, see its `__path__`

from focuseval.formats.frames import gold_from_frame as gold_from_frame
from focuseval.formats.frames import run_from_frame as run_from_frame
