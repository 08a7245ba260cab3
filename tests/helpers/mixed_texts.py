"""Texts of three languages, and their tables of counts."""

import random

import pyarrow.parquet as pq

from tokbench_plugins.counts.count import count_table

WORDS = {
    "de": ["Haus", "Häuser", " Maus", " der", " die", " und", "2024", ", ", "\n"],
    "hi": ["नमस्ते", " दुनिया", " और", " है", "।", " 12", "\n"],
    "code": ["return", " x", " = ", "(x)", "\n    ", "self.", "data"],
}


def corpus(language, seed, documents=30):
    rng = random.Random(f"{language} {seed}")
    return ["".join(rng.choices(WORDS[language], k=rng.randrange(1, 60))) for _ in range(documents)]


def write_table(path, documents, file=0, pattern="gpt4", group=""):
    pq.write_table(count_table(documents, file, pattern=pattern, group=group), path)
    return path
