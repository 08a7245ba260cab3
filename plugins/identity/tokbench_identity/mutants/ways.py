"""The list of ways to be wrong, for any tokenizer."""

from __future__ import annotations

import html
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import regex

from tokbench.plugin import HasSpecialTokens, HasTokenBytes, Tokenizer
from tokbench_identity.mutants.model import Changed, Merges, StageModel, Touched, pairs_of, unchanged
from tokbench_identity.mutants.pieces import texts_of
from tokbench_identity.mutants.splits import known_splits, wrong_splits

_SPECIAL: Final = 40
_PLACES: Final = 24
_PER_SPLIT: Final = 360
_LONGEST: Final = 30
_UINT16: Final = 0xFFFF


class Mutant(NamedTuple):
    """A wrong version of a tokenizer."""

    stage: str
    words: str
    model: StageModel
    hints: tuple[str, ...] = ()
    """Texts in which it may show."""

    def __str__(self) -> str:
        return f"{self.stage}: {self.words}"


def _replaced(before: str, after: str) -> Callable[[str], str]:
    return partial(regex.compile(before).sub, after)


def _normal(form: str) -> Callable[[str], str]:
    return lambda text: unicodedata.normalize(form, text)  # type: ignore[arg-type]


_NORMALIZERS: Final[dict[str, Callable[[str], str]]] = {
    **{f"{form} of the text": _normal(form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "lower case": str.lower,
    "case folding": str.casefold,
    "spaces around the text removed": str.strip,
    "spaces at the start removed": str.lstrip,
    "spaces at the end removed": str.rstrip,
    "the last line end removed": _replaced(r"\n\Z", ""),
    "runs of spaces as one": _replaced(" +", " "),
    "runs of white space as one space": _replaced(r"\s+", " "),
    "CR LF as LF": _replaced("\r\n", "\n"),
    "CR as LF": _replaced("\r\n?", "\n"),
    "LF as CR LF": _replaced("(?<!\r)\n", "\r\n"),
    "CR removed": _replaced("\r", ""),
    "a BOM at the start removed": _replaced("^\ufeff", ""),
    "every BOM removed": _replaced("\ufeff", ""),
    "a space before the text": lambda text: f" {text}",
    "a space before a text without one": lambda text: text if text.startswith(" ") else f" {text}",
    "a line end after the text": lambda text: f"{text}\n",
    "NUL removed": _replaced("\0", ""),
    "text ends at NUL": lambda text: text.partition("\0")[0],
    "control characters removed": _replaced(r"[^\P{Cc}\t\n\r]", ""),
    "control characters as spaces": _replaced(r"\p{Cc}", " "),
    "format characters removed": _replaced(r"\p{Cf}", ""),
    "zero width space removed": _replaced("\u200b", ""),
    "zero width joiner removed": _replaced("\u200d", ""),
    "soft hyphens removed": _replaced("\u00ad", ""),
    "variation selectors removed": _replaced("\ufe0f", ""),
    "no-break space as a space": _replaced("\u00a0", " "),
    "wide space as a space": _replaced("\u3000", " "),
    "every space of Unicode as a space": _replaced(r"\p{Zs}", " "),
    "line separators as line ends": _replaced("[\u2028\u2029\x85\x0b\x0c]", "\n"),
    "tab as a space": _replaced("\t", " "),
    "tab as four spaces": _replaced("\t", "    "),
    "accents removed": lambda text: regex.sub(r"\p{Mn}", "", unicodedata.normalize("NFD", text)),
    "marks removed": _replaced(r"\p{M}", ""),
    "private characters removed": _replaced(r"\p{Co}", ""),
    "U+FFFD removed": _replaced("\ufffd", ""),
    "typographic quotes as ASCII": _replaced("[\u2018\u2019]", "'"),
    "wide letters as ASCII": _replaced("[\uff01-\uff5e]", "?"),
    "above U+FFFF one U+FFFD": _replaced("[\U00010000-\U0010ffff]", "\ufffd"),
    "above U+FFFF two U+FFFD, as from surrogates": _replaced("[\U00010000-\U0010ffff]", "\ufffd\ufffd"),
    "above U+FFFF dropped": _replaced("[\U00010000-\U0010ffff]", ""),
    "only Latin-1 read": lambda text: text.encode("latin-1", "replace").decode("latin-1"),
    "only ASCII read": lambda text: text.encode("ascii", "replace").decode(),
    "UTF-8 read as Latin-1": lambda text: text.encode("utf-8", "replace").decode("latin-1"),
    "entities of HTML resolved": html.unescape,
    "escaped line ends resolved": lambda text: text.replace("\\n", "\n"),
    "U+2581 read as a space": lambda text: text.replace("\u2581", " "),
    "\u0120 read as a space": lambda text: text.replace("Ġ", " "),
    "long s read as s": lambda text: text.replace("\u017f", "s"),
    "noncharacters as U+FFFD": _replaced("[\ufffe\uffff\U0010fffe\U0010ffff]", "\ufffd"),
    "unassigned characters as U+FFFD": _replaced(r"\p{Cn}", "\ufffd"),
    "Thai and Chinese read with spaces": _replaced(r"(?<=[\p{Han}\p{Thai}])(?=[\p{Han}\p{Thai}])", " "),
    "a space around signs": _replaced(r"(?<=\w)(?=[^\w\s])", " "),
}


def _pieces(size: int) -> Callable[[str], list[str]]:
    return lambda text: [text[k : k + size] for k in range(0, len(text), size)]


_BUFFERS: Final[dict[str, Callable[[str], Sequence[str]]]] = {
    **{f"cut every {size} characters": _pieces(size) for size in (64, 128, 256, 512)},
    "cut after every line": lambda text: text.splitlines(keepends=True),
    "cut after every line feed": lambda text: regex.split("(?<=\n)", text),
    "cut before every line feed": lambda text: regex.split("(?=\n)", text),
    "cut after every space": lambda text: regex.split("(?<= )", text),
    "cut before every space": lambda text: regex.split("(?= )", text),
    "cut around white space": lambda text: regex.split(r"(\s+)", text),
    "cut at NUL": lambda text: regex.split("(\0)", text),
    "cut after sentences": lambda text: regex.split(r"(?<=[.!?])", text),
    "cut at every character above U+FFFF": lambda text: regex.split("([\U00010000-\U0010ffff])", text),
    "cut around every character outside ASCII": lambda text: regex.split("([^\0-\x7f])", text),
    "line ends lost between lines": str.splitlines,
    "words read alone, white space lost": str.split,
    "only the first line read": lambda text: text.split("\n")[:1],
    "stops after 128 characters": lambda text: [text[:128]],
    "stops after 512 characters": lambda text: [text[:512]],
}


def mutants(tokenizer: Tokenizer, model: StageModel, *, staged: bool) -> list[Mutant]:
    """Return all wrong versions of a tokenizer.

    Args:
        tokenizer: the right one.
        model: its stages.
        staged: whether the model knows the split and the merges.
    """
    made = [*_normalizers(model), *_buffers(model), *_ids(tokenizer, model), *_special(tokenizer, model)]
    if staged:
        made += [*_splits(model), *_added_pieces(model)]
    if staged and isinstance(model.merging, Merges):
        made += [*_merges(model, model.merging), *_tokens(tokenizer, model, model.merging)]
    return [*_numbered(made)]


def _numbered(made: Iterable[Mutant]) -> Iterator[Mutant]:
    """Number what has the same words, such as one change in two alternatives of a split."""
    seen = Counter[str]()
    for mutant in made:
        seen[str(mutant)] += 1
        again = seen[str(mutant)]
        yield mutant if again == 1 else mutant._replace(words=f"{mutant.words} ({again})")


def _normalizers(model: StageModel) -> Iterator[Mutant]:
    if model.normalize is not unchanged:
        yield Mutant("normalizer", "none at all", replace(model, normalize=unchanged))
    for words, change in _NORMALIZERS.items():
        yield Mutant("normalizer", words, replace(model, normalize=_composed(change, model.normalize)))


def _composed(first: Callable[[str], str], then: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: then(first(text))


def _buffers(model: StageModel) -> Iterator[Mutant]:
    long = ("internationalization 12345 " * 22, " ab\n\n" * 120, f"ab{'x' * 600}")
    for words, cut in _BUFFERS.items():
        yield Mutant("buffer", words, replace(model, parts=cut), long)


def _ids(tokenizer: Tokenizer, model: StageModel) -> Iterator[Mutant]:
    size = tokenizer.vocab_size
    ways: dict[str, Callable[[list[int]], list[int]]] = {
        "the first one lost": lambda ids: ids[1:],
        "the last one lost": lambda ids: ids[:-1],
        "equal neighbours as one": lambda ids: [k for k, before in zip(ids, [-1, *ids], strict=False) if k != before],
        "in reverse order": lambda ids: ids[::-1],
        "one too high": lambda ids: [k + 1 for k in ids],
        "one too low": lambda ids: [k - 1 for k in ids],
    }
    if size > _UINT16:
        ways["only 16 bits of them"] = lambda ids: [k & _UINT16 for k in ids]
    special = _by_id(tokenizer)
    for name, k in [*special.items()][:4]:
        ways[f"{name} before the text"] = partial(_framed, [k], [])
        ways[f"{name} after the text"] = partial(_framed, [], [k])
    for words, change in ways.items():
        yield Mutant("ids", words, replace(model, ids=change))
    for at in _places(300, size, 12):
        hints = tuple(filter(None, (_text(tokenizer, at), _text(tokenizer, at + 1))))
        shifted = replace(model, ids=partial(_moved, at))
        yield Mutant("ids", f"one too high from {at} on", shifted, hints)


def _by_id(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the special tokens in an order that is always the same."""
    special = tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else {}
    return dict(sorted(special.items(), key=lambda row: (row[1], row[0])))


def _framed(before: list[int], after: list[int], ids: list[int]) -> list[int]:
    return [*before, *ids, *after]


def _moved(start: int, ids: list[int]) -> list[int]:
    return [k + (k >= start) for k in ids]


def _places(least: int, size: int, count: int) -> list[int]:
    return sorted({int(least * (max(size - 2, least) / least) ** (k / count)) for k in range(count)})


def _text(tokenizer: Tokenizer, token_id: int) -> str:
    if not isinstance(tokenizer, HasTokenBytes) or not 0 <= token_id < tokenizer.vocab_size:
        return ""
    try:
        return tokenizer.token_bytes(token_id).decode()
    except UnicodeDecodeError:
        return ""


def _special(tokenizer: Tokenizer, model: StageModel) -> Iterator[Mutant]:
    special = _by_id(tokenizer)
    names = [name for name in special if name not in model.added]
    for name in names[:: max(1, len(names) // _SPECIAL)]:
        read = replace(model, added={**model.added, name: special[name]})
        yield Mutant("special tokens", f"{name} read in text", read, (name,))
    if names:
        yield Mutant(
            "special tokens", "all read in text", replace(model, added={**model.added, **special}), (names[0],)
        )


def _added_pieces(model: StageModel) -> Iterator[Mutant]:
    for text in [*model.added][:: max(1, len(model.added) // _LONGEST)]:
        rest = {other: k for other, k in model.added.items() if other != text}
        yield Mutant("added tokens", f"{text!r} not read whole", replace(model, added=rest), (text, f"x{text}y"))
    if not model.added:
        return
    some = tuple([*model.added][:4])
    yield Mutant("added tokens", "none read whole", replace(model, added={}), some)
    stripped = regex.compile("|".join(rf"\s*{regex.escape(text)}\s*" for text in some))
    yield Mutant(
        "added tokens",
        "spaces around them lost",
        replace(model, parts=lambda text: [stripped.sub(lambda match: match[0].strip(), text)]),
        tuple(f"a {text} b" for text in some),
    )


def _splits(model: StageModel) -> Iterator[Mutant]:
    for at, pattern in enumerate(model.split):
        before, after = model.split[:at], model.split[at + 1 :]
        if len(model.split) > 1:
            yield Mutant("split", f"without the step {pattern[:40]}", replace(model, split=(*before, *after)))
        wrong = list(wrong_splits(pattern))
        if len(wrong) > _PER_SPLIT:  # always the same ones
            wrong = random.Random(0).sample(wrong, _PER_SPLIT)  # noqa: S311 - nothing secret
        for words, changed in wrong:
            yield Mutant("split", words, replace(model, split=(*before, changed, *after)))
    for words, pattern in known_splits(model.split[-1] if model.split else r"[\s\S]+"):
        yield Mutant("split", words, replace(model, split=(pattern,)))
    for words, pattern in {
        "digits cut one by one before it": r"\d", "white space cut before it": r"\s+",
        "signs cut before it": r"[^\w\s]", "lines cut before it": r"\n", "Han cut one by one before it": r"\p{Han}",
    }.items():  # fmt: skip
        yield Mutant("split", words, replace(model, split=(pattern, *model.split)))


def _merges(model: StageModel, merges: Merges) -> Iterator[Mutant]:
    def fresh(**changes: Any) -> Merges:
        return replace(merges, made={}, **changes)  # what was made in another way is not taken

    ways = {
        "pairs merged from the left, whatever their rank": fresh(choose=lambda found: found[0]),
        "pairs merged from the right, whatever their rank": fresh(choose=lambda found: found[-1]),
        "the rightmost of equal pairs first": fresh(choose=lambda found: min(found, key=lambda one: (one[0], -one[1]))),
        "the last rank first": fresh(choose=max),
        "no merges": fresh(pairs={}),
        **{f"chunks over {n} bytes not merged": fresh(longest=n) for n in (8, 16, 24, 32, 48, 64, 100, 128)},
    }
    if merges.whole:
        ways["chunks not looked up as wholes"] = fresh(whole={})
    else:
        data = dict(_made(merges))
        ways["chunks looked up as wholes first"] = fresh(whole=data)
    if merges.fallback:
        ways["unknown characters lost"] = fresh(single=_Dropped(merges.single))
        ways["unknown characters as one id"] = fresh(fallback=())
        ways["bytes of unknown characters one too high"] = fresh(fallback=[k + 1 for k in merges.fallback])
    long = ("x" * 150, " " * 150, "a" * 9, "antidisestablishmentarianism" * 2, "\U0010ffff\u0378", "aaa", "=" * 40)
    for words, wrong in ways.items():
        yield Mutant("merges", words, replace(model, merging=wrong), long)


class _Dropped(dict):  # type: ignore[type-arg]
    """Ids of characters; none for others."""

    def __contains__(self, _: object) -> bool:
        return True

    def get(self, key: object, default: object = None) -> object:
        del default
        return super().get(key, ())


def _made(merges: Merges) -> Iterator[tuple[bytes, int]]:
    data = {k: (unit.encode() if isinstance(unit, str) else bytes([unit])) for unit, [k] in merges.single.items()}
    for (left, right), (_, made) in pairs_of(merges).items():
        data[made] = data[left] + data[right]
        yield data[made], made


def _tokens(tokenizer: Tokenizer, model: StageModel, merges: Merges) -> Iterator[Mutant]:
    """Yield what lacks one merge, or has two merges in the other order."""
    rows = [*pairs_of(merges).items()]
    after: dict[int, list[int]] = {}
    for at, ((left, _), _made_id) in enumerate(rows):
        after.setdefault(left, []).append(at)
    texts = [text for text in texts_of(tokenizer) if len(text) > 2] if isinstance(tokenizer, HasTokenBytes) else []  # noqa: PLR2004
    for at in _places(4, len(rows), _PLACES if model.split else 4 * _PLACES):
        (left, right), (rank, made) = rows[at]
        if text := _text(tokenizer, made):
            lacking = Changed(pairs_of(merges), {(left, right): None})
            wrong = Touched(merges, replace(merges, pairs=lacking, made={}), text.encode())
            hints = (text, f" {text.strip()}", *[other for other in texts if text in other][:3])
            yield Mutant("merges", f"without the one of {text!r}", replace(model, merging=wrong), hints)
        later = next((k for k in after.get(right, ()) if k > at), None)
        if later is None:
            continue
        pair, (rank_2, made_2) = rows[later]
        text = f"{_text(tokenizer, left)}{_text(tokenizer, made_2)}"
        if _text(tokenizer, left) and _text(tokenizer, made_2):
            swapped = Changed(pairs_of(merges), {(left, right): (rank_2, made), pair: (rank, made_2)})
            wrong = Touched(merges, replace(merges, pairs=swapped, made={}), text.encode())
            words = f"{_text(tokenizer, made_2)!r} before {_text(tokenizer, made)!r}"
            yield Mutant("merges", words, replace(model, merging=wrong), (text, f" {text}"))
