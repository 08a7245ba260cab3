"""Counts which sets of texts notice the wrong versions of published tokenizers, as rows of a table in Markdown.

``python reports/tools/kit_table.py gpt-4 --inp models/ggml-vocab-llama-bpe.gguf.inp`` compares the kit that ships with
the texts of this project's tests, with ``probe_texts``, by which names are proved, and with files of other suites: a list
of texts in JSON, or a file of llama.cpp's tests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

import tokbench
from tokbench_identity.kit import kit_of, suspects
from tokbench_identity.mutants.pieces import probe_texts

SEPARATOR = "\n__ggml_vocab_test__\n"
"""Between the texts of a file of llama.cpp."""


def sets(name: str, inp: Iterable[Path]) -> Mapping[str, list[str]]:
    """Return the texts of each set."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
    from difficult_texts import hostile

    others = {path.name: _texts(path) for path in inp}
    return {
        "kit": [row.text for row in kit_of(name).texts],
        "stress tests": hostile(),
        "proofs": probe_texts(),
        **others,
    }


def _texts(path: Path) -> list[str]:
    content = path.read_text(encoding="utf-8")
    return list(json.loads(content)) if path.suffix == ".json" else content.split(SEPARATOR)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--inp", multiple=True, type=click.Path(path_type=Path, exists=True), help="Texts of another suite.")
def main(names: tuple[str, ...], inp: tuple[Path, ...]) -> None:
    """Write a row for each name: wrong versions, those that are the same, and what each set notices of the others."""
    for name in names:
        kit, tokenizer = kit_of(name), tokbench.load(name)
        model, wrong, _ = suspects(tokenizer)
        same = {words for some in kit.same.values() for words in some}
        left = [mutant for mutant in wrong if str(mutant) not in same]
        cells = [
            name,
            str(len(wrong)),
            ", ".join(f"{len(some)} {why}" for why, some in kit.same.items()),
            str(len(left)),
        ]
        for texts in sets(name, inp).values():
            ids = {text: model.encode(text) for text in texts}
            right = [text for text in texts if ids[text] == list(map(int, tokenizer.encode(text)))]
            noticed = sum(any(mutant.model.encode(text) != ids[text] for text in right) for mutant in left)
            cells.append(f"{noticed} by {len(texts)}")
        click.echo(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
