"""The rule about special tokens: text never gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokbench.contracts.tokenizer import HasSpecialTokens
from tokbench.testing.findings import Broken, RuleNotApplicable
from tokbench.testing.shown import call_of, shown
from tokbench.testing.under_test import TokenizerUnderTest

_MOST_NAMES: Final = 2_000


def special_tokens(subject: TokenizerUnderTest) -> str:
    """Names are text, ids are in range, and no text gives them, above all none that spells the names."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, HasSpecialTokens):
        raise RuleNotApplicable("it has no special_ids")
    special = tokenizer.special_ids
    if not isinstance(special, Mapping) or not all(isinstance(name, str) and name for name in special):
        raise Broken("special_ids", "a mapping from names, which are not empty, to ids", special)
    if not subject.are_ids(special.values()):
        raise Broken("special_ids", f"ids in range({subject.vocab_size})", special)
    if not special:
        raise RuleNotApplicable("it has no special tokens")
    name_of = {token_id: name for name, token_id in special.items()}

    def check(text: str) -> None:
        ids = subject.ids(text)
        given = [token_id for token_id in ids if token_id in name_of]
        if given:
            names = f"{given[0]}, which is {name_of[given[0]]!r}, in {shown(ids)}"
            raise Broken(call_of("encode", text), "ids of ordinary text", words=names)

    names = subject.special_names[:: -(-len(special) // _MOST_NAMES)]
    spelled = [text for name in names for text in (name, f"a{name}b", f"{name}{name} {name}")]
    return f"{len(special):,} special tokens, {subject.each_text([*spelled, *subject.more_texts], check)}"
