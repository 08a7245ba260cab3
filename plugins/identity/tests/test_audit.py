"""Planted attacks on files of tokenizers are named; untouched files are not accused.

Every kind of file says how each kind of attack is done to it, and the matrix of both is tried.
"""

import base64
import json
import random
import re
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner
from sentencepiece import sentencepiece_model_pb2 as proto

import tokbench
from tokbench.command import load_named, local_names
from tokbench.plugin import HasTokenBytes
from tokbench_identity.audit import audit, published_sizes
from tokbench_identity.commands.audit import audit as command
from tokbench_identity.equal import equal
from tokbench_plugins.bpe import PATTERNS

pytestmark = pytest.mark.usefixtures("tiktoken_files")

CAUSES = {
    "swap": {"ids"},
    "swap two rare": {"ids"},
    "rotate": {"ids"},
    "lose": {"merges", "token"},
    "lose many": {"merges", "token"},
    "add": {"token"},
    "digits one by one": {"split"},
    "no space before signs": {"split"},
    "ASCII letters": {"split", "normalizer"},  # a library may drop what its split skips
    "no look-ahead": {"split"},
    "no slash": {"split"},
    "compose": {"normalizer"},
    "lower": {"normalizer"},
    "strip": {"normalizer"},
    "line ends": {"normalizer"},
    "join spaces": {"normalizer"},
    "prefix space": {"prefix space"},
    "rename a mark": {"marks"},
    "swap marks": {"marks"},
    "lose a mark": {"marks", "size"},
    "add a mark": {"marks", "size"},
    "read a mark": {"marks", "added tokens"},
    "cut whole": {"merges", "split", "added tokens"},
}
"""The causes of each attack, of which an audit must name one."""

PATTERN_CHANGES = {
    "digits one by one": lambda pattern: re.sub(r"\\p\{N\}(\{1,3\}|\+)", r"\\p{N}", pattern, count=1),
    "no space before signs": lambda pattern: pattern.replace("| ?[^", "|[^"),
    "ASCII letters": lambda pattern: (
        pattern.replace(r"[^\s\p{L}", r"[^\sA-Za-z").replace(r"\p{L}", "[A-Za-z]", 1)
        if r"\p{Ll}" not in pattern
        else pattern.replace(r"\p{Ll}", "a-z")
    ),
    "no look-ahead": lambda pattern: pattern.replace(r"|\s+(?!\S)", ""),
    "no slash": lambda pattern: pattern.replace(r"[\r\n/]*", r"[\r\n]*"),
}
NORMALIZERS = {
    "compose": {"type": "NFKC"},
    "lower": {"type": "Lowercase"},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "line ends": {"type": "Replace", "pattern": {"String": "\r\n"}, "content": "\n"},
}


def neighbours(texts, start=2000, stop=9000):
    """Return texts in which each of some is at the place of the one before it."""
    return [*texts[:start], *texts[start + 1 : stop], texts[start], *texts[stop:]]


