"""What a command of a package is made of: options and output as those of tokbench, and the texts that users name.

>>> [*texts_by_group("sample")][:3]
['am', 'ar', 'bn']
"""

from __future__ import annotations

from tokbench.registry.local_names import local_names
from tokbench.terminal.folder_texts import texts_by_group
from tokbench.terminal.number_table import print_numbers
from tokbench.terminal.options import TOKENIZER, common_options, examples, json_option, print_json, say

__all__ = [
    "TOKENIZER",
    "common_options",
    "examples",
    "json_option",
    "local_names",
    "print_json",
    "print_numbers",
    "say",
    "texts_by_group",
]
