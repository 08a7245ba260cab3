"""Pins and the leaderboard: for those who keep tokenizers and publish results."""
