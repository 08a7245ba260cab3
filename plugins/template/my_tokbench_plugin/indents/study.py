"""Asks each tokenizer in a worker, and keeps the answers in the store."""

from dataclasses import dataclass

from pydantic import Field, PositiveInt
from tokbench.plugin import Failure, Options, attempt, doing, tracebacks
from tokbench.plugin.metrics import AskedJobs, BlockType, Job, Kept, Outcome


class IndentOptions(Options):  # `study: {indents: {widths: [4, 8]}}`
    widths: tuple[PositiveInt, ...] = Field(default=(1, 2, 4, 8, 16), min_length=2, description="spaces of each indent")
    line: str = Field(default="return x", description="the line that is indented")


@dataclass(frozen=True, kw_only=True)
class Indents:  # what results.json keeps of the study
    widths: list[int]
    tokens: dict[str, list[int]]  # by tokenizer, a number for each width
    reasons: dict[str, str]  # by tokenizer, why it has no numbers


INDENTS = BlockType(study="indents", kind=Indents, version=1)  # raise it when older blocks cannot be read any more


@dataclass(frozen=True)
class CountTokens(Job):  # sent to a worker as a pickle; so is the answer
    name: str
    texts: tuple[str, ...]

    @property
    def tokenizers(self):  # to blame if the process ends, or takes too long
        return (self.name,)

    def run(self, context):
        with doing("counting", tokenizer=self.name, place="indented lines"):
            yield attempt(lambda: [len(context.tokenizer(self.name).encode(text)) for text in self.texts])


def kept(job):  # the answer is kept under this, the tokenizer, and the code of the study
    return Kept("indents", {"texts": list(job.texts)}, counted="counting indents: {} tokenizers")


def run(context, options):
    texts = tuple(" " * width + options.line for width in options.widths)
    jobs = [CountTokens(prepared.name, texts) for prepared in context.prepared if prepared.facts]
    answers = {job.name: value for job, value, _ in context.ask(AskedJobs(jobs, "counting indents", kept))}
    failed = {name: value for name, value in answers.items() if isinstance(value, Failure)}
    reasons = {prepared.name: prepared.reason for prepared in context.prepared if not prepared.facts}
    reasons |= {name: failure.reason for name, failure in failed.items()}
    tokens = {job.name: answers[job.name] for job in jobs if job.name not in failed}
    return Outcome(
        block=Indents(widths=list(options.widths), tokens=tokens, reasons=reasons),
        failures=[f"{name}: {failure.reason}" for name, failure in failed.items()],  # these make the run fail
        tracebacks=tracebacks(failed.values()),
    )
