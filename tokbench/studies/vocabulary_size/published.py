"""Published sizes: in practice, and by findings on compute."""

from __future__ import annotations

from typing import Final, NamedTuple


class Published(NamedTuple):
    """A row of published sizes."""

    what: str
    sizes: str
    source: str


PRACTICE: Final = (
    Published("GPT-2", "50,257", 'Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"'),
    Published("Llama 2", "32,000", 'Touvron et al. 2023, "Llama 2", arXiv 2307.09288'),
    Published("Llama 3", "128,256", 'Grattafiori et al. 2024, "The Llama 3 Herd of Models", arXiv 2407.21783'),
    Published("nanochat", "32,768, earlier 65,536", "github.com/karpathy/nanochat, scripts/tok_train.py"),
)

COMPUTE: Final = Published(
    "compute-optimal tokens",
    "fewer bytes per token with more compute",
    'Limisiewicz et al. 2026, "Compute Optimal Tokenization", arXiv 2605.01188: 988 models of 50 million to 7 billion '
    "parameters",
)

PRACTISED: Final = (
    "In practice Llama 2 has 32,000, GPT-2 50,257 and Llama 3 128,256 tokens, and nanochat went from 65,536 to 32,768. "
    "With more compute the best tokens have fewer bytes, by 988 models (Limisiewicz et al. 2026)."
)

LAW_WEIGHS: Final = (
    "It weighs the loss of a model on English text at a fixed budget of FLOPs, so it is no ceiling for a model that is "
    "trained on more text than such a budget calls for"
)
