"""Folders as models of the hub have them, put together from ingredients, and what each door makes of them.

``python tests/helpers/hub_folders.py ROOT`` is run by the test in a process whose hub has the folders under ROOT: it
writes, for each folder, what the name, the folder and ``AutoTokenizer`` give for all texts, as JSON.
"""

import contextlib
import hashlib
import io
import json
import random
import sys
import tempfile
import warnings
from pathlib import Path

import tokbench

TRAINED_ON = [
    "the cat sat on the mat, and that cat sat 1234 times",
    "low lower lowest slow slower slowest naïve déjà vu",
    "日本語のテキスト and Привет мир, 123 x = y",
]
_CLASSES = (
    *("LlamaTokenizer", "PreTrainedTokenizerFast", "T5Tokenizer", "GPT2Tokenizer", "XLMRobertaTokenizer"),
    *("CamembertTokenizer", "Qwen2Tokenizer", "BertTokenizer", "RobertaTokenizer", "AlbertTokenizer", "ByT5Tokenizer"),
    *("MarianTokenizer", "NobodysTokenizer"),
)
_MODELS = ("llama", "t5", "gpt2", "xlm-roberta", "camembert", "mistral", "bert", "qwen2", "nobody")


def texts():
    """Return 200 texts: words of the training text and others, joined at random, with added tokens and odd spaces."""
    chance = random.Random(7)
    words = [word for text in TRAINED_ON for word in text.split()]
    words += "don't x'ſ'Rex ÅNGSTRÖM e\u0301te\u0301 ½kg ﬁn 🙂 <tool> 1234567 ß 'S 한국어".split()
    joints = (" ", " ", " ", "", "  ", "\n", "\n\n", "\t", "\u00a0", ",", ". ")
    made = ["", " ", "\n", "a"]
    while len(made) < 200:
        made.append("".join(chance.choice(words) + chance.choice(joints) for _ in range(chance.randint(1, 9))))
    return made


def vocabularies(folder):
    """Train the vocabularies, and return the files of each by its name."""
    trained = {
        "bytes": tokbench.train("huggingface", TRAINED_ON, 330),
        "nfc": tokbench.train("huggingface", TRAINED_ON, 320, normalizer=("nfc",)),
        "digits": tokbench.train("huggingface", TRAINED_ON, 310, split_digits=True),
        "unigram": tokbench.train("huggingface:unigram", TRAINED_ON * 9, 90),
        "wordpiece": tokbench.train("huggingface:wordpiece", TRAINED_ON, 200, normalizer=("lowercase",)),
    }
    pieces = {
        "bpe": tokbench.train(
            "sentencepiece:bpe", TRAINED_ON * 9, 340, byte_fallback=True, normalization_rule_name="identity"
        ),
        "pieces": tokbench.train("sentencepiece:unigram", TRAINED_ON * 9, 80),
    }
    files = {}
    for name, tokenizer in trained.items():
        tokenizer.save(folder / name)
        files[f"json {name}"] = {"tokenizer.json": (folder / name).read_bytes()}
    for name, tokenizer in pieces.items():
        tokenizer.save(folder / name)
        for file in ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model"):
            files[f"{name} {file}"] = {file: (folder / name).read_bytes()}
    tokbench.train("tiktoken:gpt4", TRAINED_ON, 320).save(folder / "x.tiktoken")
    ranks = (folder / "x.tiktoken").read_bytes()
    files["ranks"], files["ranks tiktoken"] = {"tokenizer.model": ranks}, {"mine.tiktoken": ranks}
    ours = tokbench.train("regex_bpe:gpt2", TRAINED_ON, 330)
    ours.export("gpt2", folder / "pair")
    pair = {"vocab.json": (folder / "pair" / "encoder.json").read_bytes()}
    pair["merges.txt"] = (folder / "pair" / "vocab.bpe").read_bytes()
    files["pair"], files["vocab alone"] = pair, {"vocab.json": pair["vocab.json"]}
    files["tekken"] = {"tekken.json": _tekken(ranks)}
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "##at", "the", "cat", "##s"]
    files["vocab.txt"] = {"vocab.txt": "\n".join(pieces).encode()}
    files["nothing"] = {}
    return files


