"""Whether one tokenizer's ids can be used for another's."""

from tokbench_questions.compatible.compatible import Compatibility, compatible

__all__ = ["Compatibility", "compatible"]
