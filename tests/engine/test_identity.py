"""Identities: whatever can change a result changes them, and nothing else does."""

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from pydantic import Field

import tokbench
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
        "acme_identity/backend.py": "def load(options):\n    import acme_beside\n    from acme_common import x\n",
        "acme_identity/table.tsv": "1",
        "acme_common/__init__.py": "x = 1",
        "acme_beside.py": "y = 1",
        "acme_other.py": "z = 1",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    plugin = PluginStatus("acme", "", "", module="acme_identity.backend")
    return lambda: Identities().backend(BackendSpec(name="acme", summary=""), plugin)["code"]


def test_the_code_of_a_plugin_is_its_package_and_what_it_imports_from_beside(package, tmp_path):
    before = package()
    assert sorted(before) == ["acme_beside", "acme_common", "acme_identity"]
    (tmp_path / "acme_other.py").write_text("z = 2", encoding="utf-8")
    assert package() == before
    for file in ("acme_identity/table.tsv", "acme_common/__init__.py", "acme_beside.py"):
        (tmp_path / file).write_text("x = 2\n", encoding="utf-8")
        assert package() != before
        before = package()


def test_installed_packages_beside_a_plugin_count_by_version():
    plugin = PluginStatus("regex", "regex", "1", module="regex")
    found = Identities().backend(BackendSpec(name="regex", summary="", requires=("numpy",)), plugin)
    assert list(found["code"]) == ["regex"]
    assert set(found["libraries"]) == {"numpy", "regex"}
    assert found["libraries"]["numpy"] == np.__version__


def test_the_code_of_every_plugin_that_tokbench_brings_is_found():
    registry, identities = load_registry(), Identities()
    for backend in registry.backends.entries.values():
        if backend.plugin.distribution == "tokbench":
            assert identities.backend(backend.spec, backend.plugin)["code"]
    for family in registry.metrics.entries.values():
        if family.spec.text:
            assert identities.family(family.spec, Options(), family.plugin)["code"], family.spec.name
    compression = registry.metrics.entries["compression"]
    found = identities.family(compression.spec, compression.spec.options(), compression.plugin)["code"]
    assert list(found) == ["tokbench.metrics.compression"]


def test_a_change_of_the_core_makes_other_states(tmp_path, monkeypatch):
    core = tmp_path / "tokbench"
    shutil.copytree(Path(tokbench.__file__).parent, core, ignore=shutil.ignore_patterns("__pycache__", "sample"))
    monkeypatch.setattr("tokbench.engine.identity._ROOT", core)
    before = Identities().surroundings()["tokbench"]
    (core / "report" / "report.py").write_text("# shows numbers\n")
    assert Identities().surroundings()["tokbench"] == before
    for file in ("engine/probe.py", "measuring/sums.py", "version.py"):
        (core / file).write_text("# decides numbers\n")
        after = Identities().surroundings()["tokbench"]
        assert after != before
        before = after


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
