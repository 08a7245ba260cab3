"""The tokenizer to check, in a form from which any process can make it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tokbench.config.validate import validate_options
from tokbench.contracts.backend import BackendSpec
from tokbench.contracts.options import Options
from tokbench.contracts.tokenizer import Tokenizer
from tokbench.errors import BackendUnavailable, InputError, one_line
from tokbench.progress import silent
from tokbench.registry import Registry, load_registry, missing
from tokbench.testing.texts import training_text

EXAMPLES: Final = 200


@dataclass(frozen=True)
class CheckRequest:
    """The tokenizer to check.

    Attributes:
        backend: a registered backend's name, or a spec.
        options: of loading, or of training.
        train: the vocabulary size to train to on the shipped text; 0 to load.
        examples: how many texts hypothesis generates, where it is installed.
        pickled: the pickled tokenizer itself, which is used instead of loading or training.
    """

    backend: str | BackendSpec
    options: Mapping[str, Any] = field(default_factory=dict)
    train: int = 0
    examples: int = EXAMPLES
    pickled: bytes = b""

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend if isinstance(self.backend, str) else self.backend.name

    def spec(self, registry: Registry) -> BackendSpec:
        """Return the backend.

        Raises:
            InputError: there is no backend of that name.
        """
        return registry.backends.get(self.backend) if isinstance(self.backend, str) else self.backend

    def check(self) -> None:
        """Refuse what cannot be made, before any process is started.

        Raises:
            InputError: unknown backend or options, a backend that cannot load (or train), or a spec that
                cannot be sent to another process.
        """
        spec = self.spec(load_registry())
        if self.train and spec.train is None:
            raise InputError(f"backend {spec.name!r} cannot be trained; leave out 'train'")
        if not self.train and spec.load is None:
            raise InputError(f"backend {spec.name!r} cannot be loaded, only trained; give train, a vocabulary size")
        if self.train and self.train < spec.min_vocab_size:
            raise InputError(f"train is {self.train}, but backend {spec.name!r} needs {spec.min_vocab_size} or more")
        self._validated(spec)
        try:
            pickle.dumps(self)
        except Exception as error:
            raise InputError(
                f"the spec of backend {spec.name!r} cannot be sent to the process that checks it "
                f"({one_line(error)}); give the name of a registered backend, or a spec whose load and train are "
                "functions or classes of a module"
            ) from error

    def _validated(self, spec: BackendSpec) -> Options:
        model = spec.train_options if self.train else spec.load_options
        return validate_options(model, dict(self.options), f"options of backend {spec.name!r}")

    def make(self, spec: BackendSpec) -> Tokenizer:
        """Load or train the tokenizer.

        Raises:
            BackendUnavailable: it cannot be had here.
            Exception: whatever the backend raises.
        """
        if self.pickled:
            copy: Tokenizer = pickle.loads(self.pickled)  # noqa: S301 - our own child process made it
            return copy
        absent = missing(spec)
        if absent:
            raise BackendUnavailable(absent)
        options = self._validated(spec)
        if not self.train:
            assert spec.load is not None
            return spec.load(options)
        assert spec.train is not None
        return spec.train(training_text(), self.train, options, silent)
