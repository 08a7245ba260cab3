"""Help for tests in which a limit on the size of files acts as a full disk does."""

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Variables for the limited process: Python would keep the beginning of a module's bytecode, which is then damaged."""
