"""The backend ``transformers``: what ``AutoTokenizer`` makes of a local folder or of a name on the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe.special import SPECIAL_OPTION
from tokbench_plugins.hub.fetch import fetch
from tokbench_plugins.tiktoken import backend as tiktoken


class TransformersLoadOptions(plugin.Options):
    """Either ``path`` or ``name``."""

    path: plugin.LocalPath | None = Field(
        default=None, description="a folder with a model's tokenizer files, or a tokenizer.json"
    )
    name: str | None = Field(
        default=None, description="instead of path: a name on the hub; the local cache is used without network"
    )
    revision: str | None = Field(default=None, description="with name: a branch, a tag or a commit; main by default")
    trust_remote_code: bool = Field(
        default=False, description="run the Python code that comes with the tokenizer; read it first"
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.path is None) == (self.name is None):
            raise ValueError("give either 'path' or 'name'")
        if self.path is not None and self.revision is not None:
            raise ValueError("'revision' goes with 'name'; a folder has one state")
        return self


def load(options: TransformersLoadOptions) -> plugin.Tokenizer:
    """Load a folder, or a name of the hub."""
    if options.name is None:
        return load_folder(options, options.path)
    fetched = fetch(options.name, options.revision, code=options.trust_remote_code)
    tokenizer: Any = load_folder(options, fetched.folder)
    tokenizer.identity = fetched.commit  # the meaning of a name may change
    return tokenizer  # type: ignore[no-any-return]


def load_folder(options: TransformersLoadOptions, folder: Path | None) -> plugin.Tokenizer:
    """Load what ``AutoTokenizer`` makes of a folder: that of the options, or with the files of their name.

    Raises:
        BackendError: it makes nothing of it, or nothing that has a vocabulary.
    """
    from tokbench_plugins.transformers.tokenizer import auto_tokenizer, behind_the_contract, rewritten

    assert folder is not None
    trust = options.trust_remote_code
    foreign = auto_tokenizer(folder, options.name or str(folder), trust_remote_code=trust)
    if not hasattr(foreign, "is_fast") and (folder / "tekken.json").is_file():  # which mistral-common would run
        given: dict[str, Any] = {"path": folder / "tekken.json", "special_tokens": options.special_tokens}
        return tiktoken.SPEC.load(tiktoken.TiktokenLoadOptions(**given))  # type: ignore[misc]
    notes: tuple[str, ...] = (
        ("trust_remote_code is on: Python code that comes with the tokenizer may have been run",) if trust else ()
    )
    notes += rewritten(foreign, folder / "tokenizer.json")
    return behind_the_contract(foreign, notes, options.special_tokens)


def _save_object(tokenizer: Any, folder: Path) -> dict[str, Any]:
    tokenizer.save_pretrained(folder)
    return {"path": "."}


SPEC = plugin.BackendSpec(
    name="transformers",
    summary="any tokenizer that AutoTokenizer loads, from a folder or the hub; needs no torch",
    load=load,
    load_options=TransformersLoadOptions,
    save_object=_save_object,
    requires=("transformers",),
    install="pip install 'tokbench[transformers]'",
    main="name",
    files=(plugin.FileKind("/", also=True), plugin.FileKind(".json", also=True)),
    precedence=-3,
)
