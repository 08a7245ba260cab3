"""The family ``roundtrip``: the share of text that round-trips, and losses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from tokbench.measuring.align import edits
from tokbench.measuring.counted import declared
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import LossSummary, Measured, Metric, NotApplicable, Role
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.metrics.roundtrip.causes import LossKind
from tokbench.metrics.roundtrip.losses import Losses, find_losses
from tokbench.results.blocks import MOST_LOST
from tokbench.tokenizers.contract import HasUnknown

_ORDER: Final = (
    "Each lossy document counts once. Its cause is the decoder if the bytes of the ids are the bytes of the text; "
    "else the first rewriting that alone makes text and result equal; else the cause of the first change of a "
    "shortest edit, tested in the order unknown token, fewest rewritings, invalid bytes, special token. Rewritings "
    "are tested in the order NFC, NFD, white space, control characters, NFKC, NFKD, accents, casing."
)
_FIRST: Final = "loss_unknown"

LOSSES: Final[dict[str, tuple[tuple[LossKind, ...], str, str]]] = {
    "loss_unknown": ((LossKind.UNKNOWN,), "text was replaced by the unknown token", ""),
    "loss_normalization": (
        (LossKind.NFC, LossKind.NFD, LossKind.NFKC, LossKind.NFKD),
        "the text was changed to a Unicode normal form",
        "The losses in the report name the form: NFC, NFD, NFKC or NFKD.",
    ),
    "loss_whitespace": (
        (LossKind.WHITESPACE,),
        "white space was added, removed, collapsed or replaced",
        "This includes a dummy prefix that decoding does not remove, and U+2581 decoded as a space.",
    ),
    "loss_casing": ((LossKind.CASING,), "the case of letters was changed", ""),
    "loss_accents": ((LossKind.ACCENTS,), "nonspacing marks were removed", ""),
    "loss_control": (
        (LossKind.CONTROL,),
        "control, format, private-use or unassigned characters were removed",
        "A U+FFFD of the text counts among them.",
    ),
    "loss_invalid_bytes": (
        (LossKind.INVALID_BYTES,),
        "text was replaced by U+FFFD",
        "Documents with a lone surrogate are among them.",
    ),
    "loss_special_token": (
        (LossKind.SPECIAL_TOKEN,),
        "text that spells a special token was lost",
        "Names of special tokens are those that the tokenizer lists, and common ones such as <s> and <|…|>.",
    ),
    "loss_decoder": (
        (LossKind.DECODER,),
        "the bytes of the ids are the bytes of the text, but decode returns another text",
        "",
    ),
    "loss_other": ((LossKind.OTHER,), "none of the other causes explains it", ""),
}
"""By metric: causes, formula, remark."""

_SPACES: Final = ("white space kept", "white-space characters")
_LOWERS: Final = "it measures the losses: lost text lowers it"
_lost = partial(Metric, direction="lower", loss_cannot_help="it measures the losses: lost text raises it")

VALUES: Final = (
    Metric(
        "roundtrip_exact",
        "share of documents",
        "higher",
        of=("exact", "documents"),
        label="round trip",
        role=Role.ROUND_TRIP,
        loss_cannot_help=_LOWERS,
    ).means(
        "documents with decode(encode(x)) = x / documents",
        "Share of documents that decode to exactly the original text; every document is tested.",
    ),
    _lost(
        "lost_characters",
        "share of characters",
        of=("lost characters", "characters"),
        label="characters lost",
        role=Role.LOST_CHARACTERS,
        headline=True,
    ).means(
        "Σ code points of NFC(x) deleted or replaced in NFC(decode(encode(x))) / Σ code points of x",
        "Share of the characters that are lost in decoding, by a shortest edit between both texts in NFC: canonically "
        "equivalent text (Unicode Standard Annex #15) is not lost, and text that is only added loses none. What an "
        f"unknown token replaces is lost. A tokenizer above {MOST_LOST:.3f} on a corpus is not ranked.",
    ),
    _lost("cer", "edits/char", of=("edits", "characters"), label="CER").means(
        "Σ edit distance(x, decode(encode(x))) / Σ code points of x",
        "Character error rate: Levenshtein distance in code points, over the whole text. For documents of more "
        "than 65,536 characters it is summed over windows of 2,048: it is never too small, and too large "
        "only where a text repeats itself.",
    ),
    _lost(
        "cer_nfc", "edits/char", of=("edits beyond NFC", "characters"), label="CER beyond NFC", role=Role.ERRORS
    ).means(
        "Σ edit distance(NFC(x), NFC(decode(encode(x)))) / Σ code points of x",
        "Character error rate with both texts in NFC, the name of the unknown token counted as one character; 0 if "
        "every document is canonically equivalent to what is decoded. Characters that decoding inserts count here, and "
        "not as lost. Texts of more than 2,048 characters are compared in windows, as for the CER.",
    ),
    Metric("whitespace_fidelity", "share of white space", "higher", of=_SPACES, label="white space kept").means(
        "Σ white-space code points of x that a shortest edit of x into decode(encode(x)) keeps / Σ all of them",
        "Share of the white space that is decoded in its place: code points with the Unicode property "
        "White_Space, each by itself. Added white space does not lower it, but raises the character error rate.",
    ),
    Metric(
        "unk_rate",
        "share of tokens",
        "lower",
        of=("unknown", "tokens"),
        label="unknown tokens",
        role=Role.UNKNOWN,
        needs=(HasUnknown,),
    ).means(
        "unknown tokens / tokens",
        "Share of tokens that are the unknown token. A low token count is not good where this is high.",
    ),
    *(
        Metric(name, "documents", "none", loss_cannot_help="it counts the losses").means(
            f"documents lost because {why}",
            f"{_ORDER if name == _FIRST else f'Every loss has one cause, see {_FIRST}.'} {more}".strip(),
        )
        for name, (_, why, more) in LOSSES.items()
    ),
)


class RoundTripState(NamedTuple):
    """The state of a group."""

    sums: Sums
    has_unknown: bool
    losses: Losses

    def __add__(self, other: RoundTripState) -> RoundTripState:  # type: ignore[override]
        unknown = self.has_unknown or other.has_unknown
        return RoundTripState(self.sums + other.sums, unknown, self.losses + other.losses)


class RoundTripMetric(SummedMetric):
    """The text metric."""

    def map(self, encoded: EncodedShard) -> RoundTripState:
        shard = encoded.shard
        distances = np.zeros(len(shard), dtype=np.int64)
        lossy = np.flatnonzero(~encoded.exact).tolist()
        for k in lossy:
            distances[k] = edits(shard.texts[k], encoded.decoded[k])
        losses, lost_spaces = find_losses(encoded, lossy)
        spaces = {_SPACES[1]: shard.n_spaces, _SPACES[0]: shard.n_spaces - lost_spaces}
        unk_id = encoded.tokenizer.unk_id if isinstance(encoded.tokenizer, HasUnknown) else None
        unknown = np.zeros(len(shard), dtype=np.int64) if unk_id is None else encoded.count_ids(unk_id)
        sums = Sums.of(
            shard,
            documents=np.ones(len(shard), dtype=np.int64),
            edits=distances,
            characters=shard.n_chars,
            tokens=encoded.tokens,
            unknown=unknown,
            **encoded.losses,
            **spaces,
        )
        return RoundTripState(sums, unk_id is not None, losses)

    def finish(self, state: RoundTripState) -> Mapping[str, Measured | NotApplicable]:
        values = declared(VALUES, state.sums)
        if not state.has_unknown:
            values["unk_rate"] = NotApplicable("this vocabulary has no unknown token")
        for cell, (causes, _, _) in LOSSES.items():
            lost = sum(state.losses.by_cause[cause] for cause in causes)
            values[cell] = Measured(lost, state.sums.documents)
        return values

    def loss(self, state: RoundTripState) -> LossSummary | None:
        return state.losses.summary()


SPEC: Final = MetricFamily(
    name="roundtrip",
    summary="share of documents decoded exactly, characters lost, error rate, unknown tokens, losses by cause",
    text=RoundTripMetric,
    values=VALUES,
)