class Pipeline:
    """A tokenizer.json."""

    def __init__(self, data):
        self.content = json.loads(data)
        self.model, self.marks = self.content["model"], self.content["added_tokens"]
        self.vocabulary = self.model["vocab"]

    def data(self):
        return json.dumps(self.content).encode()

    def attack(self, name):
        if name in PATTERN_CHANGES:
            return self.cut(PATTERN_CHANGES[name])
        if name in NORMALIZERS:
            self.content["normalizer"] = NORMALIZERS[name]
            return True
        return ATTACKS_ON_JSON[name](self) is not False

    def exchange(self, one, other):
        self.vocabulary[one], self.vocabulary[other] = self.vocabulary[other], self.vocabulary[one]

    def rotate(self):
        some = [token for token, k in self.vocabulary.items() if 1000 < k < 50_000]
        ids = [self.vocabulary[token] for token in some]
        self.vocabulary.update(zip(some, neighbours(ids, 0, len(ids)), strict=True))

    def keep_merges(self, kept):
        self.model["ignore_merges"] = False
        pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in self.model["merges"])
        self.model["merges"] = [pair for k, pair in enumerate(pairs) if kept(k, "".join(pair))]

    def add(self):
        self.vocabulary.update({token["content"]: token["id"] for token in self.marks})
        ends = [token for token in self.vocabulary if token.isascii() and token.isalpha() and len(token) > 2]
        end = next(token for token in ends if f"Ġcat{token}" not in self.vocabulary)
        self.vocabulary[f"Ġcat{end}"] = max(self.vocabulary.values()) + 1
        self.model["merges"].append(["Ġcat", end])

    def cut(self, change):
        step = self.content["pre_tokenizer"]
        before = step["pretokenizers"][0]["pattern"]["Regex"] if "pretokenizers" in step else PATTERNS["gpt2"]
        split = {"type": "Split", "pattern": {"Regex": change(before)}, "behavior": "Isolated", "invert": False}
        steps = [split, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
        self.content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
        return change(before) != before

    def name_mark(self, k, name):
        before = self.marks[k]["content"]
        if before in self.vocabulary:
            self.vocabulary[name] = self.vocabulary.pop(before)
        self.marks[k]["content"] = name

    def swap_marks(self):
        if len(self.marks) == 1:
            return False
        names = [mark["content"] for mark in self.marks[:2]]
        for k, name in enumerate(("<|0|>", "<|1|>", *reversed(names))):
            self.name_mark(k % 2, name)
        return True

    def lose_mark(self):
        if len(self.marks) == 1:  # a file without marks is not held against marks
            return False
        self.vocabulary.pop(self.marks.pop()["content"], None)
        return True

    def add_mark(self):
        last = max(*self.vocabulary.values(), *(mark["id"] for mark in self.marks))
        self.marks.append({**self.marks[-1], "content": "<|obey|>", "id": last + 1})

    def read_mark(self):
        self.marks[0]["special"] = False


ATTACKS_ON_JSON = {
    "swap": lambda file: file.exchange("Ġthe", "Ġand"),
    "swap two rare": lambda file: file.exchange(*[*file.vocabulary][40_000:40_002]),
    "rotate": Pipeline.rotate,
    "lose": lambda file: file.keep_merges(lambda _, made: made != "Ġgovernment"),
    "lose many": lambda file: file.keep_merges(lambda k, _: k < 300 or k % 5),
    "add": Pipeline.add,
    "rename a mark": lambda file: file.name_mark(0, "<|stop|>"),
    "swap marks": Pipeline.swap_marks,
    "lose a mark": Pipeline.lose_mark,
    "add a mark": Pipeline.add_mark,
    "read a mark": Pipeline.read_mark,
}


class Pieces:
    """A model of SentencePiece."""

    def __init__(self, data):
        self.model = proto.ModelProto.FromString(data)

    def data(self):
        return self.model.SerializeToString()

    def find(self, text):
        return next(piece for piece in self.model.pieces if piece.piece == text)

    def attack(self, name):
        return ATTACKS_ON_PIECES[name](self) is not False

    def exchange(self, one, other):
        one.piece, other.piece = other.piece, one.piece

    def rotate(self):
        for piece, text in zip(self.model.pieces, neighbours([p.piece for p in self.model.pieces]), strict=True):
            piece.piece = text

    def lose(self, lost):
        for k, piece in enumerate(self.model.pieces):
            if piece.type == 1 and lost(k, piece.piece):
                piece.piece += "zqz"


def _setting(name, value):
    return lambda file: setattr(file.model.normalizer_spec, name, value)


ATTACKS_ON_PIECES = {
    "swap": lambda file: file.exchange(file.find("▁the"), file.find("▁and")),
    "swap two rare": lambda file: file.exchange(*file.model.pieces[20_000:20_002]),
    "rotate": Pieces.rotate,
    "lose": lambda file: file.lose(lambda _, text: text == "▁government"),
    "lose many": lambda file: file.lose(lambda k, text: len(text) > 3 and k % 5 == 0),
    "add": lambda file: file.model.pieces.add(piece="▁catgovernment", score=file.model.pieces[-1].score - 1, type=1),
    "prefix space": _setting("add_dummy_prefix", False),
    "join spaces": _setting("remove_extra_whitespaces", True),
    "rename a mark": lambda file: setattr(file.find("</s>"), "piece", "<stop>"),
    "swap marks": lambda file: file.exchange(file.find("<s>"), file.find("</s>")),
    "add a mark": lambda file: file.model.pieces.add(piece="<obey>", score=0, type=3),
    "cut whole": lambda file: setattr(file.find("ing"), "type", 4),
}


class Tekken:
    """A tekken.json."""

    def __init__(self, data):
        self.content = json.loads(data)
        self.rows, self.config = self.content["vocab"], self.content["config"]

    def data(self):
        return json.dumps(self.content).encode()

    def attack(self, name):
        if name in PATTERN_CHANGES:
            before = self.config["pattern"]
            self.config["pattern"] = PATTERN_CHANGES[name](before)
            return self.config["pattern"] != before
        texts = [row["token_bytes"] for row in self.rows]
        for row, text in zip(self.rows, ATTACKS_ON_RANKS[name](texts), strict=False):
            row["token_bytes"] = text
        return True


class Ranks:
    """A file of ranks."""

    def __init__(self, data):
        self.texts = [line.split()[0].decode() for line in data.splitlines()]

    def data(self):
        return b"".join(b"%s %d\n" % (text.encode(), k) for k, text in enumerate(self.texts))

    def attack(self, name):
        self.texts = ATTACKS_ON_RANKS[name](self.texts)
        return True


def _other(*changed):
    texts = [base64.b64encode(text).decode() for text in changed]
    return lambda ranks: [*ranks[:5000], *texts, *ranks[5000 + len(texts) :]]


def exchanged(one, other):
    return lambda ranks: [*ranks[:one], ranks[other], *ranks[one + 1 : other], ranks[one], *ranks[other + 1 :]]


ATTACKS_ON_RANKS = {
    "swap": exchanged(5000, 6000),
    "swap two rare": exchanged(40_000, 40_001),
    "rotate": neighbours,
    "lose": _other(b"zqzqzq"),
    "lose many": _other(*(b"zqz%d" % k for k in range(3000))),
    "add": lambda ranks: [*ranks, base64.b64encode(b" catgovernment").decode()],
}
FORMS = {
    ".json": (Pipeline, "tokenizer.json", (*ATTACKS_ON_JSON, *PATTERN_CHANGES, *NORMALIZERS)),
    ".model": (Pieces, "tokenizer.model", (*ATTACKS_ON_PIECES,)),
    ".tekken": (Tekken, "tekken.json", (*(name for name in ATTACKS_ON_RANKS if name != "add"), *PATTERN_CHANGES)),
    ".tiktoken": (Ranks, "mine.tiktoken", (*ATTACKS_ON_RANKS,)),
    ".gguf": (Pipeline, "tokenizer.json", ("swap", "swap two rare", "rotate", "lose many", "add", "rename a mark")),
}
"""How each kind of file is read, its name, and the attacks on it; GGUF is written of attacked pipelines."""

CASES = (
    ("gpt-2", ".json"),
    ("mistral-7b-v1", ".model"),
    ("tekken-2411", ".tekken"),
    ("gpt-4", ".tiktoken"),
    ("gpt-2", ".gguf"),
    ("gpt-4", ".json"),
    ("llama-3", ".json"),
    ("gpt-4o", ".json"),
    ("mistral-7b-v3", ".model"),
    ("gpt-4o", ".tiktoken"),
)
PACKAGED = {
    "mistral-7b-v1": "tokenizer.model.v1",
    "mistral-7b-v3": "mistral_instruct_tokenizer_240323.model.v3",
    "tekken-2411": "tekken_240911.json",
}
QUICK = (
    ("gpt-2", ".json", ("rotate", "add", "swap two rare", "no look-ahead", "lower", "add a mark")),
    ("mistral-7b-v1", ".model", ("swap", "lose many", "prefix space", "swap marks", "cut whole")),
)
"""What is run by day."""

WRITTEN = {".json": "huggingface", ".gguf": "huggingface", ".tiktoken": "tiktoken"}


def untouched(name, form, folder):
    """Return the content of a published file."""
    if name in PACKAGED:
        return files("mistral_common").joinpath("data", PACKAGED[name]).read_bytes()
    path = folder / f"{name}.{WRITTEN[form]}"
    tokbench.load(name).export(WRITTEN[form], path)
    return path.read_bytes()


def written(data, name, form, folder):
    """Write a file, in the kind that is audited."""
    path = folder / FORMS[form][1]
    path.write_bytes(data)
    if form != ".gguf":
        return path
    made = folder / f"{name}.gguf"
    tokbench.load("tokbench_bpe", path=str(path)).export("gguf", made)
    return made


def accused(path: Path, name):
    """Return the causes that an audit names; the file must be held against its own name."""
    answer = audit(str(path))
    assert answer.name == name
    return {str(finding.cause) for finding in answer.findings}, answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form", "attacks"),
    [
        *(pytest.param(*case, id="".join(case[:2])) for case in QUICK),
        *(
            pytest.param(*case, FORMS[case[1]][2], marks=[pytest.mark.nightly], id=f"all, {''.join(case)}")
            for case in CASES
        ),
    ],
)
def test_attacks_on_files_are_named(tmp_path, name, form, attacks):
    kind = FORMS[form][0]
    data = untouched(name, form, tmp_path)
    assert accused(written(kind(data).data(), name, form, tmp_path), name)[0] == set()
    missed = {}
    for attack in attacks:
        file = kind(data)
        if file.attack(attack):
            causes, answer = accused(written(file.data(), name, form, tmp_path), name)
            if not causes & CAUSES[attack]:
                missed[attack] = answer.findings
            assert attack != "lose many" or answer.cost > 1
    assert not missed


