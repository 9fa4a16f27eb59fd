"""The embedded example: seventeen articles on finding one's way at sea, a harbour's handbook, topics, gold and runs.

::

    articles/<shelf>/<name>.xml      written for this project, in its own words
    topics.xml, judgements.toml      what six readers wanted to know, and what was highlighted for them
    topics-2009.xml                  the same topics as the campaigns of 2009 and 2010 wrote them
    gold/gold.jsonl                  the highlights as spans
    gold/assessments/101.xml …       the same in the form of 2005–2007
    gold/qrels.txt                   the same in the form of 2008–2010
    runs/<task>/…                    three runs for each task: careful, coarse, hasty
    runs/spans/…                     two chunkings, for retrieval-augmented generation
    harbour/docs/…, questions.toml   a harbour's handbook, and what 42 visitors asked, with the sentences that answer it
    harbour/gold.jsonl               the same as spans

All but the first two lines, and the handbook, are derived by `make example`.
"""

from focuseval.example.files import ROOT, copy_example

__all__ = ["ROOT", "copy_example"]
