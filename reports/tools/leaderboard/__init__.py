"""A leaderboard as a folder: entries, reproducible numbers, and pages made of both."""
