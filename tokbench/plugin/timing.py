"""What metrics that time tokenizers are made of.

>>> from tokbench.plugin.timing import TimingPlace
>>> TimingPlace("mine", "texts", "*", "load_s", "s").without_value("it was trained here").status.value
'not_applicable'
"""

from __future__ import annotations

from tokbench.measuring.timing.clock import quiet, seconds
from tokbench.measuring.timing.conditions import drift_note, machine_notes
from tokbench.measuring.timing.contender import Contender, TimingPlace, take_turns
from tokbench.measuring.timing.contract import TimedSlice, TimedText
from tokbench.measuring.timing.copies import FreshCopies

__all__ = [
    "Contender",
    "FreshCopies",
    "TimedSlice",
    "TimedText",
    "TimingPlace",
    "drift_note",
    "machine_notes",
    "quiet",
    "seconds",
    "take_turns",
]
