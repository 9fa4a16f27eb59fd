"""``focuseval.formats.trec_rag_run`` of 0.2.0, now `focuseval.formats.trec_rag`."""  # noqa: INP001  found by `focuseval.formats`, see its `__path__`

from focuseval.formats.trec_rag import place_run as place_run
