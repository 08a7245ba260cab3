"""The tests of tokbench and of its default backends."""

pytest_plugins = ["shared_fixtures", "nightly"]

# A stranger's package with broken modules, which test_registry.py installs.
collect_ignore = ["sample_plugin"]
