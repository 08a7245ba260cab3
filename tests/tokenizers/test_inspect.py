"""Vocabulary health: what is found in vocabularies made by hand and in real ones, with proof where it can be had."""

import json

import pytest
import regex
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.files import is_utf8
from tokbench.inspect.examine import Severity, examine
from tokbench.inspect.fragments import can_be_text, completions
from tokbench.inspect.tokens import script_of
from tokbench_plugins.bpe.formats import Parts, write_ranks
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.bpe.tokenizer import BPETokenizer

pytestmark = pytest.mark.usefixtures("no_process")

BYTES = {bytes([i]): i for i in range(256)}


def test_every_character_has_its_script():
    """Against the property of each character; planes beyond the first two have Han and what is common."""
    every = "".join(chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000)
    own = regex.findall(r"[^\p{Common}\p{Inherited}\p{Unknown}]", every)
    text, scripts = "".join(own), {script_of(char) for char in own[::40]}
    assert scripts.isdisjoint({"none", "several", "other"})
    assert len(scripts) > 120
    for script in scripts:
        assert {script_of(char) for char in regex.findall(rf"\p{{Script={script}}}", text)[:300]} == {script}
    assert {char for char in own[::7] if script_of(char) == "none"} == set()


def found(health):
    return {finding.rule: [token.id for token in finding.tokens] for finding in health.findings}


class Wrapped:
    """A tokenizer with a few things wrong."""

    def __init__(self, inner, special_ids=None, unreachable=()) -> None:
        self.inner, self.special_ids, self.unreachable = inner, special_ids or {}, unreachable
        self.vocab_size = inner.vocab_size

    def encode(self, text, /):
        ids = self.inner.encode(text)
        return [i for i in ids if i not in self.unreachable]

    def decode(self, ids, /):
        return self.inner.decode(ids)

    def token_bytes(self, token_id, /):
        return self.inner.token_bytes(token_id)


@given(st.text(min_size=1, max_size=6), st.data())
def test_any_part_of_a_text_can_be_text_and_is_completed(text, data):
    whole = text.encode()
    start = data.draw(st.integers(0, len(whole) - 1))
    part = whole[start : data.draw(st.integers(start + 1, len(whole)))]
    assert can_be_text(part)
    found = completions(part, 64)
    assert found
    assert all(part in each.encode() for each in found)
    assert (found == [part.decode()]) if is_utf8(part) else not any(each.encode() == part for each in found)


@given(st.binary(min_size=1, max_size=4))
def test_what_cannot_be_text_has_no_completion(data):
    assert bool(completions(data, 64)) == can_be_text(data)


def test_a_token_that_no_merge_builds_is_unreachable():
    # Ranks made by hand: 'abc' could only come from 'ab' + 'c' or 'a' + 'bc'; 'bc' is merged first, and 'a' + 'bc' is.
    ranks = BYTES | {b"bc": 256, b"ab": 257, b"abc": 258, b"abcd": 259}
    health = examine(BPETokenizer.from_ranks(ranks, None, {"<end>": 300}))
    assert "unreachable" not in found(health)
    # 'xyz' in two steps that other merges forestall.
    merges = [(121, 122), (120, 121), (257, 122)]  # yz, xy, xyz: of 'xyz' the merge yz always comes first
    health = examine(BPETokenizer(merges))
    assert found(health)["unreachable"] == [258]
    [finding] = [finding for finding in health.findings if finding.rule == "unreachable"]
    assert finding.severity == Severity.ERROR
    assert finding.tokens[0].remark == "its text is encoded as [120, 256]"
    assert health.failed


def test_special_tokens_gaps_duplicates_and_junk():
    ranks = BYTES | {b"==": 256, b"====": 257, b"========": 258}
    health = examine(BPETokenizer.from_ranks(ranks, None, {"<end>": 300}))
    assert found(health) == {
        "junk": [258],
        "never UTF-8": [0xC0, 0xC1, *range(0xF5, 0x100)],
        "special": [300],
        "gap": list(range(259, 300)),
    }
    assert not health.failed
    assert health.kinds["gap"] == 41
    assert sum(health.kinds.values()) == health.vocab_size == 301


def test_a_special_token_that_text_gives_is_an_error():
    ranks = BYTES | {b"<e": 256, b"<e>": 257}
    health = examine(Wrapped(BPETokenizer.from_ranks(ranks, None), {"<e>": 257}))
    assert found(health)["special token from text"] == [257]
    assert health.failed


def test_an_id_that_the_tokenizer_never_gives():
    health = examine(Wrapped(tokbench.load("utf8_bytes"), unreachable={65, 0xE2}))
    assert found(health)["unreachable"] == [65]
    assert found(health)["no text found"] == [0xE2]


def test_a_tokenizer_that_tells_no_bytes():
    class Letters:
        vocab_size = 128

        def encode(self, text, /):
            return [ord(c) for c in text if ord(c) < 128 and c != "q"]

        def decode(self, ids, /):
            return "".join(map(chr, ids))

    assert found(examine(Letters())) == {"unreachable": [ord("q")]}


@pytest.mark.slow
def test_halves_of_characters_are_not_called_unreachable():
    health = examine(tokbench.load("utf16_units"))
    halves = list(range(0xD800, 0xE000))
    assert found(health) == {"undecodable": halves, "duplicate": [0xD800]}
    assert health.findings[1].tokens[0].remark == "also 55297, 55298, 55299, 55300 and 2,044 more"
    assert not health.failed


