"""SentencePiece models by hand: written as tokenizer.json they give the same ids, or are refused with the cause."""

import itertools
import json
import random

import pytest

from tokbench_plugins.sentencepiece.export import tokenizer_json
from tokbench_plugins.sentencepiece.proto import ModelKind, ModelPiece, PieceType
from tokbench_plugins.sentencepiece.tokenizer import make_tokenizer

tokenizers = pytest.importorskip("tokenizers")
write_model = pytest.importorskip("tokbench_engines.gguf.metadata").write_model
pytestmark = pytest.mark.packages

SPACE = "\u2581"
UNKNOWN, CONTROL, DEFINED, UNUSED = PieceType.UNKNOWN, PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNUSED
TEXTS = ["".join(some) for size in range(1, 5) for some in itertools.product("abc ", repeat=size)]


def pieces_of(normal, *others):
    """Return the pieces of a model: ``normal`` with their scores, and all characters below them."""
    chars = [char for char in (SPACE, *"abc") if char not in normal and all(char != other.text for other in others)]
    last = min(normal.values(), default=0)
    scored = normal | {char: last - 1 - k for k, char in enumerate(chars)}
    first = [ModelPiece("<unk>", 0, UNKNOWN), ModelPiece("</s>", 0, CONTROL), *others]
    return [*first, *(ModelPiece(text, score, PieceType.NORMAL) for text, score in scored.items())]


def without(pieces, text):
    return [piece for piece in pieces if piece.text != text]


CASES = {
    "sound": (pieces_of({"ab": -1, "abc": -2}), ""),
    "equal scores": (pieces_of({f"a{SPACE}": -1, f"{SPACE}a": -1}), "has the score of another"),
    "equal scores of a run and another": (pieces_of({f"b{SPACE}": -1, "bb": -1}), "has the score of another"),
    "equal scores of runs": (pieces_of({SPACE * 2: -9, SPACE * 4: -9}), ""),
    "a character that is no piece": (without(pieces_of({f"a{SPACE}": -1}), SPACE), "which is not a piece"),
    "user-defined beside built ones": (pieces_of({"ab": -1}, ModelPiece("ca", 0, DEFINED)), ""),
    "user-defined beside one that is not built": (
        pieces_of({"abab": -1}, ModelPiece("ca", 0, DEFINED)),
        "no merge builds it",
    ),
    "unused": (pieces_of({"ab": -1}, ModelPiece("ca", -5, UNUSED)), "1 pieces are unused"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_condition_is_asked_by_merges_and_by_the_file(name):
    pieces, cause = CASES[name]
    model = write_model(pieces, ModelKind.BPE)
    tokenizer = make_tokenizer(model)
    if cause:
        with pytest.raises(ValueError, match=cause):
            tokenizer_json(model)
    else:
        library = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(model)))
        assert [library.encode(text).ids for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]
    assert hasattr(tokenizer, "merges") == (cause in {"", "no merge builds it"})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_random_pieces_are_written_alike_or_refused(seed):
    drawn = random.Random(seed)
    texts = {"".join(drawn.choices(f"ab{SPACE}", k=drawn.randint(2, 4))) for _ in range(drawn.randint(1, 7))}
    scores = {text: -drawn.randint(1, 9) for text in sorted(texts)}
    others = [ModelPiece(f"<0x{byte:02X}>", 0, PieceType.BYTE) for byte in range(256)] if seed % 2 else []
    if seed % 3 == 0:
        others.append(ModelPiece(drawn.choice(["<u>", "cc", "ac"]), 0, DEFINED))
    pieces = pieces_of(scores, *others)
    pieces = without(pieces, drawn.choice("abc")) if seed % 5 == 0 else pieces
    model = write_model(pieces, ModelKind.BPE, adds_space=seed % 7 > 2, joins_spaces=seed % 11 == 0)
    tokenizer = make_tokenizer(model)
    try:
        library = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(model)))
    except ValueError:
        return
    texts = [*TEXTS, "cc<u>a", " ac"]
    assert [library.encode(text).ids for text in texts] == [tokenizer.encode(text) for text in texts]
