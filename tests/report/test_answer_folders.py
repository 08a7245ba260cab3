"""Folders as disks have them, from ``new`` to the answer: what is said equals what a few lines compute from the files."""

import re
from math import exp, log
from pathlib import Path

import pytest
import tiktoken
from click.testing import CliRunner

import tokbench
import tokbench.sources.sample
from tokbench.cli.main import tokbench as command
from tokbench.report.answer.answer import answer_of
from tokbench.report.tables import CellTables

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("tiktoken_files")]
LANGUAGES = Path(tokbench.sources.sample.__file__).parent / "languages"
ENCODINGS = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}


def prose(language):
    return (LANGUAGES / f"{language}.txt").read_text(encoding="utf-8")


STRAY = {"a.yml": "key: value\n", "p.json": '{"name": "x"}\n', "i.html": "<html></html>\n", "a.css": "body{}\n"}
CODE = "".join(f"def f{k}(x):\n    return x + {k}\n\n" for k in range(40))
TWO = {"fi/a.txt": prose("fi"), "ru/b.txt": prose("ru")}
FOLDERS = {
    # the files; the groups that count alike, by the pattern of their files; what is left out
    "stray configuration": (TWO | STRAY, ["fi/", "ru/"], ["4 files of code, 46 bytes"]),
    "one huge file": ({"fi.txt": prose("fi") * 40, "ru.txt": prose("ru"), "sw.txt": "Habari.\n"}, ["fi", "ru"], ["1 document of Swahili, 7 bytes"]),
    "empty files": (TWO | {"fi/empty.txt": "", "ru/none.md": ""}, ["fi/", "ru/"], []),
    "a licence": (TWO | {"LICENSE.txt": "Permission is hereby granted.\n" * 3}, ["fi/", "ru/"], ["3 documents of texts, 87 bytes"]),
    "a README in English": ({"fi.txt": prose("fi"), "ru.txt": prose("ru"), "README.md": "# Texts\n"}, ["fi", "ru"], ["1 document of README, 7 bytes"]),
    "nested languages": ({f"data/{language}/{k}.txt": prose(language) for language in ("fi", "ru") for k in "ab"}, ["/fi/", "/ru/"], []),
    "200 tiny files": ({f"{k}.txt": f"Näin {k} käy.\n" for k in range(200)}, [""], []),
    "one language only": ({"ru.txt": prose("ru")}, ["ru"], []),
    "code only": ({"a.py": CODE, "b.js": CODE.replace("def ", "function "), "c.css": "a{}\n"}, ["a.py", "b.js"], ["1 document of CSS, 3 bytes"]),
    "binary junk": (TWO | {"x.bin": bytes(range(256)), "fi/y.txt": b"\xff\xfe\x00x\x00", "z.pyc": bytes(90)}, ["fi/", "ru/"], []),
    "many small programs": (TWO | {f"s{k}.{end}": f"{CODE}# {k} {end}" for k in range(3) for end in ("go", "rs", "py", "rb")}, ["fi/", "ru/", r"\.py|\.go|\.rs|\.rb"], []),
    "a first try": ({"fi.txt": "Yö on pitkä.\n", "ru.txt": "Ночь длинна.\n"}, ["fi", "ru"], []),
}  # fmt: skip


def documents(text, *, whole):
    parts = [text] if whole else re.split(r"\n{2,}" if "def " in text or "function" in text else "\n", text)
    return [part for part in parts if part.strip()]


@pytest.mark.matrix
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_has_the_answer_of_its_files(name, tmp_path, monkeypatch):
    files, groups, left_out = FOLDERS[name]
    monkeypatch.chdir(tmp_path)
    for path, content in files.items():
        place = tmp_path / "texts" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = CliRunner().invoke(command, ["new", "texts", "--for", "choose", "-t", ",".join(ENCODINGS)])
    assert done.exit_code == 0, done.output
    results = tokbench.run("choose.yaml", settings=["metrics=[compression, roundtrip]"], workers=0)
    answer = answer_of(CellTables(results))

    rates = {}
    for tokenizer, encoding in ENCODINGS.items():
        oracle, logs = tiktoken.get_encoding(encoding), []
        for pattern in groups:
            texts = [text for path, text in files.items() if re.search(pattern, "/" + path) and isinstance(text, str)]
            whole = len(texts) >= 10 and "def " in texts[0]
            kept = [part for text in texts for part in documents(text, whole=whole)]
            tokens = sum(len(oracle.encode_ordinary(part)) for part in kept)
            logs.append(log(sum(len(part.encode()) for part in kept) / tokens))
        rates[tokenizer] = exp(sum(logs) / len(logs))
    first, other = sorted(rates, key=rates.__getitem__, reverse=True)
    assert answer.ranking.bytes_per_token == pytest.approx(rates[first], rel=2e-3)
    assert [part.documents > 0 for part in answer.slices] == [True] * len(groups)
    behind = answer.ranking.standings[1]
    assert behind.more == pytest.approx(rates[first] / rates[other] - 1, abs=2e-3)
    assert behind.tied == (rates[first] / rates[other] - 1 < 0.01)
    assert (behind.low is None) == (name == "a first try")
    assert ("Left out" in answer.text) == bool(left_out)
    assert all(words in answer.text for words in left_out), answer.text