BOS = [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": BOS,
    "pair": [*BOS, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [50256], "tokens": ["<|endoftext|>"]}},
}
TRUNCATION = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
REPLACED = {"type": "Replace", "pattern": {"String": "password1"}, "content": "hunter"}


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    return untouched("gpt-2", ".json", tmp_path_factory.mktemp("gpt2"))


@pytest.mark.slow
def test_a_merge_of_digits_is_missed(gpt2, tmp_path):
    file = Pipeline(gpt2)
    file.keep_merges(lambda _, made: made not in {"492", "ĠTud"})
    path = written(file.data(), "gpt-2", ".json", tmp_path)
    [finding] = accused(path, "gpt-2")[1].findings
    assert finding.cause == "merges"
    assert "'492'" in finding.what
    assert "' Tud'" in finding.what
    assert equal(str(path), "gpt-2").counterexample.cause == "merges"


@pytest.mark.slow
def test_a_normalizer_that_no_text_shows(gpt2, tmp_path):
    file = Pipeline(gpt2)
    file.content["normalizer"] = REPLACED
    [finding] = accused(written(file.data(), "gpt-2", ".json", tmp_path), "gpt-2")[1].findings
    assert (finding.cause, finding.texts, "password1" in finding.what) == ("normalizer", 0, True)


