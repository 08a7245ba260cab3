"""Which of the vocabularies are cut by the study of sizes, and which are trained at each size."""

import pytest

import tokbench
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES


@pytest.mark.slow
def test_options_tell_whether_a_vocabulary_is_cut(write_config):
    """Removals, and a stage two that begins at a share, make a smaller vocabulary another one than the first merges."""
    options = {
        "picky": "picky_bpe",
        "share": "superbpe, stage_one: 0.8",
        "boundless": "boundless_bpe",
    }
    tokenizers = "".join(
        f"  {name}: {{backend: {given}, train: {{corpus: sample, vocab_size: [300, 400]}}}}\n"
        for name, given in options.items()
    )
    results = tokbench.run(
        write_config(tokenizers=tokenizers, extra="study: {vocabulary: {sizes: [300]}}\n"), workers=0
    )
    lines = {line.line: line.tokenizers for line in results.studies.get(VOCABULARY_SIZES).lines}
    assert lines == {
        "picky": ["picky-300", "picky-400"],
        "share": ["share-300", "share-400"],
        "boundless": ["boundless-400", "boundless-300"],
    }
