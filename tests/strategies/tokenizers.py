"""Small tokenizers that tests make themselves: trained on a few lines, or written down."""

from pathlib import Path

LINES = ["the tide and the moon", "tides follow the moon", "the ships sail with the tide 🙂 naïve 漢字"] * 3


def train(path: Path, *, blanks: bool = False) -> str:
    """Train a tokenizer and save it: byte pairs of all bytes, or words and pieces of words between blanks."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415  few tests need it

    if blanks:
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=60, special_tokens=["[UNK]"], show_progress=False)
    else:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(LINES, trainer)
    made.enable_truncation(max_length=4)  # as many published files have it; focuseval reads to the end
    made.save(str(path))
    return f"tokenizers:{path}"


def encoding():
    """Return an encoding of tiktoken: all bytes, and a few pairs."""
    import tiktoken  # noqa: PLC0415  few tests need it

    pairs = (b"th", b"the", b" t", b"ti", b"de", b"tide", b"mo", b"on", b"\xf0\x9f")
    ranks = {bytes([byte]): byte for byte in range(256)} | {pair: 256 + n for n, pair in enumerate(pairs)}
    return tiktoken.Encoding(
        "tiny", pat_str=r" ?\w+|[^\w]", mergeable_ranks=ranks, special_tokens={"<|end|>": 256 + len(pairs)}
    )
