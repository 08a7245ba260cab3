"""Tests write into folders of their own alone."""

import os
from pathlib import Path

import tiktoken_cache


def test_a_test_writes_into_a_folder_of_its_own_that_has_the_real_files():
    folder = Path(os.environ[tiktoken_cache.VARIABLE])
    assert folder.resolve() != tiktoken_cache.GIVEN
    assert [name for name, *_ in tiktoken_cache.listing(folder)] == [
        name for name, *_ in tiktoken_cache.listing(tiktoken_cache.GIVEN)
    ]
    (folder / "made-up").write_bytes(b"")
    assert "made-up" not in [name for name, *_ in tiktoken_cache.listing(tiktoken_cache.GIVEN)]
