"""Equal tokenizers are proved so; every other pair has a short counterexample."""

import itertools
import json
import random
import unicodedata

import pytest
import regex
import tiktoken
from click.testing import CliRunner

import tokbench
from tokbench_identity.commands.equal import equal as command
from tokbench_identity.equal import equal
from tokbench_identity.equal.patterns import UndecidedError, compare_patterns
from tokbench_identity.equal.recipe import compare_stages
from tokbench_identity.mutants.model import StageModel
from tokbench_plugins.bpe import BPETokenizer

TEXTS = ["the thin thing then thinks of the other 1234567 things 12 123 12 123 don't", "naïve café née"] * 3
GPT4 = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TIKTOKEN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
PIECES = [
    "a", "b", "[ab]", "[^a]", "(?:ab|a)", "(?:a|ab)", "a?", "a?+", "b*", "b*+", "[ab]+", "a+?", "b{1,2}", "b{1,2}+",
    "(?!a)", "(?=b)", "(?i:B)", "(?:b+a|c)?", "a{0}", "(?:a?b?)*",
]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        ("", "[]", False),
        ("'<a>'", '[{"content": "<a>", "lstrip": false}]', False),
        ("'<a>'\n'<b>'", '[{"content": "<a>", "lstrip": false}]', True),
        ('[{"content": "<a>", "lstrip": true}]', '[{"content": "<a>", "lstrip": false}]', True),
    ],
)
def test_names_alone_tell_no_rules(one, other, differs):
    class Staged:
        """A tokenizer of which nothing but stages is known."""

        vocab_size = 0
        encode = decode = None

        def __init__(self, added):
            self.stages = {"split": "a", "added tokens": added}

    stages = compare_stages([Staged(one), Staged(other)])
    assert ("added tokens" in stages.differing) == differs


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The content of a tokenizer.json."""
    trained = tokbench.train("huggingface", TEXTS, 330, store=False, pre_tokenization=GPT4)
    path = tmp_path_factory.mktemp("json") / "tokenizer.json"
    trained.save(path)
    return json.loads(path.read_text())


@pytest.fixture
def changed(content, tmp_path):
    """Loads a tokenizer.json, changed by a function."""

    def make(change=lambda content: None, backend="huggingface"):
        copied = json.loads(json.dumps(content))
        change(copied)
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.json"
        path.write_text(json.dumps(copied))
        return tokbench.load(backend, path=str(path))

    return make


def quick(one, other):
    return equal(one, other, minutes=0.02)  # a proof needs no texts


@pytest.mark.slow
def test_engines_of_one_file_are_equal(changed):
    assert quick(changed(), changed(backend="tokbench_bpe")).verdict == "equal"
    assert quick(changed(), changed(lambda c: c.update(truncation=None))).verdict == "equal"


def test_missing_nfc_is_found(changed):
    counterexample = equal(changed(), changed(lambda c: c.update(normalizer={"type": "NFC"}))).counterexample
    assert (counterexample.cause, len(counterexample.text), counterexample.shortest) == ("normalizer", 1, True)
    assert unicodedata.normalize("NFC", counterexample.text) != counterexample.text
    assert "B makes NFC of it" in counterexample.why


def test_prefix_space_is_found(changed):
    def prefix(content):
        content["pre_tokenizer"]["pretokenizers"][-1]["add_prefix_space"] = True

    counterexample = equal(changed(), changed(prefix)).counterexample
    assert (counterexample.cause, len(counterexample.text)) == ("prefix space", 1)


@pytest.mark.slow
def test_shorter_runs_of_digits_are_found(changed):
    def shorter(content):
        split = content["pre_tokenizer"]["pretokenizers"][0]["pattern"]
        split["Regex"] = split["Regex"].replace("{1,3}", "{1,2}")

    counterexample = equal(changed(), changed(shorter)).counterexample
    assert (counterexample.text, counterexample.pieces, counterexample.cause) == (
        "012",
        (["0", "12"], ["0", "1", "2"]),
        "split",
    )


@pytest.mark.slow
def test_one_other_token_is_found(changed):
    def other(content):  # "th" and an id that no merge makes change places
        vocabulary = content["model"]["vocab"]
        vocabulary["th"], vocabulary["0"] = vocabulary["0"], vocabulary["th"]

    counterexample = equal(changed(), changed(other)).counterexample
    assert (counterexample.text, counterexample.cause, counterexample.shortest) == ("0", "ids", True)

    def without(content):
        made = [a + b for a, b in map(_halves, content["model"]["merges"])]
        del content["model"]["merges"][made.index("123")]

    counterexample = equal(changed(), changed(without)).counterexample
    assert (counterexample.text, counterexample.pieces) == ("123", (["123"], ["12", "3"]))


def _halves(merge):
    return merge.split(" ") if isinstance(merge, str) else merge


def use(pairs):
    """Change the merges of a tokenizer.json."""

    def change(content):
        vocabulary = content["model"]["vocab"]
        for token in map("".join, sorted(pairs)):
            vocabulary.setdefault(token, len(vocabulary))
        content["model"]["merges"] = [list(pair) for pair in pairs]

    return change


@pytest.mark.slow
def test_swapped_merges_that_meet_are_found(changed):
    merges = [[("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")]]
    counterexample = equal(*(changed(use(order)) for order in merges)).counterexample
    assert (counterexample.text, counterexample.cause) == ("abc", "merges")
    assert counterexample.pieces == (["ab", "c"], ["a", "bc"])


@pytest.mark.slow
def test_swapped_merges_that_never_meet_are_equal(changed):
    merges = [("p", "q"), ("v", "w"), ("pq", "r")]
    assert quick(changed(use(merges)), changed(use([merges[k] for k in (0, 2, 1)]))).verdict == "equal"


@pytest.mark.slow
def test_an_opaque_tokenizer_is_never_equal():
    answer = quick("utf8_bytes", tokbench.train("regex_bpe:gpt2", [""], 256))
    assert answer.verdict == "unknown"
    assert answer.texts > 0
    assert any(reason.startswith("A: ") for reason in answer.not_proved)


def test_copies_are_equal():
    assert equal("utf8_bytes", "utf8_bytes").verdict == "equal"


def test_exit_codes_name_the_answer(tmp_path):
    run = CliRunner().invoke
    assert run(command, ["utf8_bytes", "utf8_bytes"]).exit_code == 0
    shown = run(command, ["utf8_bytes", "utf16_units", "--json"])
    assert (shown.exit_code, json.loads(shown.stdout)["counterexample"]["cause"]) == (1, "token")
    damaged = tmp_path / "tokenizer.json"
    damaged.write_text("{}")
    with pytest.raises(tokbench.InputError):
        equal(str(damaged), "utf8_bytes")


def cuts(pattern, text):
    """The matches of a pattern, and what lies between them, by the library."""
    return StageModel(list, split=(pattern,)).chunks(text)


@pytest.mark.slow
def test_random_patterns_are_decided_as_by_the_library():
    chosen = random.Random(1)
    texts = ["".join(chars) for k in range(5) for chars in itertools.product("abcB", repeat=k)]
    decided = 0
    for _ in range(40):
        branches = ["".join(chosen.choices(PIECES, k=chosen.randint(1, 3))) for _ in range(3)]
        one, other = ("|".join([*(b for b in branches[k:] if regex.search(b, "") is None), r"[\s\S]"]) for k in (0, 1))
        one, other = (
            pattern.removesuffix(r"|[\s\S]") if chosen.random() < 0.5 else pattern for pattern in (one, other)
        )
        if any(
            regex.match(pattern, text) and not regex.match(pattern, text)[0]
            for pattern in (one, other)
            for text in texts
        ):
            continue
        try:
            words = compare_patterns(one, other)
        except UndecidedError:
            continue
        decided += 1
        shortest = next((text for text in texts if cuts(one, text) != cuts(other, text)), None)
        assert all(cuts(one, word) != cuts(other, word) for word in words), (one, other, words)
        size = len(words[0]) if words else 0
        assert size == len(shortest or "") or size > 4, (one, other, words, shortest)
    assert decided > 20


def test_known_splits_are_decided():
    assert compare_patterns(GPT4, GPT4.replace("{1,3}", "{1,2}"))[0] == "000"
    assert compare_patterns(GPT4, LLAMA3) == []
    assert compare_patterns(GPT4, TIKTOKEN)[0] == "\n\t"
    assert compare_patterns(GPT4, TIKTOKEN, [b"\n\t\n", b" the"]) == []
    assert compare_patterns(GPT4, TIKTOKEN, [b"\n\t", b" the"])


@pytest.mark.parametrize("pattern", [r"a(?=bc)", r"(a)|b", r"\bword", r"a|^b", r"(?:ab)?+b", r"(?>a)", r"a*"])
def test_what_the_machine_cannot_do_is_undecided(pattern):
    with pytest.raises(UndecidedError):
        compare_patterns(pattern, pattern + "|b")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "right", "wrong"),
    [
        pytest.param("o200k_base", r"[\r\n/]*", r"[\r\n]*", marks=pytest.mark.nightly),
        pytest.param("o200k_base", r"\p{M}", "", marks=pytest.mark.nightly),
        pytest.param(
            "o200k_base",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
            "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])",
            marks=pytest.mark.nightly,
        ),
        ("cl100k_base", r"\p{N}", r"\d"),
    ],
    ids=["line ends and slashes", "marks", "long s", "digits"],
)
@pytest.mark.usefixtures("tiktoken_files")
def test_splits_that_a_real_vocabulary_hardly_shows(encoding, right, wrong):
    """Each of them was missed by millions of texts."""
    own = tiktoken.get_encoding(encoding)
    assert right in own._pat_str
    pair = [
        BPETokenizer.from_ranks(own._mergeable_ranks, split, {})
        for split in (own._pat_str, own._pat_str.replace(right, wrong))
    ]
    answer = equal(*pair)
    assert answer.verdict == "different"
    one, other = (tokenizer.encode(answer.counterexample.text) for tokenizer in pair)
    assert one != other
    assert len(answer.counterexample.text) < 10
