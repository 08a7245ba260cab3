"""Asks each tokenizer in a worker, and keeps the answers in the store."""

from dataclasses import dataclass

from pydantic import Field, PositiveInt
from tokbench.plugin import Options
from tokbench.plugin.metrics import BlockType, ask_each


class IndentOptions(Options):  # `study: {indents: {widths: [4, 8]}}`
    widths: tuple[PositiveInt, ...] = Field(default=(1, 2, 4, 8, 16), min_length=2, description="spaces of each indent")
    line: str = Field(default="return x", description="the line that is indented")


@dataclass(frozen=True, kw_only=True)
class Indents:  # what results.json keeps of the study
    widths: list[int]
    tokens: dict[str, list[int]]  # by tokenizer, a number for each width
    reasons: dict[str, str]  # by tokenizer, why it has no numbers


INDENTS = BlockType(study="indents", kind=Indents, version=1)  # raise it when older blocks cannot be read any more


def count_tokens(tokenizer, texts):
    return [len(tokenizer.encode(text)) for text in texts]


def run(context, options):
    texts = [" " * width + options.line for width in options.widths]
    answers = ask_each(context, "counting indents", count_tokens, texts=texts)
    reasons = dict(answers.reasons)  # tokenizers that were not ready, and those that failed
    return answers.outcome(Indents(widths=list(options.widths), tokens=dict(answers.values), reasons=reasons))
