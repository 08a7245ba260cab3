"""Questions for which drafts of configurations are shipped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PURPOSES: Final[Mapping[str, str]] = {
    "choose": "which tokenizer is best for these texts",
    "size": "how large a vocabulary should be",
    "languages": "what each language costs",
    "code": "what happens to source code",
}
"""By the name of a draft, the question that it answers."""