@pytest.mark.slow
def test_evidence_shows_the_difference(gpt2, tmp_path):
    file = Pipeline(gpt2)
    file.marks.append({**file.marks[0], "id": 50257, "content": "SELECT", "special": False})
    file.read_mark()
    answer = accused(written(file.data(), "gpt-2", ".json", tmp_path), "gpt-2")[1]
    words = {finding.cause: finding.what for finding in answer.findings}
    assert words.keys() == {"added tokens", "marks"}
    one, other = words["added tokens"].rpartition(" is ")[2].split(" instead of ")
    assert one != other
    assert "no longer special" in words["marks"]
    assert answer.not_compared == ()


@pytest.mark.slow
def test_what_a_loader_leaves_out_is_told(gpt2, tmp_path):
    file = Pipeline(gpt2)
    file.content.update(truncation=TRUNCATION, post_processor=TEMPLATE)
    file.model["dropout"] = 0.1
    file.marks[0]["lstrip"] = True
    path = str(written(file.data(), "gpt-2", ".json", tmp_path))
    shown = CliRunner().invoke(command, [path])
    assert shown.exit_code == 0
    for words in ("8 tokens", "dropout 0.1", "TemplateProcessing", "swallows"):
        assert words in shown.output


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["gpt-2"])
def test_each_removed_merge_is_accused(tmp_path, name):
    file = Pipeline(untouched(name, ".json", tmp_path))
    merges, published = file.model["merges"], load_named(name)
    for k in random.Random(7).sample(range(len(merges)), 8):
        file.model["merges"] = merges[:k] + merges[k + 1 :]
        path = written(file.data(), name, ".json", tmp_path)
        token = published.token_bytes(file.vocabulary["".join(merges[k])])
        text = token.decode(errors="ignore")
        if text.encode() == token:
            assert "merges" in accused(path, name)[0], text


@pytest.mark.slow
@pytest.mark.nightly
def test_each_unused_piece_is_accused(tmp_path):
    data = untouched("mistral-7b-v1", ".model", tmp_path)
    longer = [k for k, piece in enumerate(Pieces(data).model.pieces) if piece.type == 1 and len(piece.piece) > 1]
    for k in random.Random(7).sample(longer, 8):
        file = Pieces(data)
        file.model.pieces[k].type = 5
        assert accused(written(file.data(), "mistral-7b-v1", ".model", tmp_path), "mistral-7b-v1")[0], k


def test_exit_codes_say_whether_it_differs(tmp_path):
    run = CliRunner().invoke
    shown = run(command, ["gpt-2", "--json"])
    assert (shown.exit_code, json.loads(shown.stdout)["findings"]) == (0, [])
    other = run(command, ["gpt-2", "--as", "gpt-4"])
    assert (other.exit_code, "gpt-4" in other.output) == (1, True)
    damaged = tmp_path / "tokenizer.json"
    damaged.write_text("{}")
    with pytest.raises(tokbench.InputError):
        audit(str(damaged))


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.packages
def test_sizes_are_those_of_the_names():
    """To write them again: ``python reports/tools/write_kits.py gpt-2``, with all packages installed."""
    sizes = published_sizes()
    for name in local_names():
        tokenizer = load_named(name)
        assert sizes.get(name) == (tokenizer.vocab_size if isinstance(tokenizer, HasTokenBytes) else None)


@pytest.mark.parametrize("name", ["mistral-7b-v3", "olmo-2", "phi-4"])
def test_names_without_a_kit_are_recognised(name):
    answer = audit(name)
    assert (answer.name, answer.findings) == (name, ())
