"""The proofs of published names: what each was compared with, as ``reports/tools/prove_names.py`` found it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).with_name("proofs.tsv")


def rows() -> list[dict[str, str]]:
    """Return the rows of the table, by the names of its columns."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def proofs(backend: str) -> Mapping[str, str]:
    """Return the source of the proof of each published name of a backend.

    >>> list(proofs("llama"))
    ['llama-4']
    """
    carried = (row for row in rows() if row["carrier"].startswith(f"{backend}:"))
    return {row["name"]: row["held against"] for row in carried if row["held against"] and row["differing"] == "0"}
