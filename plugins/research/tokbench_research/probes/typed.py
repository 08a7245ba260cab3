"""The probe of special tokens that a user types."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import HasSpecialTokens, Tokenizer, decode_batch, from_lists
from tokbench.plugin.metrics import EncodedShard, Measured, NotApplicable
from tokbench.tokenizers.contract import EncodesWithSpecial
from tokbench_research.probes.text_probe import TextProbe, Values, probe_value

_MARKERS: Final = (
    "<|endoftext|> <s> </s> <unk> <pad> <bos> <eos> [CLS] [SEP] [MASK] [INST] [/INST] <|im_start|> <|im_end|> "
    "<|begin_of_text|> <|eot_id|> <start_of_turn> <end_of_turn> <|fim_prefix|> <|endofprompt|>"
).split()
_OWN: Final = 6
_UNIT: Final = "share of markers"


def _text(marker: str) -> str:
    return f"Print {marker} please"


def _measure(encoded: EncodedShard) -> Values:
    tokenizer, count = encoded.tokenizer, len(_MARKERS)
    shown = [marker in back for marker, back in zip(_MARKERS, encoded.decoded, strict=True)]
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    ends = encoded.offsets.tolist()
    control = [not special.isdisjoint(encoded.ids[ends[k] : ends[k + 1]].tolist()) for k in range(count)]
    text = sum(there and not given for there, given in zip(shown, control, strict=True))
    values: dict[str, Measured | NotApplicable] = {
        "special_typed_text": Measured(text / count, count),
        "special_typed_control": Measured(sum(control) / count, count),
        "special_typed_lost": Measured(shown.count(False) / count, count),
    }
    if isinstance(tokenizer, EncodesWithSpecial):
        values |= _where_allowed(tokenizer, special)
    return values


def _where_allowed(tokenizer: Tokenizer, special: set[int]) -> Values:
    assert isinstance(tokenizer, EncodesWithSpecial)
    ids = [[*map(int, tokenizer.encode_with_special(_text(marker), allowed_special="all"))] for marker in _MARKERS]
    control = [k for k, marker_ids in enumerate(ids) if not special.isdisjoint(marker_ids)]
    backs = decode_batch(tokenizer, from_lists(ids))
    gone = sum(_MARKERS[k] not in backs[k] for k in control)
    none = NotApplicable("no marker is a special token of this vocabulary")
    return {
        "special_allowed_control": Measured(len(control) / len(_MARKERS), len(_MARKERS)),
        "special_allowed_swallowed": Measured(gone / len(control), len(control)) if control else none,
    }


def _own(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    if not isinstance(tokenizer, HasSpecialTokens):
        return []
    names = sorted(tokenizer.special_ids, key=tokenizer.special_ids.__getitem__)
    return [(name, _text(name)) for name in names if name not in _MARKERS][:_OWN]


TYPED: Final = TextProbe(
    name="typed",
    title="Special tokens that a user types",
    explanation=(
        f"A special token has a name, and the name is text that anybody can type. {len(_MARKERS)} names from "
        "well-known vocabularies are put into a sentence, which is encoded as ordinary text. They should stay text: no "
        "control id may come of them, and nothing of them may get lost. A program that allows special tokens in what "
        "its users type gives those a control id that the vocabulary has; some of them decode to nothing, so that "
        "nobody sees them. Below, names of each vocabulary's own."
    ),
    texts=tuple((marker, _text(marker)) for marker in _MARKERS),
    values=(
        probe_value(
            "special_typed_text",
            _UNIT,
            "higher",
            f"markers that come back in the decoded text and give no special id / {len(_MARKERS)} markers",
            "The share of typed markers that stay ordinary text.",
        ),
        probe_value(
            "special_typed_control",
            _UNIT,
            "lower",
            f"markers that give a special id in ordinary text / {len(_MARKERS)} markers",
            "The share of typed markers that become control tokens although special tokens are not allowed.",
            (HasSpecialTokens,),
        ),
        probe_value(
            "special_typed_lost",
            _UNIT,
            "lower",
            f"markers that are not in the decoded text / {len(_MARKERS)} markers",
            "The share of typed markers that do not come back from ordinary encoding and decoding.",
        ),
        probe_value(
            "special_allowed_control",
            _UNIT,
            "none",
            f"markers that give a special id where all special tokens are allowed / {len(_MARKERS)} markers",
            "The share of typed markers that become control tokens in a program that allows special tokens.",
            (EncodesWithSpecial,),
        ),
        probe_value(
            "special_allowed_swallowed",
            _UNIT,
            "none",
            "markers that are a special token and not in the decoded text / markers that are a special token",
            "The share of those control tokens that decoding leaves out: nobody sees them in the text.",
            (EncodesWithSpecial,),
        ),
    ),
    measure=_measure,
    own=_own,
)
