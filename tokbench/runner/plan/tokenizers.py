"""From the entries of tokenizers to the tokenizers that will be loaded or trained."""

from __future__ import annotations

from tokbench.config.grid import Variant, expand
from tokbench.config.model import TokenizerEntry
from tokbench.contracts.backend import BackendSpec
from tokbench.errors import did_you_mean
from tokbench.registry import missing
from tokbench.runner.plan.model import PlannedTokenizer
from tokbench.runner.plan.resolve import Resolver


class TokenizerPlanner(Resolver):
    """Plans tokenizers."""

    def tokenizer(self, name: str, entry: TokenizerEntry) -> None:
        """Plan the tokenizers of an entry, or tell what is wrong with it."""
        path = ("tokenizers", name)
        spec = self._try((*path, "backend"), lambda: self._registry.backends.get(entry.backend))
        if spec is None:
            return
        if (spec.train if entry.train else spec.load) is None:
            verb, remedy = ("be trained", "remove 'train'") if entry.train else ("be loaded", "add 'train'")
            self._problem(path, f"backend {spec.name!r} cannot {verb}; {remedy}")
            return
        for corpus in entry.train.corpus if entry.train else ():
            self._named_corpus(corpus, (*path, "train", "corpus"))
        absent = missing(spec) or ""
        if absent and not entry.optional:
            self._problem((*path, "backend"), f"backend {spec.name!r} {absent}; or mark it 'optional: true'")
        smaller = self._smaller_sizes(entry, spec)
        if smaller:
            train = entry.train.model_copy(update={"vocab_size": (*smaller, *entry.train.vocab_size)})  # type: ignore[union-attr]
            entry = self._config.tokenizers[name] = entry.model_copy(update={"train": train})
        for variant in expand(name, entry):
            # A smaller size that the text is too short for, say, is not a failure: nobody asked for that very size.
            optional = entry.optional or variant.vocab_size in smaller
            self._variant(variant, name, entry.model_copy(update={"optional": optional}), spec, absent)

    def _smaller_sizes(self, entry: TokenizerEntry, spec: BackendSpec) -> tuple[int, ...]:
        """Return the smaller sizes at which a study also trains a vocabulary that cannot be cut."""
        study, train = self._config.study.vocabulary, entry.train
        if not study or not train or spec.nested or len(train.vocab_size) > 1:
            return ()
        return tuple(size for size in study.sizes if spec.min_vocab_size <= size < train.vocab_size[0])

    def _variant(self, variant: Variant, name: str, entry: TokenizerEntry, spec: BackendSpec, absent: str) -> None:
        path = ("tokenizers", name)
        if variant.name in {planned.name for planned in self._plan.tokenizers}:
            self._problem(path, f"two tokenizers would be called {variant.name!r}; rename one")
            return
        size = variant.vocab_size or 0
        if entry.train and size < spec.min_vocab_size:
            self._problem(
                (*path, "train", "vocab_size"),
                f"vocab_size {size} is too small: {spec.name} needs at least {spec.min_vocab_size}",
            )
        model = spec.train_options if entry.train else spec.load_options
        options = self._options(model, variant.options, path, tuple(TokenizerEntry.model_fields))
        if options is None:
            return
        self._plan.tokenizers.append(
            PlannedTokenizer(
                name=variant.name,
                entry=name,
                spec=spec,
                options=options,
                given=variant.options,
                train_on=entry.train.corpus if entry.train else (),
                vocab_size=size,
                optional=entry.optional,
                same_as=entry.same_as,
                where=self._config.located.where(path, key=True),
                absent=absent,
            )
        )

    def same_as(self) -> None:
        """Refuse references that do not exist, or that are themselves compared with another."""
        entries = self._config.tokenizers
        variants = {name: [each.name for each in expand(name, entry)] for name, entry in entries.items()}
        declared = {each: entry.same_as for name, entry in entries.items() for each in variants[name]}
        for name, entry in entries.items():
            other, path = entry.same_as, ("tokenizers", name, "same_as")
            if not other:
                continue
            if other in variants[name]:
                self._problem(path, f"{other!r} cannot be compared with itself; name another tokenizer")
            elif declared.get(other):
                self._problem(
                    path, f"{other!r} is itself the same as {declared[other]!r}; name that one, the reference of all"
                )
            elif other in variants and variants[other] != [other]:
                self._problem(path, f"{other!r} is several tokenizers; name one of {', '.join(variants[other])}")
            elif other not in declared and other not in self._config.located.data["tokenizers"]:
                self._problem(path, f"unknown tokenizer {other!r}; {did_you_mean(other, declared)}")
