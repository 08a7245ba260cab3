"""A change that is planted in a tokenizer between pin and check is found, shown in a text, and named with its cause."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tokbench.foundation.errors import InputError
from tokbench.foundation.progress import silent
from tokbench_identity.causes import Cause
from tokbench_identity.pins.check import check_lock
from tokbench_identity.pins.lock import read_lock, write_lock
from tokbench_identity.pins.pin import Request, pin

TEXTS = (
    "The otter and the other author sat by the old weir. The weather was fine, and another otter came.",
    "In 1984 she paid 12345 crowns for 678 acres; by 2024 they were worth 9876543.",
    "Cafe\u0301 au lait costs less in a cafe\u0301 without chairs.",
)
MERGES = (("t", "h"), ("h", "e"), ("th", "e"), ("e", "r"), ("\u0120", "the"), ("1", "2"), ("12", "3"), ("9", "8"))


def pipeline():
    """Return a byte-level BPE pipeline as the content of a ``tokenizer.json``."""
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(left + right for left, right in MERGES)]
    made = Tokenizer(models.BPE({token: k for k, token in enumerate(tokens)}, list(MERGES)))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<end>"])
    return json.loads(made.to_str())


def swap_merges(content):
    """Let ``he`` be merged before ``th``."""
    merges = content["model"]["merges"]
    merges[0], merges[1] = merges[1], merges[0]


def split_digits(content):
    """Cut every digit off, as Llama 2 does."""
    digits = {"type": "Digits", "individual_digits": True}
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, content["pre_tokenizer"]]}


def normalize(content):
    """Compose characters before the text is cut."""
    content["normalizer"] = {"type": "NFC"}


def add_space(content):
    """Put a space before every text."""
    content["normalizer"] = {"type": "Prepend", "prepend": " "}


def move_special(content):
    """Add a special token before the other one, whose id grows by one."""
    [end] = content["added_tokens"]
    content["added_tokens"] = [end | {"content": "<pad>"}, end | {"id": end["id"] + 1}]


def nothing(_content):
    """Leave the tokenizer as it is."""


PLANTED = {
    swap_merges: ("merges: was", Cause.MERGES),
    split_digits: ("split: was", Cause.SPLIT),
    normalize: ("normalization: was 'null', now '{\"type\": \"NFC\"}'", Cause.NORMALIZER),
    add_space: ("normalization: was 'null', now", Cause.SPACE),
    move_special: ("special tokens: <end> is 264 when pinned, 265 now; <pad> is only now", None),
}
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
NAMES = [plant.__name__ for plant in (nothing, *PLANTED)] + ["template"]


def write_tokenizer(folder: Path, name: str, content):
    (folder / f"{name}.tokenizer.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a lock of tokenizers into which changes were planted afterwards."""
    folder = tmp_path_factory.mktemp("pins")
    (folder / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    entries = {name: {"backend": "huggingface", "path": f"{name}.tokenizer.json"} for name in NAMES}
    entries["template"]["chat_template"] = "chat_template.jinja"
    corpora = {"mine": {"source": "text", "path": "texts.txt", "document": "line"}}
    config = {"schema": "tokbench/1", "name": "pinned", "corpora": corpora, "tokenizers": entries}
    (folder / "mine.yaml").write_text(json.dumps(config | {"metrics": ["compression"]}), encoding="utf-8")
    for name in NAMES:
        write_tokenizer(folder, name, pipeline())
    pins = pin(Request(folder / "mine.yaml"), folder, silent)
    assert not pins.failures
    (folder / "ids.lock").write_text(write_lock(pins.lock), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(TEMPLATE.replace("\n", "\n\n"), encoding="utf-8")
    for plant in PLANTED:
        content = pipeline()
        plant(content)
        write_tokenizer(folder, plant.__name__, content)
    return folder


@pytest.fixture(scope="module")
def checked(folder):
    """The tokenizers of the lock by name, checked."""
    checks = check_lock(read_lock(folder / "ids.lock"), folder, silent)
    assert not checks.same
    return {tokenizer.name: tokenizer for tokenizer in checks.tokenizers}


def test_what_did_not_change_is_the_same(checked):
    assert [name for name, tokenizer in checked.items() if tokenizer.same] == ["nothing"]
    assert checked["nothing"].texts == len(TEXTS)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_change_is_named(checked, plant):
    tokenizer = checked[plant.__name__]
    sentence, shown = PLANTED[plant]
    assert any(cause.startswith(sentence) for cause in tokenizer.causes), tokenizer.causes
    assert (tokenizer.first and tokenizer.first.cause) == shown


def test_a_newline_in_a_chat_template_is_named(checked):
    [cause] = checked["template"].causes
    assert cause.startswith("chat template: was 'user: Is it raining?\\nassistant: Not yet.\\n")
    assert "now 'user: Is it raining?\\n\\nassistant: Not yet.\\n\\n" in cause
    assert checked["template"].changed == ()


def test_ids_of_texts_stay_where_a_special_token_alone_moves(checked):
    assert checked["move_special"].changed == ()


def test_the_first_text_is_shown_with_both_cuts(checked):
    tokenizer = checked["swap_merges"]
    assert len(tokenizer.changed) == len(TEXTS) - 1
    assert (tokenizer.first.place, tokenizer.first.byte) == (tokenizer.changed[0], 14)
    shown = "".join(tokenizer.first.before)
    assert shown == "".join(tokenizer.first.now) == TEXTS[0][: len(shown)]
    assert " the" in tokenizer.first.before
    assert [token for token in tokenizer.first.now if token in {" ", "t", "he"}][-3:] == [" ", "t", "he"]


def test_texts_alone_tell_the_cause(folder, tmp_path):
    """Without stages, as where another backend loads the vocabulary, the texts tell it."""
    lock = read_lock(folder / "ids.lock")
    other = replace(lock, tokenizers=tuple(replace(pinned, backend="other") for pinned in lock.tokenizers))
    checks = check_lock(other, folder, silent)
    for plant, (_, shown) in PLANTED.items():
        [tokenizer] = [tokenizer for tokenizer in checks.tokenizers if tokenizer.name == plant.__name__]
        assert (tokenizer.first and tokenizer.first.cause) == shown
        assert not any(
            cause.startswith(("merges: was", "split: was", "normalization: was")) for cause in tokenizer.causes
        )


def test_other_text_is_refused(folder):
    lock = read_lock(folder / "ids.lock")
    corpora = {"mine": replace(lock.corpora["mine"], sha256="0" * 64)}
    with pytest.raises(
        InputError, match="corpus 'mine' has other text than was pinned: 3 documents, sha256 000000000000"
    ):
        check_lock(replace(lock, corpora=corpora), folder, silent)
