"""Tokens lie where the tokenizer itself says, in code points, whatever the text."""

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.tokens import RememberedTokens, TiktokenEncoding, open_tokenizer, remembered
from focuseval.errors import FocusevalError
from strategies.tokenizers import encoding, train

TEXTS = st.text(st.sampled_from("the tidemoon.,é\u0301漢🙂👩\u200d🚀\n"), max_size=60)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return open_tokenizer(train(tmp_path_factory.mktemp("tokens") / "tokenizer.json"))


@pytest.fixture(scope="module")
def tiny():
    return TiktokenEncoding(encoding())


def covered(starts, ends):
    return {place for start, end in zip(starts.tolist(), ends.tolist(), strict=True) for place in range(start, end)}


@given(text=TEXTS)
def test_tokens_of_tiktoken_begin_where_it_decodes_them(tiny, text):
    tokens = tiny.encoding.encode_ordinary(text)
    starts, ends = tiny.spans(text)
    assert starts.tolist() == tiny.encoding.decode_with_offsets(tokens)[1]
    assert covered(starts, ends) == set(range(len(text)))
    assert (starts < ends).all()


@given(text=TEXTS)
def test_tokens_of_a_file_cover_every_character(trained, text):
    starts, ends = trained.spans(text)
    assert covered(starts, ends) == set(range(len(text)))
    assert (starts[1:] >= starts[:-1]).all()
    assert (ends[1:] >= ends[:-1]).all()


def test_tokens_are_the_text_that_they_stand_for(trained, tiny):
    for tokenizer, expected in ((trained, ["the", " tide"]), (tiny, ["the", " t", "i", "de"])):
        starts, ends = tokenizer.spans("the tide")
        assert ["the tide"[start:end] for start, end in zip(starts, ends, strict=True)] == expected


def test_a_character_of_several_tokens_belongs_to_each(tiny):
    starts, ends = tiny.spans("🙂a")
    assert (starts.tolist(), ends.tolist()) == ([0, 0, 0, 1], [1, 1, 1, 2])


def test_what_looks_like_a_special_token_is_text(tiny):
    assert len(tiny.spans("<|end|>")[0]) == 7


def test_a_file_that_truncates_is_read_to_the_end(trained):
    text = "the moon " * 20
    assert trained.spans(text)[1][-1] == len(text)


def test_blanks_between_tokens_belong_to_none(tmp_path):
    starts, ends = open_tokenizer(train(tmp_path / "words.json", blanks=True)).spans("the  tide")
    assert covered(starts, ends) == {0, 1, 2, 5, 6, 7, 8}


def test_a_file_is_named_by_its_content(tmp_path):
    one, other = (open_tokenizer(train(tmp_path / f"{n}.json", blanks=bool(n))) for n in range(2))
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "0.json").write_bytes((tmp_path / "0.json").read_bytes())
    copy = open_tokenizer(f"tokenizers:{tmp_path / 'copy' / '0.json'}")
    assert one.name == copy.name != other.name
    assert one.name.startswith("tokenizers:0.json@")


def test_a_tokenizer_of_a_file_goes_to_another_process(trained):
    again = pickle.loads(pickle.dumps(trained))
    assert again.name == trained.name
    assert again.spans("the moon")[0].tolist() == trained.spans("the moon")[0].tolist()


def test_a_text_is_tokenized_once_as_long_as_there_is_room(tiny):
    asked = []

    class Counting:
        name = tiny.name

        def spans(self, text):
            asked.append(text)
            return tiny.spans(text)

    kept = RememberedTokens(Counting(), most=5)
    for text in ("tide", "moon moon", "tide", "moon moon"):
        assert [part.tolist() for part in kept.spans(text)] == [part.tolist() for part in tiny.spans(text)]
    assert asked == ["tide", "moon moon", "moon moon"]
    assert remembered(kept) is kept
    assert kept.name == "tiktoken:tiny"


def test_what_was_seen_stays_in_its_process(trained):
    kept = remembered(trained)
    kept.spans("the moon")
    again = pickle.loads(pickle.dumps(kept))
    assert (again.name, again._known) == (trained.name, {})


def test_an_open_tokenizer_is_taken_as_it_is(tiny):
    assert open_tokenizer(tiny) is tiny


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("gpt2", "expected tiktoken:NAME or tokenizers:FILE as tokenizer, found 'gpt2'"),
        ("tiktoken:", "expected tiktoken:NAME or tokenizers:FILE as tokenizer, found 'tiktoken:'"),
        ("tiktoken:nobody", "expected an encoding or a model of tiktoken, found 'nobody'; there are gpt2, "),
        ("tokenizers:absent.json", "absent.json: cannot read: No such file or directory"),
        ("tokenizers:wrong.json", "wrong.json: expected a tokenizer.json of Hugging Face's tokenizers, found: "),
    ],
)
def test_what_is_no_tokenizer_is_refused_in_one_line(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.json").write_text("{}")
    with pytest.raises(FocusevalError) as caught:
        open_tokenizer(given)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("package", "given"), [("tiktoken", "tiktoken:gpt2"), ("tokenizers", "tokenizers:t.json")])
def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, package, given):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_text("{}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(FocusevalError) as caught:
        open_tokenizer(given)
    assert str(caught.value) == f"{package} is not installed; run 'pip install focuseval[{package}]'"


def test_a_vocabulary_that_cannot_be_loaded_says_how_to_get_it(monkeypatch):
    import tiktoken  # noqa: PLC0415  only this test

    def refuse(name):
        raise OSError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", refuse)
    with pytest.raises(FocusevalError) as caught:
        open_tokenizer("tiktoken:gpt-4")
    assert str(caught.value) == (
        "tiktoken:cl100k_base: the vocabulary cannot be loaded (OSError); tiktoken downloads it once: connect, or set "
        "TIKTOKEN_CACHE_DIR to a folder that holds it"
    )
