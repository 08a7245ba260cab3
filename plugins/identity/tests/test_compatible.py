"""Which ids of one tokenizer may be used for another."""

import json

import pytest
from click.testing import CliRunner

import tokbench
from tokbench_identity.commands.compatible import compatible as command
from tokbench_identity.compatible import compatible

TEXTS = ["the thin thing", "thin"]


class Letters:
    """ASCII, each letter an id from ``first`` on, with ``unused`` more ids at the end."""

    def __init__(self, first=0, unused=0, special=()):
        self.first, self.vocab_size = first, first + 128 + unused
        self.special_ids = {name: first + 128 + k for k, name in enumerate(special)}

    def encode(self, text, /):
        return [self.first + byte for byte in text.encode("ascii", "replace")]

    def decode(self, ids, /):
        return b"".join(map(self.token_bytes, ids)).decode()

    def token_bytes(self, token_id, /):
        return bytes([token_id - self.first]) if self.first <= token_id < self.first + 128 else b""


class Pairs(Letters):
    """Two letters are an id where there are two left."""

    def __init__(self):
        super().__init__()
        self.vocab_size = 128 + (1 << 14)

    def encode(self, text, /):
        data = text.encode("ascii", "replace")
        pairs = [data[k : k + 2] for k in range(0, len(data), 2)]
        return [128 + (pair[0] << 7 | pair[1]) if len(pair) > 1 else pair[0] for pair in pairs]

    def token_bytes(self, token_id, /):
        return bytes([token_id]) if token_id < 128 else bytes([token_id - 128 >> 7, token_id - 128 & 127])


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [
        (Letters(), Letters(), "same"),
        (Letters(), Letters(unused=9), "padding"),
        (Letters(), Pairs(), "subset"),
        (Letters(), Letters(first=1), "mapping"),
    ],
    ids=["same", "padding", "subset", "mapping"],
)
def test_levels_follow_from_ids(one, other, level):
    answer = compatible(one, other, TEXTS)
    assert answer.level == level
    assert [answer.meets(required) for required in ("mapping", "subset", "padding", "same")] == [
        True,
        level != "mapping",
        level in {"padding", "same"},
        level == "same",
    ]


def test_shares_are_counted_by_hand():
    """th|e_|th|in|_t|hi|ng and th|in are 9 pairs of 18 letters; xyz is xy|z."""
    overlap = compatible(Letters(), Pairs(), [*TEXTS, "xyz"]).overlap
    assert overlap.tokens == (21, 11)
    assert overlap.shared == pytest.approx(1 / 21)
    assert overlap.chunks == pytest.approx({"1:1": 1 / 11, "n:1": 10 / 11, "1:n": 0, "n:m": 0})
    turned = compatible(Pairs(), Letters(), ["xyz"]).overlap
    assert (turned.shared, turned.chunks["1:n"]) == (0.5, 0.5)


def test_cuts_at_other_places_are_n_to_m():
    gpt2, other = (tokbench.train("regex_bpe:gpt2", [text], 257, store=False) for text in ("abab", "bcbc"))
    overlap = compatible(gpt2, other, ["abc"]).overlap
    assert (overlap.shared, overlap.chunks["n:m"]) == (0, 1)


def test_other_surfaces_are_left_out_and_said():
    class Spaced(Letters):
        def encode(self, text, /):
            return super().encode(f" {text}")

    answer = compatible(Letters(), Spaced(), TEXTS)
    assert (answer.overlap.rewritten, answer.overlap.shared) == (2, None)
    assert any("2 documents" in line for line in answer.undecided)


def test_special_tokens_that_moved_are_named():
    answer = compatible(
        Letters(unused=3, special=["<s>", "</s>"]), Letters(unused=3, special=["<s>", "<pad>", "</s>"]), TEXTS
    )
    assert answer.special == ("</s> is 129 in A, 130 in B", "<pad> is only in B")


@pytest.fixture
def model(tmp_path):
    """A folder of a model whose files do not agree."""
    tokenizer = tokbench.train("huggingface", TEXTS, 262, store=False, special_tokens=["<s>", "</s>", "<pad>"])
    tokenizer.save(tmp_path / "tokenizer.json")
    files = {
        "tokenizer_config.json": {"eos_token": "</s>", "pad_token": "<pad>", "bos_token": "<bos>"},
        "config.json": {"vocab_size": 200, "eos_token_id": 1, "pad_token_id": 3},
        "generation_config.json": {"eos_token_id": [1, 900]},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    return tmp_path


def test_files_of_a_model_are_checked(model):
    """A folder is what AutoTokenizer makes of it, which adds the missing <bos>; its file named alone has none."""
    file = str(model / "tokenizer.json")
    answer = compatible(file, str(model), TEXTS)
    faults = [line.removeprefix("A: ") for line in answer.faults if line.startswith("A")]
    assert len(faults) == 4
    assert len(answer.faults) - len(faults) == 3
    for words in ("bos is '<bos>'", "vocab_size is 200", "pad is 3", "eos is id 900"):
        assert sum(words in fault for fault in faults) == 1, words
    answer = compatible(file, file, TEXTS)
    assert (answer.level, answer.meets("same"), answer.meets("subset")) == ("same", False, True)
    assert all(line.startswith("A: ") for line in compatible(str(model), Letters(), TEXTS).faults)


def test_require_sets_the_exit_code():
    run = CliRunner().invoke
    assert run(command, ["utf8_bytes", "utf8_bytes", "--require", "same"]).exit_code == 0
    shown = run(command, ["utf8_bytes", "utf16_units", "--require", "padding", "--json"])
    assert (shown.exit_code, json.loads(shown.stdout)["level"]) == (1, "none")
    assert run(command, ["utf8_bytes", "utf16_units"]).exit_code == 0


def test_special_tokens_with_other_names_are_faults():
    one, other = (Letters(unused=1, special=[name]) for name in ("<|im_end|>", "<|end_of_msg|>"))
    answer = compatible(one, other, TEXTS)
    assert answer.faults == ("id 128 is <|im_end|> in A, <|end_of_msg|> in B",)
    assert [answer.meets(level) for level in ("subset", "padding", "same")] == [True, False, False]
