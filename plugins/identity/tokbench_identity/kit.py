"""A kit: few texts, in which wrong versions of a tokenizer give other ids."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, Final, NamedTuple

from tokbench import InputError
from tokbench.command import load_named
from tokbench.plugin import HasTokenBytes, Tokenizer
from tokbench_identity.mutants.decide import Decider
from tokbench_identity.mutants.model import StageModel, model_of
from tokbench_identity.mutants.pieces import broad_texts, joins, pieces_of, probe_texts
from tokbench_identity.mutants.ways import Mutant, mutants

KITS: Final = files("tokbench_identity").joinpath("kits.json.xz")
"""The kits of published names."""

_MOST: Final = 60
_BETWEEN: Final = ("\n", "a ", " 1 ")
_LONG, _SHORT, _FURTHER, _TOGETHER = 200, 250, 2_500, 10


class KitText(NamedTuple):
    """A text, and what a right implementation gives."""

    text: str
    ids: list[int]
    tokens: list[str]
    """The bytes of each id in hexadecimal; empty if they are unknown."""
    notices: list[str]
    """The wrong versions that give other ids."""


@dataclass(frozen=True)
class Kit:
    """The texts of one tokenizer."""

    name: str
    texts: tuple[KitText, ...]
    mutants: int
    """Wrong versions that were tried."""
    unnoticed: tuple[str, ...]
    """Those that no text was found for, and no proof that there is none."""
    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Those that are no mistakes with this vocabulary, by the reason."""
    not_kept: int = 0
    """Those that a text was found for, which is not among these."""

    @property
    def noticed(self) -> int:
        """Return how many wrong versions the texts notice."""
        return self.mutants - self.proved_same - len(self.unnoticed) - self.not_kept

    @property
    def proved_same(self) -> int:
        """Return how many give the ids of the tokenizer for every text."""
        return sum(map(len, self.same.values()))

    def content(self) -> dict[str, Any]:
        """Return it as JSON that any language reads."""
        return {
            "format": "tokbench-kit/1",
            "name": self.name,
            "mutants": self.mutants,
            "noticed": self.noticed,
            "texts": [text._asdict() for text in self.texts],
            "unnoticed": [*self.unnoticed],
            "same": {reason: [*words] for reason, words in self.same.items()},
        }


class Suspects(NamedTuple):
    """A tokenizer's model and its wrong versions."""

    model: StageModel
    mutants: list[Mutant]
    staged: bool
    """Whether split and merges are known; else only what works around a tokenizer is varied."""


def suspects(tokenizer: Tokenizer) -> Suspects:
    """Return the wrong versions of a tokenizer."""
    model, staged = model_of(tokenizer, probe_texts())
    return Suspects(model, mutants(tokenizer, model, staged=staged), staged)