@pytest.mark.slow
def test_a_published_vocabulary(data, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(data / "tiktoken_cache"))
    health = examine(tokbench.load("tiktoken", encoding="cl100k_base"))
    rules = found(health)
    assert rules["special"] == [*range(100257, 100261), 100276]
    assert rules["gap"] == [100256, *range(100261, 100276)]
    assert len(rules["never UTF-8"]) == 13
    # Every other id is given by some text: nothing is cried out for a leading space or a contraction.
    assert "no text found" not in rules
    assert not health.failed
    assert sum(health.kinds.values()) == health.vocab_size


def test_unreachable_pieces_of_t5_are_beaten_in_the_model_itself(data):
    path = data / "spm" / "t5_base.model"
    health = examine(tokbench.load("sentencepiece", path=path))
    lost = found(health)["unreachable"]
    assert lost == [6385, 8853]
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=str(path))
    for piece in lost:
        [*parts] = model.encode(model.id_to_piece(piece).replace("▁", " "))
        assert "".join(map(model.id_to_piece, parts)) == model.id_to_piece(piece)
        # A unigram model takes the best path: where parts score higher, they do so in every text.
        assert sum(map(model.get_score, parts)) > model.get_score(piece)


@pytest.mark.slow
def test_byte_fallback_gives_twins_and_no_false_alarm(data):
    health = examine(tokbench.load("sentencepiece", path=data / "spm" / "mistral_v1.model"))
    rules = found(health)
    assert not health.failed
    assert len(rules["twin"]) == len(rules["duplicate"]) == 125
    assert rules["no text found"] == [197, 198]  # 0xC2 and 0xC3: every character that begins with them has a piece
    assert rules["special"] == [1, 2]


@pytest.mark.parametrize(
    ("change", "found_ids"),
    [
        ({"added_tokens": [{"id": 1600, "content": "<x>", "special": True}]}, [256]),
        ({"vocab": {"zz": 97}}, [97]),
        ({}, []),
    ],
)
def test_ids_other_than_in_the_file(change, found_ids, tmp_path):
    pytest.importorskip("tokenizers")
    content = tokenizer_json(Parts(BPETokenizer([]).vocabulary, "gpt2"))
    content["model"]["vocab"] |= change.get("vocab", {})
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    content["added_tokens"] = [token | flags for token in change.get("added_tokens", [])]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    done = inspect(f"huggingface:{path}", "--json")
    findings = {finding["rule"]: finding for finding in json.loads(done.stdout)["findings"]}
    wrong = findings.get("not as in the file", {"severity": "error", "tokens": []})
    assert (wrong["severity"], [token["id"] for token in wrong["tokens"]]) == ("error", found_ids)
    assert done.exit_code == bool(found_ids)


@pytest.mark.slow
def test_caution_is_shown_with_numbers(tmp_path):
    path, text = tmp_path / "mine.tiktoken", tmp_path / "mine.txt"
    text.write_text("some text\n", encoding="utf-8")
    write_ranks(path, BYTES)
    for call in (["cost", str(text), "-t", str(path)], ["show", "some text", "-t", str(path)], ["inspect", str(path)]):
        assert "caution: split gpt4 assumed" in CliRunner().invoke(command, call).output
    BPETokenizer([]).export("tiktoken", path)
    assert "caution" not in inspect(str(path)).output


def inspect(*arguments):
    return CliRunner().invoke(command, ["inspect", *arguments])


def test_inspect_says_what_it_found(tmp_path):
    (tmp_path / "a.txt").write_text("banana\nbandana\n", encoding="utf-8")
    done = inspect("utf8_bytes", "--text", str(tmp_path / "*.txt"))
    assert done.exit_code == 0
    for said in ("note: never UTF-8: 13 ids", "no errors", "in 2 documents, 13 tokens", "single byte: 239: 0 "):
        assert said in done.stdout
    whole = json.loads(inspect("utf8_bytes", "--json").stdout)
    assert whole["vocab_size"] == sum(whole["kinds"].values()) == 256
    assert whole["failed"] is False


def test_inspect_lists_candidates_for_glitch_tokens(tmp_path):
    path = tmp_path / "fixed.bpe.json"
    BPETokenizer([(98, 97), (120, 121), (257, 122), (258, 122)], "gpt4").save(path)  # ba, xy, xyz, xyzz
    (tmp_path / "a.txt").write_text("banana\n", encoding="utf-8")
    arguments = ("regex_bpe", "-O", f"path={path}", "--text", str(tmp_path / "a.txt"))
    assert "    259 xyzz (1 merge from 'xyz')\n    258 xyz (1 merge from 'xyzz')" in inspect(*arguments).stdout
    corpus = json.loads(inspect(*arguments, "--json").stdout)["corpus"]
    assert [token["id"] for token in corpus["candidates"]] == [259, 258, 257]
    assert corpus["apart"]["scaffold"] == [{"id": 98, "text": "b", "remark": "built 1, emitted 0"}]


def test_inspect_is_a_gate(tmp_path):
    path = tmp_path / "forestalled.bpe.json"
    BPETokenizer([(121, 122), (120, 121), (257, 122)], "gpt4").save(path)
    done = inspect("regex_bpe", "-O", f"path={path}")
    assert done.exit_code == 1
    assert "error: unreachable: 1 id: " in done.stdout
    assert "258 xyz (its text is encoded as [120, 256])" in done.stdout
    assert "no errors" not in done.stdout


def test_inspect_refuses_bad_input():
    assert "unknown key 'size'" in str(inspect("utf8_bytes", "-O", "size=3").exception)
    assert isinstance(inspect("utf8_bytes", "--text", "nowhere/*.txt").exception, tokbench.InputError)
