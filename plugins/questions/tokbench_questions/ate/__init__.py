"""What a BPE vocabulary was trained on, from the order of its merges."""

from tokbench_questions.ate.mixture import Ate, Share, ate

__all__ = ["Ate", "Share", "ate"]
