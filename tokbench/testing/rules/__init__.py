"""The rules of a tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from tokbench.testing.findings import RuleNotApplicable
from tokbench.testing.rules import batches, bytes_, chat, copies, counting, decoding, encoding, refusals, threads
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.contract import NO_IDS, only_counts

__all__ = ["RULES", "Rule"]


class Rule(NamedTuple):
    """One thing to check."""

    sentence: int
    check: Callable[[TokenizerUnderTest], str]
    """Returns what it checked, or raises a finding."""
    needs: str = ""
    """The member of a tokenizer without which the rule does not apply."""
    counts: bool = False
    """It is for tokenizers that only count, too."""

    def of(self, subject: TokenizerUnderTest) -> str:
        """Check a tokenizer if the rule applies to it."""
        if only_counts(subject.tokenizer) and not self.counts:
            raise RuleNotApplicable(NO_IDS)
        if self.needs and not hasattr(subject.tokenizer, self.needs):
            raise RuleNotApplicable(f"it has no {self.needs}")
        return self.check(subject)


# Rules on which others build come first, so that a text that kills the process is reported by the right rule.
RULES: Final = {
    "vocab_size": Rule(2, encoding.vocab_size, counts=True),
    "every_text": Rule(7, encoding.every_text),
    "lone_surrogates": Rule(7, encoding.lone_surrogates),
    "ids_in_range": Rule(2, encoding.ids_in_range),
    "unknown_id": Rule(2, encoding.unknown_id, "unk_id"),
    "empty_text": Rule(1, encoding.empty_text),
    "deterministic": Rule(3, encoding.deterministic),
    "encode_batch": Rule(3, batches.encode_batch, "encode_batch"),
    "special_tokens": Rule(8, encoding.special_tokens, "special_ids"),
    "encode_with_special": Rule(15, encoding.encode_with_special, "encode_with_special"),
    "decode": Rule(4, decoding.decode),
    "decode_batch": Rule(4, batches.decode_batch, "decode_batch"),
    "lossless": Rule(9, decoding.lossless),
    "token_bytes": Rule(5, bytes_.token_bytes, "token_bytes"),
    "merges": Rule(14, bytes_.merges, "token_bytes"),
    "offsets": Rule(6, bytes_.offsets, "encode_with_offsets"),
    "spans": Rule(18, bytes_.spans, "encode_with_spans"),
    "decode_stream": Rule(17, decoding.decode_stream, "decode_stream"),
    "encode_chat": Rule(16, chat.encode_chat, "encode_chat"),
    "ids_out_of_range": Rule(11, refusals.ids_out_of_range),
    "wrong_types": Rule(11, refusals.wrong_types),
    "pickle": Rule(12, copies.pickled),
    "other_process": Rule(3, copies.other_process),
    "save": Rule(12, copies.saved),
    "threads": Rule(10, threads.threads),
    "count_batch": Rule(19, counting.count_batch, "count_batch", counts=True),
    "warm_up": Rule(3, encoding.warm_up, "warm_up"),
    "long_text": Rule(13, encoding.long_text),
}
