"""Texts on which tokenizers differ, and real sentences."""

import json
from importlib import resources

TEXTS = [
    "Hello, world! Hello?",
    "",
    "  été 2024\t\n",
    "日本語 🙂🏽\r\n",
    "a" * 200,
    "end </s> <|endoftext|> ▁ \x00 e\u0301",
]


def hostile():
    """The difficult texts that ship with tokbench."""
    lines = resources.files("tokbench.sources.sample").joinpath("hostile.jsonl").read_text(encoding="utf-8")
    return [json.loads(line)["text"] for line in lines.splitlines()]


def pud(data):
    """Every sentence of the parallel treebanks."""
    files = sorted((data / "pud").glob("*.txt"))
    return [line for file in files for line in file.read_text(encoding="utf-8").split("\n") if line]
