"""The tests of the packages use the fixtures of tokbench's own."""

pytest_plugins = ["shared_fixtures", "nightly"]
