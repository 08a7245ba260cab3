"""Texts of three languages, and their tables of counts."""

import random

import pyarrow.parquet as pq

from tokbench_plugins.counts.count import count_table
from tokbench_plugins.counts.facts import position

WORDS = {
    "de": ["Haus", "Häuser", " Maus", " der", " die", " und", "2024", ", ", "\n"],
    "hi": ["नमस्ते", " दुनिया", " और", " है", "।", " 12", "\n"],
    "code": ["return", " x", " = ", "(x)", "\n    ", "self.", "data"],
}


def corpus(language, seed, documents=30):
    rng = random.Random(f"{language} {seed}")
    return ["".join(rng.choices(WORDS[language], k=rng.randrange(1, 60))) for _ in range(documents)]


def write_table(path, documents, file=0, pattern="gpt4", group=""):
    starts = [position(file, 0)]
    for text in documents[:-1]:
        starts.append(starts[-1] + len(text.encode()))
    pq.write_table(count_table(documents, starts, pattern=pattern, group=group), path)
    return path
