"""The backends ``hf`` and ``transformers``: a name of the Hugging Face hub, or a folder with a tokenizer's files.

``hf`` reads what is there; ``transformers`` loads what ``AutoTokenizer`` makes of it, whatever that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe.special import SPECIAL_OPTION
from tokbench_plugins.hub.fetch import fetch
from tokbench_plugins.hub.folder import load_auto, load_folder


class HubLoadOptions(plugin.Options):
    """Either ``path`` or ``name``."""

    path: plugin.LocalPath | None = Field(
        default=None, description="a folder with a model's tokenizer files, or a tokenizer.json"
    )
    name: str | None = Field(
        default=None, description="instead of path: org/name on the hub, or org/name@revision; or of its cache"
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
        if "@" in (self.name or "") and self.revision is not None:
            raise ValueError("the name has a revision after '@' already; leave 'revision' out")
        return self


def _load(make: Callable[[Any, Path, str], Any], options: HubLoadOptions) -> plugin.Tokenizer:
    if options.path is not None:
        return make(options, options.path, str(options.path))  # type: ignore[no-any-return]
    name, _, revision = str(options.name).partition("@")
    fetched = fetch(name, options.revision or revision or None, code=options.trust_remote_code)
    tokenizer = make(options, fetched.folder, name)
    notes = "file_notes" if hasattr(tokenizer, "file_notes") else "notes"
    setattr(tokenizer, notes, (*tokenizer.notes, f"{name} of the hub at commit {fetched.commit}"))
    tokenizer.identity = fetched.commit  # the meaning of a name may change
    return tokenizer  # type: ignore[no-any-return]


def _save_object(tokenizer: Any, folder: Path) -> dict[str, Any]:
    from tokbench_plugins.transformers.tokenizer import has_own_decode

    kind = type(tokenizer)
    if not tokenizer.is_fast and kind.__module__.partition(".")[0] != "transformers":
        raise plugin.BackendError("its class is Python code of yours, which no file brings; write a backend for it")
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"
    if tokenizer.is_fast and not has_own_decode(tokenizer):  # a class would make another pipeline than its object has
        general = {"tokenizer_class": "PreTrainedTokenizerFast"}
        file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | general), encoding="utf-8")
    return {"path": "."}


SPEC = plugin.BackendSpec(
    name="hf",
    summary="the tokenizer of a model on the Hugging Face hub, or a mirror, or in a folder; org/name alone is enough",
    load=partial(_load, load_folder),
    load_options=HubLoadOptions,
    requires=("huggingface_hub", "tokenizers"),
    install="pip install 'tokbench[huggingface]'",
    main="name",
    files=(plugin.FileKind("/"),),
    names=r"[A-Za-z0-9][\w.-]*/[\w.-]+(@[\w./-]+)?",
)

AUTO = plugin.BackendSpec(
    name="transformers",
    summary="any tokenizer that AutoTokenizer loads, from a folder or the hub; needs no torch",
    load=partial(_load, load_auto),
    load_options=HubLoadOptions,
    save_object=_save_object,
    requires=("transformers",),
    install="pip install 'tokbench[transformers]'",
    main="name",
    files=(plugin.FileKind("/", also=True), plugin.FileKind(".json", also=True)),
    precedence=-3,
)
