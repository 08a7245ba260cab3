"""The backend ``gigabpe``: byte-level BPE with the split of GPT-2, trained by gigabpe, then run by tokbench's BPE.

gigabpe makes the merges of Hugging Face's trainer on files. They differ from the textbook's loop in two rules:

- Each line is a separate text, with its end. So no merge crosses a line, and runs of empty lines are not learned. A
  document without an end of line gets one.
- Ties go to the smallest ids, where the ids of bytes are in the order of their characters in GPT-2's alphabet: ``!`` is
  0, and the space 220.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from tokbench import plugin
from tokbench_engines.engines.tokenizer import calling
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer
from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord
from tokbench_plugins.bpe.backend import BPELoadOptions, load_saved, saved_files
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, bytes_of_name

_ALPHABET: Final = sorted(BYTE_TO_CHARACTER)


def _write(documents: Iterable[str], path: Path) -> bool:
    with path.open("wb") as file:
        for document in documents:
            if document:
                file.write(plugin.valid_unicode(document).encode())
                file.write(b"" if document.endswith("\n") else b"\n")
        return file.tell() > 0


def _train(
    documents: Iterable[str], vocab_size: int, _options: plugin.Options, progress: plugin.TrainProgress
) -> BPETokenizer:
    import gigabpe

    digest = CorpusDigest(documents)
    merges: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "documents")
        if _write(digest, path):
            # Its own alphabet has the bytes of the text alone. Special names come first, and are never looked for.
            train = partial(gigabpe.train_bpe, [str(path)], vocab_size, pretokenizer="bytelevel")
            _, merges = calling("gigabpe", lambda: train(special_tokens=_ALPHABET))
    ids = {bytes([byte]): byte for byte in range(FIRST_MERGE)}
    pairs = []
    for left, right in merges:
        one, other = bytes_of_name(left), bytes_of_name(right)
        pairs.append((ids[one], ids[other]))
        ids[one + other] = len(ids)
    progress(1, 1)  # it does not say how far it is
    return BPETokenizer(pairs, "gpt2", training=TrainingRecord(vocab_size, corpus=digest.corpus))


SPEC = plugin.BackendSpec(
    name="gigabpe",
    summary="byte-level BPE with the split of GPT-2, trained by gigabpe line by line, encoded by tokbench's own BPE",
    load=partial(load_saved, kind="regex_bpe"),
    load_options=BPELoadOptions,
    train=_train,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    requires=("gigabpe",),
    install="pip install 'tokbench[engines]'",
    main="path",
    files=saved_files("regex_bpe"),
    precedence=-3,
)
