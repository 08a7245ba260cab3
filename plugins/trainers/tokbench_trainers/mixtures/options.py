"""The options of the study of mixtures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, Tie

Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]

BY_GROUP: Final = ""
"""Instead of the name of a language: the groups of the table are the languages."""


def _by_name(tables: Any) -> Any:
    """Return paths by language.

    >>> _by_name("all.counts"), _by_name({"de": ["a.counts", "b.counts"]})
    ({'': ('all.counts',)}, {'de': ('a.counts', 'b.counts')})
    """
    named = tables if isinstance(tables, Mapping) else {BY_GROUP: tables}
    return {name: (paths,) if isinstance(paths, str) else tuple(paths) for name, paths in named.items()}


class MixturesStudy(plugin.Options):
    """Options of the study of mixtures."""

    tables: Annotated[dict[str, tuple[plugin.LocalPath, ...]], BeforeValidator(_by_name), Field(min_length=1)] = Field(
        description="tables of tokbench count: by language, or one whose groups are the languages; of each split one"
    )
    weights: tuple[dict[str, Share], ...] = Field(
        default=(), description="mixtures: by language its share of the bytes; what is not named is left out"
    )
    alpha: tuple[Share, ...] = Field(
        default=(1.0, 0.3, 0.0), description="mixtures by temperature; 1: as the text is, 0: equal shares"
    )
    text: dict[str, Share] = Field(
        default={}, description="shares of the text on which all are compared; default: as the tables are"
    )
    patterns: tuple[str, ...] = Field(default=(), description="splits; default: all that the tables have")
    sizes: Annotated[tuple[Annotated[int, Field(gt=FIRST_MERGE)], ...], Field(min_length=1)] = Field(
        default=(32_768,), description="vocabulary sizes"
    )
    tie: Tie = Field(default="first", description="of equally frequent pairs: the first in the text, or smallest ids")

    @property
    def mixtures(self) -> dict[str, Mixture]:
        """The mixtures by name.

        >>> options = MixturesStudy(tables={"": ["all.counts"]}, alpha=(0.3,), weights=({"de": 2, "hi": 1},))
        >>> list(options.mixtures)
        ['alpha 0.3', '2 de, 1 hi']
        """
        by_alpha = {f"alpha {alpha:g}": alpha for alpha in self.alpha}
        return {**by_alpha, **dict(_named(self.weights))}


Mixture = float | dict[str, float]
"""A temperature, or weights."""

_MOST: Final = 4


def _named(weights: tuple[dict[str, float], ...]) -> Iterator[tuple[str, Mixture]]:
    for number, weight_of in enumerate(weights, 1):
        used = {name: weight for name, weight in weight_of.items() if weight}
        words = ", ".join(f"{weight:g} {name}" for name, weight in used.items())
        yield words if len(used) <= _MOST else f"weights {number}", used
