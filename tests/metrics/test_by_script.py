"""Families whose values also come script by script: the groups of a script put together, nothing else."""

import tokbench

VALUES = ("chars_split", "partial_tokens", "graphemes_split")


BPE = "  b: {backend: regex_bpe, train: {corpus: c, vocab_size: 400}}"


def cells(write_config, groups, tokenizers=BPE):
    corpus = f"  c: {{source: sample, part: languages, groups: [{groups}]}}"
    results = tokbench.run(write_config(corpus, tokenizers, "[utf8, compression]"), workers=0)
    assert not results.failed
    return {(c.tokenizer, c.group, c.metric): c for c in results.cells}


def test_a_script_is_its_languages_put_together(write_config):
    found = cells(write_config, "en, th, de, ru, uk")
    scripts = {group for _, group, _ in found if group.startswith("script: ")}
    assert scripts == {"script: Latin", "script: Thai", "script: Cyrillic"}
    for script, groups in {"script: Latin": ("en", "de"), "script: Cyrillic": ("ru", "uk")}.items():
        for value in VALUES:
            whole, parts = found["b", script, value], [found["b", group, value] for group in groups]
            low, high = sorted(part.value for part in parts)
            assert low <= whole.value <= high
            assert whole.n == sum(part.n for part in parts)
            assert whole.in_sample == 1
    for value in VALUES:
        assert found["b", "script: Thai", value].value == found["b", "th", value].value
    assert ("b", "script: Latin", "compression_ratio") not in found, "bytes per token compare with no other script's"
