"""A budget of tokens shows what counting them one by one shows, and its tokenizer is part of the signature."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.collection.tokens import TiktokenEncoding, open_tokenizer
from focuseval.errors import MissingDataError
from focuseval.evaluation.score_file import decisions
from oracle import highlighted as slow
from strategies.highlighted import DOCUMENTS, LENGTH, collections
from strategies.tokenizers import encoding, train

LETTERS = st.text("the tid\n🙂漢", min_size=LENGTH + 30, max_size=LENGTH + 30)
TEXTS = st.fixed_dictionaries(dict.fromkeys((*DOCUMENTS, "u1"), LETTERS))
TINY = TiktokenEncoding(encoding())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return open_tokenizer(train(tmp_path_factory.mktemp("tokens") / "tokenizer.json"))


def read(results, texts, tokenizer, budget):
    """Every character that a reader of so many tokens sees; tokens that a result cuts count."""
    seen, left = set(), budget
    for document, start, end in results:
        spans = zip(*(column.tolist() for column in tokenizer.spans(texts.get(document, ""))), strict=True)
        here = [(s, e) for s, e in spans if s < end and e > start and start < end]
        if left <= 0:
            break
        stop = end if len(here) < left else min(here[left - 1][1], end)
        seen |= {(document, i) for i in range(start, stop)}
        left -= len(here)
    return seen


@given(case=collections(), texts=TEXTS, budget=st.integers(1, 12), which=st.booleans())
def test_a_reader_of_some_tokens_sees_what_counting_them_one_by_one_shows(trained, case, texts, budget, which):
    tokenizer = trained if which else TINY
    gold, run = case
    whole = {"length": LENGTH + 30}
    gold = {t: {d: {"spans": [], **own.get(d, {}), **whole} for d in texts} for t, own in gold.items()}
    run = {t: [row for row in rows if row[0] != "u2"] for t, rows in run.items()}
    counted = {t: judged for t, judged in gold.items() if slow.relevant_documents(judged)}
    if not counted:
        return
    measures = [f"spanP@{budget}t", f"spanR@{budget}t"]
    scores = fe.evaluate(gold_of(gold), run_of(run), measures, docs=texts, tokenizer=tokenizer)
    for topic, (precision, recall) in zip(scores.topics, scores.values[0].tolist(), strict=True):
        seen = read(run.get(topic, []), texts, tokenizer, budget)
        found = len(slow.good(counted[topic], seen))
        assert precision == pytest.approx(found / len(seen) if seen else 0)
        assert recall == pytest.approx(found / slow.trel(counted[topic]))


GOLD = gold_of({"t": {"a": {"spans": [(0, 8)], "length": 8}}})
RUN = run_of({"t": [("a", 0, 8)]})


def test_by_hand():
    # "the", " t", "i", "de": three tokens reach to the sixth character
    scores = fe.evaluate(GOLD, RUN, ["spanR@1t", "spanR@3t", "spanR@9t"], docs={"a": "the tide"}, tokenizer=TINY)
    assert scores.values.ravel().tolist() == [3 / 8, 6 / 8, 1]


def test_the_signature_names_the_tokenizer_where_tokens_were_counted():
    tokens = fe.evaluate(GOLD, RUN, ["spanR@3t"], docs={"a": "the tide"}, tokenizer=TINY)
    others = fe.evaluate(GOLD, RUN, ["spanR@3c"], docs={"a": "the tide"}, tokenizer=TINY)
    assert tokens.signature.endswith("|tokenizer:tiktoken:tiny")
    assert "tokenizer" not in others.signature
    assert decisions(tokens.signature)["tokenizer"] == "tiktoken:tiny"
    assert decisions(others.signature)["tokenizer"] == "none"


def test_a_budget_of_tokens_needs_a_tokenizer_and_the_texts():
    with pytest.raises(MissingDataError) as caught:
        fe.evaluate(GOLD, RUN, ["spanR@3t"], docs={"a": "the tide"})
    assert str(caught.value) == (
        'spanR@3t: a budget of tokens needs a tokenizer; give tokenizer="tiktoken:cl100k_base" '
        'or tokenizer="tokenizers:FILE"'
    )
    with pytest.raises(MissingDataError, match="a budget of tokens needs the text of the documents"):
        fe.evaluate(GOLD, RUN, ["spanR@3t"], tokenizer=TINY)
