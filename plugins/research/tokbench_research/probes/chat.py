"""The probe of chat templates: their tokens around a message."""

from __future__ import annotations

from typing import Final

from tokbench.measuring.metric import Answer, Segmented
from tokbench.plugin import Tokenizer
from tokbench.plugin.metrics import Measured, Metric
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES, Message, prompt_ids
from tokbench_research.probes.text_probe import token_text

_MESSAGES: Final = (
    Message("user", "What is the capital of France?"),
    Message("assistant", "Paris is the capital of France."),
    Message("user", "And how many people live there?"),
    Message("assistant", "About two million in the city itself."),
)


class _ChatProbe:
    name = "chat"
    title = "What a chat template costs"
    explanation = (
        "Before a conversation is encoded, a template marks who speaks. Where the vocabulary has the marks as special "
        "tokens, each is one id; elsewhere they fall into pieces of ordinary text, are dearer, and can be typed by "
        "anybody. The same conversation of four messages is written in each template. Marks become special tokens "
        "where the vocabulary has them; what a message spells never does."
    )
    values = tuple(
        Metric(
            id=f"template_{template.id}",
            unit="tokens/message",
            direction="lower",
            formula=f"(tokens of a conversation as {title} has it - Σ tokens of its messages alone) / messages",
            definition=(
                f"The tokens that the chat template of {title} adds to a message, over a conversation of four. "
                "Marks that the vocabulary has as special tokens are one token each; other marks are ordinary text."
            ),
        )
        for title, template in CHAT_TEMPLATES.items()
    )

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        alone = sum(len(tokenizer.encode(message.content)) for message in _MESSAGES)
        values, segmented = {}, []
        for title, template in CHAT_TEMPLATES.items():
            parts = list(template.write(_MESSAGES, reply=False))
            ids = prompt_ids(tokenizer, parts)
            values[f"template_{template.id}"] = Measured((len(ids) - alone) / len(_MESSAGES), len(_MESSAGES))
            text = "".join(part.text for part in parts)
            segmented.append(Segmented(title, text, [(token, token_text(tokenizer, token)) for token in ids]))
        return Answer(values, segmented)


CHAT: Final = _ChatProbe()
