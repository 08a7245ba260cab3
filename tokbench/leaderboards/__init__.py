"""A leaderboard as a folder: entries that anyone can add, numbers that anyone can check, and pages made of both."""
