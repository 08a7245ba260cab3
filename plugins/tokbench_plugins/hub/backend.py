"""The backend ``hf``: a tokenizer of the Hugging Face hub, by the name of its model, or of a folder with its files."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.hub.fetch import fetch
from tokbench_plugins.hub.folder import load_folder
from tokbench_plugins.transformers.backend import TransformersLoadOptions


class HubLoadOptions(TransformersLoadOptions):
    """The name of a model, and its revision; or a folder."""

    name: str | None = Field(
        default=None, description="org/name on the hub, or org/name@revision; the local cache is used without network"
    )

    @model_validator(mode="after")
    def _one_revision(self) -> Self:
        if "@" in (self.name or "") and self.revision is not None:
            raise ValueError("the name has a revision after '@' already; leave 'revision' out")
        return self


def _load(options: HubLoadOptions) -> plugin.Tokenizer:
    if options.name is None:
        return load_folder(options, None)  # type: ignore[no-any-return]
    name, _, revision = options.name.partition("@")
    fetched = fetch(name, options.revision or revision or None, code=options.trust_remote_code)
    tokenizer: Any = load_folder(options.model_copy(update={"name": name}), fetched)
    notes = "file_notes" if hasattr(tokenizer, "file_notes") else "notes"
    setattr(tokenizer, notes, (*tokenizer.notes, f"{name} of the hub at commit {fetched.commit}"))
    tokenizer.identity = fetched.commit  # the meaning of a name may change
    return tokenizer  # type: ignore[no-any-return]


SPEC = plugin.BackendSpec(
    name="hf",
    summary="the tokenizer of a model on the Hugging Face hub, or a mirror, or in a folder; org/name alone is enough",
    load=_load,
    load_options=HubLoadOptions,
    requires=("huggingface_hub", "tokenizers"),
    install="pip install 'tokbench[huggingface]'",
    main="name",
    files=(plugin.FileKind("/"),),
    names=r"[A-Za-z0-9][\w.-]*/[\w.-]+(@[\w./-]+)?",
)
