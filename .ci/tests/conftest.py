"""The tests of the repository use the fixtures of tokbench's own."""

pytest_plugins = ["shared_fixtures", "nightly"]
