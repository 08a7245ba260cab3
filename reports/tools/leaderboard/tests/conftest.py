"""The tests of the leaderboard use the fixtures of tokbench's own."""

pytest_plugins = ["shared_fixtures", "nightly"]