def _tekken(ranks):
    tokens = [line.split() for line in ranks.decode().splitlines()]
    vocab = [{"rank": int(rank), "token_bytes": token, "token_str": None} for token, rank in tokens]
    names = ("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]")
    special = [{"rank": k, "token_str": name, "is_control": True} for k, name in enumerate(names)]
    config = {
        "pattern": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(vocab) + len(names),
        "default_num_special_tokens": len(names),
        "version": "v3",
    }
    return json.dumps({"config": config, "vocab": vocab, "special_tokens": special}).encode()


def folders(number, root):
    """Write so many folders, and return what is in each by its name."""
    chance = random.Random(2026)
    with tempfile.TemporaryDirectory() as trained:
        vocabulary = vocabularies(Path(trained))
    made = {}
    for k in range(number):
        kind = list(vocabulary)[k % len(vocabulary)]
        files = dict(vocabulary[kind])
        if chance.random() < 0.1:  # two vocabularies
            files |= vocabulary[chance.choice(list(vocabulary))]
        files |= {name: json.dumps(content).encode() for name, content in _configuration(chance).items()}
        name = f"org/m{k}"
        (root / name).mkdir(parents=True)
        for file, data in files.items():
            (root / name / file).write_bytes(data)
        made[name] = kind
    return made


def _token(content, *, special):
    switches = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)
    return {"content": content, "special": special, **switches}


def _configuration(chance):
    files = {}
    if chance.random() < 0.6:
        files["config.json"] = {"model_type": chance.choice(_MODELS)} if chance.random() < 0.9 else {}
    if chance.random() < 0.6:
        config = {"tokenizer_class": chance.choice(_CLASSES)}
        extras = {
            "legacy": chance.random() < 0.5,
            "add_prefix_space": True,
            "extra_ids": 10,
            "do_lower_case": False,
            "added_tokens_decoder": {"400": _token("<tool>", special=chance.random() < 0.3)},
            "extra_special_tokens": ["<end>"],
            "unk_token": "<unk>",
            "auto_map": {"AutoTokenizer": ["mine.MyTokenizer", None]},
            "clean_up_tokenization_spaces": True,
        }
        likely = {"added_tokens_decoder": 0.4, "legacy": 0.3, "auto_map": 0.05}
        config |= {key: value for key, value in extras.items() if chance.random() < likely.get(key, 0.12)}
        files["tokenizer_config.json"] = config
    if chance.random() < 0.15:
        files["added_tokens.json"] = {"<tool>": chance.choice((400, 330))}
    if chance.random() < 0.15:
        files["special_tokens_map.json"] = {"unk_token": "<unk>", "eos_token": "</s>"}
    return files


def outcome(load):
    """Return a digest of the ids of all texts, or the failure in one line."""
    try:
        encode = load()
        ids = [list(map(int, encode(text))) for text in texts()]
    except Exception as error:  # noqa: BLE001 - AutoTokenizer raises anything
        return {"refused": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    return {"ids": hashlib.sha256(json.dumps(ids).encode()).hexdigest()}


def main(root):
    """Write what every door makes of the folders."""
    from transformers import AutoTokenizer, logging

    logging.set_verbosity_error()
    warnings.simplefilter("ignore")

    def auto(path, **options):
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False, local_files_only=True)
        if not hasattr(tokenizer, "is_fast"):  # mistral-common's
            options = {}
        elif tokenizer.is_fast and set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
            raise ValueError("no vocabulary")
        return lambda text: tokenizer.encode(text, add_special_tokens=False, **options)

    found = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for path in sorted(Path(root, "org").iterdir()):
            name, folder = f"org/{path.name}", str(path)
            found[name] = {
                "name": outcome(lambda name=name: tokbench.load(name).encode),
                "folder": outcome(lambda folder=folder: tokbench.load(folder).encode),
                "auto": outcome(lambda folder=folder: auto(folder)),
                "ordinary": outcome(lambda folder=folder: auto(folder, split_special_tokens=True)),
            }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
