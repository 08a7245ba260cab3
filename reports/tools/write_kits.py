"""Write the kits that ship: ``python reports/tools/write_kits.py [NAME ...]``, for some published names or all.

A name that has a kit keeps its texts, where they notice something. ``--quick NAME ...`` takes a minute a name, and does
not decide on what its texts do not notice. The sizes of all vocabularies are written, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tokbench import TokbenchError
from tokbench.command import load_named, local_names
from tokbench.plugin import HasTokenBytes
from tokbench_identity.audit import SIZES
from tokbench_identity.kit import KITS, Kit, kit_of, make_kit, pack, shipped_names


def main(names: list[str]) -> None:
    """Make kits, and keep the others."""
    quick, names = "--quick" in names, [name for name in names if name != "--quick"]
    kits: dict[str, Kit] = {name: kit_of(name) for name in shipped_names()}
    for name in names or local_names():
        try:
            kits[name] = make_kit(name, decide=not quick, earlier=kits.get(name))
        except TokbenchError as error:
            sys.stdout.write(f"{name}: {error}\n")
            continue
        kit = kits[name]
        chars = sum(len(text.text) for text in kit.texts)
        noticed = f"{kit.noticed} of {kit.mutants - kit.proved_same}, and {kit.proved_same} are the same"
        sys.stdout.write(f"{name}: {noticed}; {len(kit.texts)} texts, {chars} characters\n")
        sys.stdout.flush()
        Path(str(KITS)).write_bytes(pack(kits[key] for key in sorted(kits)))
    Path(str(SIZES)).write_text("".join(f"{name}\t{size}\n" for name, size in _sizes()), encoding="utf-8")


def _sizes() -> Iterator[tuple[str, int]]:
    for name in local_names():
        tokenizer = load_named(name)
        if isinstance(tokenizer, HasTokenBytes):
            yield name, tokenizer.vocab_size


if __name__ == "__main__":
    main(sys.argv[1:])
