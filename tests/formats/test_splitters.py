"""Splitters of other packages: their texts are placed in the documents, also repeated ones."""

import importlib.util
import logging

import pytest

import focuseval as fe
from focuseval.collection.chunks import extent
from focuseval.errors import FocusevalError

TEXT = "Stir well. Add tea. Stir well. Serve.\n\nStir well."
INSTALLED = {name: importlib.util.find_spec(name) for name in ("langchain_text_splitters", "llama_index")}


class Sentences:
    """A splitter as simple as can be."""

    def split_text(self, text):
        logging.getLogger("splitter").warning("not shown")
        return [f"{part.strip()}." for part in text.split(".") if part.strip()]


def test_repeated_texts_find_their_places_by_their_order(capsys):
    found = fe.chunk({"a": TEXT, "b": ""}, Sentences())
    assert found.start.tolist() == [0, 11, 20, 31, 39]
    assert (found.name, found.remarks) == ("Sentences", ())
    assert capsys.readouterr().err == ""


def test_a_text_that_the_document_does_not_have_is_left_out_and_counted():
    class Shouting:
        def split_text(self, text):
            return ["QQQQQQQQ", text[:18]]

    found = fe.chunk({"a": TEXT}, Shouting())
    assert found.start.tolist() == [0]
    assert found.remarks == ("Shouting: 2 chunks: 1 exact, 0 ambiguous, 1 lost; what has no place is left out",)


def test_what_is_no_splitter_is_refused():
    with pytest.raises(FocusevalError, match="or a splitter with split_text, found 400"):
        fe.chunk({"a": TEXT}, 400)


@pytest.mark.parametrize(
    ("package", "spec", "install"),
    [
        ("langchain_text_splitters", "langchain:RecursiveCharacterTextSplitter:20", "langchain-text-splitters"),
        ("llama_index", "llamaindex:SentenceSplitter:20", "llama-index-core"),
    ],
)
def test_a_package_that_is_absent_is_named(package, spec, install):
    if INSTALLED[package]:
        pytest.skip(f"{package} is installed")
    with pytest.raises(FocusevalError) as caught:
        fe.chunk({"a": TEXT}, spec)
    assert str(caught.value) == f"{spec}: {install} is not installed; run 'pip install {install}'"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("package", "spec"),
    [
        ("langchain_text_splitters", "langchain:RecursiveCharacterTextSplitter:20/15"),
        ("langchain_text_splitters", "langchain:CharacterTextSplitter:20"),
        ("llama_index", "llamaindex:SentenceSplitter:12/10"),
        ("llama_index", "llamaindex:TokenTextSplitter:12/10"),
    ],
)
def test_the_real_splitters_are_placed_without_a_loss(package, spec):
    if not INSTALLED[package]:
        pytest.skip(f"{package} is not installed: see the dependency group 'frameworks'")
    steps = (f"Step {number}: stir well, then wait {number} minutes." for number in range(12))
    index = fe.open_documents({"a": "\n\n".join(steps)})
    found = fe.chunk(index, spec)
    assert (found.name, found.remarks) == (spec, ())
    assert extent(found, index).left_out == 0


@pytest.mark.filterwarnings("ignore")
def test_a_class_that_does_not_exist_is_refused_with_the_nearest():
    if not INSTALLED["langchain_text_splitters"]:
        pytest.skip("langchain_text_splitters is not installed: see the dependency group 'frameworks'")
    with pytest.raises(FocusevalError, match="found 'CharacterTextSpliter'; did you mean CharacterTextSplitter"):
        fe.chunk({"a": TEXT}, "langchain:CharacterTextSpliter:20")


@pytest.mark.filterwarnings("ignore")
def test_a_splitter_counts_the_tokens_of_a_tokenizer():
    if not INSTALLED["langchain_text_splitters"]:
        pytest.skip("langchain_text_splitters is not installed: see the dependency group 'frameworks'")
    from focuseval.collection.tokens import TiktokenEncoding  # noqa: PLC0415  only this test
    from strategies.tokenizers import encoding  # noqa: PLC0415  as above

    tiny = TiktokenEncoding(encoding())
    found = fe.chunk({"a": TEXT}, "langchain:RecursiveCharacterTextSplitter:9", tokenizer=tiny)
    assert all(len(tiny.spans(text)[0]) <= 9 for text in found.texts(fe.open_documents({"a": TEXT})))
