"""The backend ``hf``: a tokenizer of the Hugging Face hub, by the name of its model."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe.special import SPECIAL_OPTION
from tokbench_plugins.hub.fetch import fetch
from tokbench_plugins.huggingface import backend as huggingface
from tokbench_plugins.sentencepiece import backend as sentencepiece
from tokbench_plugins.transformers import backend as transformers

_FILES: Final = ("tokenizer.json", "tokenizer.model", "spiece.model", "tokenizer_config.json", "config.json")
"""The first that a model has is read; the last two by ``AutoTokenizer``."""


class HubLoadOptions(plugin.Options):
    """The name of a model, and its revision."""

    name: str = Field(description="org/name on the hub, or org/name@revision; the local cache is used without network")
    revision: str | None = Field(default=None, description="a branch, a tag or a commit; main by default")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION

    @model_validator(mode="after")
    def _one_revision(self) -> Self:
        if "@" in self.name and self.revision is not None:
            raise ValueError("the name has a revision after '@' already; leave 'revision' out")
        return self


def _load(options: HubLoadOptions) -> plugin.Tokenizer:
    name, _, revision = options.name.partition("@")
    fetched = fetch(name, options.revision or revision or None, _FILES)
    given: dict[str, Any] = {"path": fetched.path, "special_tokens": options.special_tokens}
    tokenizer: Any
    if fetched.path.name == "tokenizer.json":
        tokenizer = huggingface.load(huggingface.HuggingFaceLoadOptions(**given))
    elif fetched.path.suffix == ".model":
        tokenizer = sentencepiece.load(sentencepiece.SentencePieceLoadOptions(**given))
    elif find_spec("transformers") is None:
        raise plugin.BackendUnavailable(
            f"{name}: neither tokenizer.json nor tokenizer.model there; AutoTokenizer may load it: "
            f"{transformers.SPEC.install}"
        )
    else:
        del given["path"]
        named = transformers.TransformersLoadOptions(name=name, revision=fetched.commit, **given)
        tokenizer = transformers.load(named)
    tokenizer.notes = (*tokenizer.notes, f"{name} of the hub at commit {fetched.commit}")
    tokenizer.identity = fetched.commit  # the meaning of a name may change
    return tokenizer  # type: ignore[no-any-return]


SPEC = plugin.BackendSpec(
    name="hf",
    summary="the tokenizer of a model on the Hugging Face hub, or a mirror; org/name alone is enough",
    load=_load,
    load_options=HubLoadOptions,
    requires=("huggingface_hub", "tokenizers"),
    install="pip install 'tokbench[huggingface]'",
    main="name",
    names=r"[A-Za-z0-9][\w.-]*/[\w.-]+(@[\w./-]+)?",
)
