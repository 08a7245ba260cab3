"""The public interface, and what start-up imports."""

import importlib.metadata
import subprocess
import sys

import pytest

import tokbench


def test_every_public_name_is_there():
    for name in tokbench.__all__:
        assert getattr(tokbench, name) is not None
    assert tokbench.__version__ == importlib.metadata.version("tokbench")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tokbench.nothing  # noqa: B018


def imported_by(code):
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_nothing_heavy():
    heavy = {"numpy", "pandas", "pydantic", "regex", "tiktoken", "sentencepiece", "rich", "jinja2", "pluggy", "yaml"}
    code = "from click.testing import CliRunner\nimport tokbench.cli.main\nCliRunner().invoke(tokbench.cli.main.tokbench, ['--help'])"
    assert not heavy & imported_by(code)


def test_list_imports_no_engine():
    code = "from click.testing import CliRunner\nimport tokbench.cli.main\nCliRunner().invoke(tokbench.cli.main.tokbench, ['list'])"
    found = imported_by(code)
    assert "pluggy" in found
    engines = {
        "bpe_openai",
        "fastokens",
        "gguf",
        "gigabpe",
        "gigatoken",
        "kitoken",
        "quicktok",
        "rs_bpe",
        "rustbpe",
        "snaptokens",
        "tokie",
        "wordchipper",
        "pyarrow",
        *("tiktoken", "sentencepiece", "splintr", "tokenizers", "transformers", "mistral_common"),
    }
    assert not {"pandas", "jinja2", *engines} & found
