"""The files that lie inside the package ``mistral-common``."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def vocabularies() -> dict[str, Path]:
    """Return the files of the installed package by their vocabulary: ``tokenizer.model.v1`` is v1."""
    spec = importlib.util.find_spec("mistral_common")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in sorted(Path(folder, "data").glob("*"))]
    models = {file.name.rpartition(".model.")[2]: file for file in files if ".model." in file.name}
    tekken = {file.stem: file for file in files if file.match("tekken_*.json")}
    return dict(sorted(models.items())) | tekken
