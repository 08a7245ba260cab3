"""The tests of the site and of all pages use the fixtures of tokbench's own."""

pytest_plugins = ["shared_fixtures", "nightly"]