def make_kit(
    name: str,
    tokenizer: Tokenizer | None = None,
    most: int = _MOST,
    *,
    decide: bool = False,
    earlier: Kit | None = None,
) -> Kit:
    """Make the kit of a tokenizer.

    Args:
        name: of the kit, and of the tokenizer if that is not given.
        tokenizer: the right one.
        most: the number of texts.
        decide: take minutes to find or to refute what few texts do not notice.
        earlier: an earlier kit, whose texts are used, and what it says is the same.

    >>> kit = make_kit("utf8_bytes", most=5)
    >>> len(kit.texts), kit.texts[0].ids == list(kit.texts[0].text.encode())
    (5, True)
    """
    tokenizer = tokenizer or load_named(name)
    model, wrong, _ = suspects(tokenizer)
    if earlier is None or earlier.mutants != len(wrong):
        noticed = _noticed(tokenizer, model, wrong, further=0 if decide else _FURTHER)
    else:
        noticed = {row.text: _noticing(model, wrong, row.text) for row in earlier.texts}
    same = _decided(Decider(tokenizer, model), wrong, noticed, earlier.same if earlier else {}) if decide else {}
    shrunk = [(_shrunk(text, [wrong[k] for k in new], model), new) for text, new in _cover(noticed)]
    broad = broad_texts(pieces_of([tokenizer]))[: most // 20]
    together = _together([row for row in shrunk if row[0]], wrong, model, most - len(broad))
    texts = [_kit_text(tokenizer, model, text, wrong) for text in (*(text for text, _ in together), *broad)]
    ever = {k for some in noticed.values() for k in some}
    kept = {words for text in texts for words in text.notices}
    kept.update(words for some in same.values() for words in some)
    unnoticed = tuple(str(mutant) for k, mutant in enumerate(wrong) if k not in ever and str(mutant) not in kept)
    return Kit(name, tuple(texts), len(wrong), unnoticed, same, len(wrong) - len(unnoticed) - len(kept))


def _noticing(model: StageModel, wrong: Sequence[Mutant], text: str) -> set[int]:
    ids = model.encode(text)
    return {k for k, mutant in enumerate(wrong) if mutant.model.encode(text) != ids}


def _decided(
    decider: Decider, wrong: Sequence[Mutant], noticed: dict[str, set[int]], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Add texts for what is not noticed yet; return what no text shows, by the reason."""
    same = {**known}
    decided = {words for some in known.values() for words in some}
    for k in sorted(set(range(len(wrong))).difference(*noticed.values())):
        if str(wrong[k]) in decided:
            continue
        reason, text = decider.decide(wrong[k])
        if text:
            noticed[text] = _noticing(decider.model, wrong, text)
        else:
            same[reason] = (*same.get(reason, ()), str(wrong[k]))
    return same


def _noticed(tokenizer: Tokenizer, model: StageModel, wrong: Sequence[Mutant], *, further: int) -> dict[str, set[int]]:
    """Return for each text the numbers of the wrong versions that it notices."""
    pieces = pieces_of([tokenizer])
    hints = list(dict.fromkeys(hint for mutant in wrong for hint in mutant.hints if len(hint) < 200))  # noqa: PLR2004
    long = list(dict.fromkeys(hint for mutant in wrong for hint in mutant.hints if len(hint) >= 200))  # noqa: PLR2004
    pool = [*joins(pieces, _LONG, 6, 12, seed=1), *joins(pieces, _SHORT, 2, 4, seed=2), *pieces[:60], *hints, *long]
    pool += ["\n".join(hints[k : k + _TOGETHER]) for k in range(0, len(hints), _TOGETHER)]
    noticed = dict[str, set[int]]()
    for text in dict.fromkeys(pool):
        ids = model.encode(text)
        if ids == list(map(int, tokenizer.encode(text))):
            noticed[text] = _noticing(model, wrong, text)
    left = set(range(len(wrong))) - {k for some in noticed.values() for k in some}
    for text in joins(pieces, further if left else 0, 2, 5, seed=3):
        ids = model.encode(text)
        new = {k for k in left if wrong[k].model.encode(text) != ids}
        if new and ids == list(map(int, tokenizer.encode(text))):
            noticed[text] = _noticing(model, wrong, text)
            left -= new
    return noticed


def _cover(noticed: Mapping[str, set[int]]) -> Iterator[tuple[str, set[int]]]:
    """Yield the text that notices most of what is left, and what that is, until nothing is."""
    left = {k for some in noticed.values() for k in some}
    while left:
        text = max(noticed, key=lambda text: (len(noticed[text] & left), -len(text)))
        yield text, noticed[text] & left
        left -= noticed[text]


def _shrunk(text: str, wrong: Sequence[Mutant], model: StageModel) -> str:
    """Delete what is not needed to notice some wrong versions."""
    size = len(text) // 2
    while size:
        at = 0
        while at < len(text):
            shorter = text[:at] + text[at + size :]
            ids = model.encode(shorter)
            if all(mutant.model.encode(shorter) != ids for mutant in wrong):
                text = shorter
            else:
                at += size
        size //= 2
    return text


def _together(
    rows: list[tuple[str, set[int]]], wrong: Sequence[Mutant], model: StageModel, most: int
) -> list[tuple[str, set[int]]]:
    """Join texts that are too many, where one text notices all that two did."""
    kept, left = rows[:most], rows[most:]
    for text, new in left:
        for at, separator in product(range(len(kept) - 1, -1, -1), _BETWEEN):
            joined, both = f"{kept[at][0]}{separator}{text}", kept[at][1] | new
            ids = model.encode(joined)
            if all(wrong[k].model.encode(joined) != ids for k in both):
                kept[at] = joined, both
                break
    return kept


def _kit_text(tokenizer: Tokenizer, model: StageModel, text: str, wrong: Sequence[Mutant]) -> KitText:
    ids = list(map(int, tokenizer.encode(text)))
    tokens = [tokenizer.token_bytes(k).hex() for k in ids] if isinstance(tokenizer, HasTokenBytes) else []
    same = model.encode(text) == ids
    return KitText(text, ids, tokens, [str(mutant) for mutant in wrong if same and mutant.model.encode(text) != ids])


def kit_of(name: str) -> Kit:
    """Return the kit that ships for a published name, or make the kit of any other tokenizer.

    >>> len(kit_of("gpt-4o").texts) <= 60
    True
    """
    shipped = _shipped()
    return (
        read_kit({**shipped["kits"][shipped["names"][name]], "name": name})
        if name in shipped["names"]
        else make_kit(name)
    )


def read_kit(content: Mapping[str, Any]) -> Kit:
    """Read a kit from JSON.

    Raises:
        InputError: it is not a kit.
    """
    try:
        texts = tuple(KitText(row["text"], row["ids"], row["tokens"], row["notices"]) for row in content["texts"])
        unnoticed = tuple(content["unnoticed"])
        return Kit(
            content["name"],
            texts,
            content["mutants"],
            unnoticed,
            same := {reason: tuple(words) for reason, words in content.get("same", {}).items()},
            content["mutants"] - content["noticed"] - len(unnoticed) - sum(map(len, same.values())),
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"not a kit of tokbench: {error!r}; write one with --write") from error


def shipped_names() -> list[str]:
    """Return the published names whose kits ship."""
    return list(_shipped()["names"])


@cache
def _shipped() -> dict[str, Any]:
    """Return the kits by sha, and which name has which; the words of notices are numbers in the file."""
    if not KITS.is_file():
        return {"names": {}, "kits": {}}
    content: dict[str, Any] = json.loads(lzma.decompress(KITS.read_bytes()))
    for kit in content["kits"].values():
        kit["unnoticed"] = [content["words"][k] for k in kit["unnoticed"]]
        kit["same"] = {why: [content["words"][k] for k in some] for why, some in kit.get("same", {}).items()}
        for row in kit["texts"]:
            row["notices"] = [content["words"][k] for k in row["notices"]]
    return content


def pack(kits: Iterable[Kit]) -> bytes:
    """Return the content of the file of all kits; names with the same ids share one."""
    words = dict[str, int]()
    names, packed = dict[str, str](), dict[str, Any]()
    for kit in kits:
        content = kit.content()
        content["unnoticed"] = [words.setdefault(some, len(words)) for some in kit.unnoticed]
        content["same"] = {why: [words.setdefault(one, len(words)) for one in some] for why, some in kit.same.items()}
        for row in content["texts"]:
            row["notices"] = [words.setdefault(some, len(words)) for some in row["notices"]]
        names[kit.name] = kit.name
        packed[kit.name] = content
    whole = {"names": names, "kits": packed, "words": list(words)}
    return lzma.compress(
        json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    )
