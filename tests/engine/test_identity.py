"""Identities: whatever can change a result changes them, and nothing else does."""

import hashlib
import os

import numpy as np
import pytest
from pydantic import Field

from tokbench.engine.identity import Identities, file_digest, options_identity
from tokbench.engine.load import vocabulary_sha256
from tokbench.plugin import LocalPath, Options
from tokbench.registry.plugins import PluginStatus, load_registry
from tokbench.tokenizers.backend import BackendSpec


class Files(Options):
    path: LocalPath | None = None
    several: tuple[LocalPath, ...] = ()
    by_name: dict[str, LocalPath] = Field(default_factory=dict)
    text: str = ""
    words: frozenset[str] = frozenset()


def values(**options):
    return options_identity(Files(**options))


def test_files_count_by_content_wherever_an_option_names_them(tmp_path):
    file = tmp_path / "a.model"
    for options in (
        {"path": file},
        {"several": (file,)},
        {"by_name": {"x": file}},
        {"text": str(file)},
        {"path": tmp_path},
    ):
        file.write_text("one", encoding="utf-8")
        first = values(**options)
        os.utime(file, (1, 1))
        assert values(**options) == first
        file.write_text("two", encoding="utf-8")
        assert values(**options) != first


def test_the_folder_of_a_file_does_not_count_and_its_name_does(tmp_path):
    for name in ("a/x.model", "b/x.model", "b/y.model"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("one", encoding="utf-8")
    a, b, renamed = (values(path=tmp_path / name) for name in ("a/x.model", "b/x.model", "b/y.model"))
    assert a == b
    assert a != renamed


def test_sets_have_no_order():
    words = [f"word {k}" for k in range(50)]
    assert values(words=frozenset(words)) == values(words=frozenset(reversed(words)))
    assert values(words=frozenset(words)) != values(words=frozenset(words[1:]))


def test_a_folder_counts_by_the_names_and_contents_of_its_files(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_text("x", encoding="utf-8")
    digests = [file_digest(tmp_path)]
    (tmp_path / ".hidden").write_text("x", encoding="utf-8")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("x", encoding="utf-8")
    assert file_digest(tmp_path) == digests[0]
    (tmp_path / "deep" / "a").rename(tmp_path / "deep" / "b")
    digests.append(file_digest(tmp_path))
    (tmp_path / "deep" / "b").write_text("y", encoding="utf-8")
    digests.append(file_digest(tmp_path))
    (tmp_path / "c").write_text("", encoding="utf-8")
    digests.append(file_digest(tmp_path))
    assert len(set(digests)) == 4


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write a plugin of two packages and a module, and return what gives the digests of its code."""
    files = {
        "acme_identity/__init__.py": "",
        "acme_identity/backend.py": "def load(options):\n    import acme_beside\n",
        "acme_identity/table.tsv": "1",
        "acme_common/__init__.py": "x = 1",
        "acme_beside.py": "y = 1",
        "docs/acme.md": "z = 1",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    plugin = PluginStatus("acme", "", "", module="acme_identity.backend")
    return lambda: Identities().backend(BackendSpec(name="acme", summary=""), plugin)


@pytest.mark.parametrize(
    "file", ["acme_identity/table.tsv", "acme_common/__init__.py", "acme_beside.py", "docs/acme.md"]
)
def test_the_code_of_a_project_counts(package, tmp_path, file):
    before = package()
    (tmp_path / file).write_text("x = 2", encoding="utf-8")
    assert (package() == before) == (file == "docs/acme.md")


def test_installed_packages_beside_a_plugin_count_by_version():
    plugin = PluginStatus("regex", "regex", "1", module="regex")
    found = Identities().backend(BackendSpec(name="regex", summary="", requires=("numpy",)), plugin)
    assert list(found["plugin"]["code"]) == ["regex"]
    assert set(found["plugin"]["libraries"]) == {"regex"}
    assert found["requires"] == {"numpy": np.__version__}


def test_the_code_of_tokbench_counts_for_all(monkeypatch):
    registry = load_registry()
    entry = registry.metrics.entries["compression"]

    def identities():
        one = Identities()
        family = one.family(entry.spec, entry.spec.options(), entry.plugin)
        return one.surroundings(), family, one.backend(registry.backends.get("utf8_bytes"), entry.plugin)

    before = identities()
    assert identities() == before
    monkeypatch.setattr("tokbench.engine.identity.file_digest", lambda path: f"other code of {path.name}")
    assert all(one != other for one, other in zip(before, identities(), strict=True))


class Numbered:
    """A tokenizer whose ids have two lengths, and none."""

    vocab_size = 5000

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode()

    def token_bytes(self, token_id, /):
        return str(token_id).encode() * (token_id % 3)


def test_the_digest_of_a_vocabulary_is_that_of_its_lengths_and_bytes():
    expected = hashlib.sha256()
    for k in range(5000):
        token = str(k).encode() * (k % 3)
        expected.update(len(token).to_bytes(4, "little") + token)
    assert vocabulary_sha256(Numbered()) == expected.hexdigest()
