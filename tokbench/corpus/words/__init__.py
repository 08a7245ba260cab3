"""Words: their units by language, and their places in a text."""

from tokbench.corpus.words.find import Words, find_words
from tokbench.corpus.words.gold import GOLD_UNITS, GoldWords, gold_words
from tokbench.corpus.words.positions import byte_positions, byte_widths
from tokbench.corpus.words.units import UNIT_NAMES, Unit, default_unit, foreign, usable_unit

__all__ = [
    "GOLD_UNITS",
    "UNIT_NAMES",
    "GoldWords",
    "Unit",
    "Words",
    "byte_positions",
    "byte_widths",
    "default_unit",
    "find_words",
    "foreign",
    "gold_words",
    "usable_unit",
]
