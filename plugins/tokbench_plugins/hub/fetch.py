"""Files of the Hugging Face hub or a mirror, fetched by ``huggingface_hub`` into its cache.

The library reads ``HF_ENDPOINT``, ``HF_TOKEN``, ``HF_HOME`` and ``HF_HUB_OFFLINE``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.foundation.errors import BackendUnavailable

_SECONDS: Final = 5.0
_LONGEST_REASON: Final = 240
_FILES: Final = (
    *("*token*.json", "tekken.json", "config.json", "encoder.json", "emoji.json", "special_tokens_map.json"),
    *("*vocab*", "*merges*", "*.model", "*.spm", "*.tiktoken", "*.bpe", "bpe.codes", "dict.txt"),
    *("chat_template.json", "*.jinja"),
)
"""What tokenizers are made of: no weights."""


class Fetched(NamedTuple):
    """The files of a tokenizer in the cache, at a commit of their repository."""

    folder: Path
    commit: str


def fetch(name: str, revision: str | None, *, code: bool) -> Fetched:
    """Return the files of a tokenizer, with their Python ``code`` if wanted; without network from the cache.

    Raises:
        BackendUnavailable: the message says why: the network, the name, access, the revision.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError
    from huggingface_hub.utils import tqdm

    offline = _unreachable()
    try:
        with quiet():
            folder = snapshot_download(
                name,
                revision=revision,
                allow_patterns=[*_FILES, *(["*.py"] if code else [])],
                ignore_patterns=["*/*"],
                local_files_only=bool(offline),
                tqdm_class=partial(tqdm, disable=True),
            )
    except LocalEntryNotFoundError as error:
        if offline:
            message = f"{name}: not in the hub's cache, and {offline}; load it once with network"
        else:
            message = f"{name}: the hub failed: {reason(error.__cause__ or error)}; retry"
        raise BackendUnavailable(message) from error
    except Exception as error:  # the library may raise anything
        raise BackendUnavailable(f"{name}: {_refusal(error, revision)}") from error
    return Fetched(Path(folder), Path(folder).name)


def _refusal(error: Exception, revision: str | None) -> str:
    from huggingface_hub import constants, errors

    response = getattr(error, "response", None)
    if isinstance(error, errors.GatedRepoError) or getattr(response, "status_code", 0) == 403:  # noqa: PLR2004
        return "gated: this account or token has no access; ask for it on the model's page, and set HF_TOKEN"
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"no such name at {constants.ENDPOINT}, or it is private; correct the name, or set HF_TOKEN"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"no revision {revision!r}; give a branch, a tag or a commit"
    if isinstance(error, errors.HFValidationError):
        return "not a name of the hub; write org/name or org/name@revision"
    return f"the hub failed: {reason(error)}; retry"


def _unreachable() -> str:
    """Ask once and briefly, because the library would retry for most of a minute; return why not, or nothing."""
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE forbids asking the hub"
    try:
        get_session().head(constants.ENDPOINT, timeout=_SECONDS)
    except Exception as error:  # noqa: BLE001 - the library that asks may raise anything
        return f"{constants.ENDPOINT} does not answer ({reason(error)})"
    return ""


def reason(error: BaseException) -> str:
    """Return the message of an exception in one short line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 3] + "..."


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what libraries log or warn of from a user, who gets their errors."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
