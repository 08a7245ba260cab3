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


HEAVY = "numpy pandas pydantic regex rich jinja2 pluggy yaml"
ENGINES = (
    "bpe_openai fastokens gguf gigabpe gigatoken kitoken quicktok rs_bpe rustbpe snaptokens tokie wordchipper pyarrow"
)
LIBRARIES = "tiktoken sentencepiece splintr tokenizers transformers mistral_common"


@pytest.mark.parametrize(
    ("command", "unused"), [("--help", f"{HEAVY} {LIBRARIES}"), ("list", f"pandas jinja2 {ENGINES} {LIBRARIES}")]
)
def test_a_quick_command_imports_nothing_heavy(command, unused):
    call = f"CliRunner().invoke(tokbench.cli.main.tokbench, [{command!r}])"
    found = imported_by(f"from click.testing import CliRunner\nimport tokbench.cli.main\n{call}")
    assert "click" in found
    assert not set(unused.split()) & found
