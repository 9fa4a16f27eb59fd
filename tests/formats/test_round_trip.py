"""Reading what was written gives it back, for all that a format can say."""

import numpy as np
import pytest
from hypothesis import given

from focuseval.formats import FORMATS, detect_source, find_format, source_of
from strategies.golds import golds, judged
from strategies.runs import runs, said

EVERY = ("document", "element", "range", "passage", "span", "point", "mixed")


def again(run, name):
    written = b"".join(find_format(name, "run").write(run))
    source = source_of(written, "file")
    assert detect_source(source, "run").module == find_format(name, "run").module
    return find_format(name, "run").read(source)


@given(runs(("document",)))
def test_a_trec_run_keeps_all_it_can_say(run):
    assert said(again(run, "trec-run")) == said(run)


@given(runs(("element", "range", "span", "point", "mixed")))
def test_an_inex_text_run_keeps_all_it_can_say(run):
    assert said(again(run, "inex-text")) == said(run)


@given(runs(EVERY, header=True))
def test_an_inex_xml_run_keeps_all_it_can_say(run):
    assert said(again(run, "inex-xml")) == said(run)


@given(runs(EVERY, scores=False))
def test_an_xml_run_without_scores_stays_without(run):
    assert said(again(run, "inex-xml")) == said(run)


@given(runs(EVERY, ranks=False))
def test_an_xml_run_without_ranks_stays_without(run):
    assert said(again(run, "inex-xml")) == said(run)


@given(runs(EVERY))
def test_a_jsonl_run_keeps_all_it_can_say(run):
    assert said(again(run, "run-jsonl")) == said(run)


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("trec-qrels", "trec"),
        ("gold-jsonl", "trec"),
        ("inex-2002", "coverage"),
        ("inex-2003", "grades"),
        ("inex-2005", "exhaustivity"),
        ("inex-2008", "spans"),
    ],
)
def test_a_gold_format_keeps_all_it_can_say(name, scale):
    @given(golds(scale))
    def keeps(gold):
        written = b"".join(find_format(name, "gold").write(gold))
        source = source_of(written, "file")
        assert detect_source(source, "gold").name == name
        assert judged(find_format(name, "gold").read([source])) == judged(gold)

    keeps()


@given(golds("spans"))
def test_a_gold_of_spans_in_jsonl_keeps_all_but_the_sum_of_the_highlights(gold):
    source = source_of(b"".join(find_format("gold-jsonl", "gold").write(gold)), "file")
    back = judged(find_format("gold-jsonl", "gold").read([source]))
    assert back | {"articles.rsize": judged(gold)["articles.rsize"]} == judged(gold)


@given(runs(("span",)))
def test_scores_survive_to_the_last_bit(run):
    for name in ("inex-text", "inex-xml", "run-jsonl"):
        assert np.array_equal(again(run, name).score, run.score)


def test_every_format_documents_itself_with_a_sample():
    for known in FORMATS:
        assert "::" in known.documentation, known.name
        assert known.documentation.splitlines()[0].endswith((".", ":"))
