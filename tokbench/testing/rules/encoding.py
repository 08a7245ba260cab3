"""Rules about ``encode``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import set_heartbeat
from tokbench.testing.findings import Broken, PrerequisiteFailed, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.texts import long_texts
from tokbench.testing.under_test import TokenizerUnderTest, is_id
from tokbench.tokenizers.contract import (
    EncodesBatch,
    EncodesWithSpecial,
    HasDummyPrefix,
    HasSpecialTokens,
    HasTokenBytes,
    HasUnknown,
    WarmsUp,
)

# No two halves that would make a whole: some languages would read those as one character.
SURROGATES: Final = ("\ud800", "\udfff", "a\ud800", "\udc00b", "a\udbffb c", "é\udfff\ud800日", "\ud83d 🙂")
_BEGINNING: Final = 100
_MOST_NAMES: Final = 2_000
_FEW_NAMES: Final = 8
_AROUND: Final = (("", ""), ("one", ""), ("", "two"), ("one", "two"), ("one", " two"), ("1é日", "日🙂"))


def vocab_size(subject: TokenizerUnderTest) -> str:
    """``vocab_size`` is a positive integer."""
    size = subject.tokenizer.vocab_size
    if not is_id(size) or size < 1:
        raise Broken("vocab_size", "a positive integer", size)
    return f"{size:,} ids"


def every_text(subject: TokenizerUnderTest) -> str:
    """No Unicode text is refused, and none kills the process."""

    def check(text: str) -> None:
        subject.answer("encode", text, expected="ids")

    return subject.each_text(subject.more_texts, check)


def lone_surrogates(subject: TokenizerUnderTest) -> str:
    """Text that is not Unicode is replaced or refused."""

    def check(text: str) -> None:
        replaced = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
        expected = subject.ids(replaced)
        try:
            ids = list(subject.call("encode", text))
        except (ValueError, BackendError):
            return
        except (KeyboardInterrupt, PrerequisiteFailed):
            raise
        except BaseException as error:
            raise Broken(call_of("encode", text), "ValueError or BackendError", words=raised(error)) from error
        if ids != expected:
            raise Broken(call_of("encode", text), f"{shown(expected)}, the ids of {replaced!r}, or ValueError", ids)

    return subject.each_text(SURROGATES, check)


def ids_in_range(subject: TokenizerUnderTest) -> str:
    """All ids are integers in ``range(vocab_size)``."""
    size = subject.vocab_size

    def check(text: str) -> None:
        try:
            ids = subject.call("encode", text, builds_on=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PrerequisiteFailed from error
        expected = f"a sequence of integers in range({size})"
        try:
            wrong = [token for token in ids if not is_id(token) or not 0 <= token < size]
            len(ids)
        except TypeError as error:
            raise Broken(call_of("encode", text), expected, ids) from error
        if wrong:
            raise Broken(call_of("encode", text), expected, words=f"{shown(wrong[0])} in {shown(list(ids))}")

    return subject.each_text(subject.more_texts, check)


def unknown_id(subject: TokenizerUnderTest) -> str:
    """``unk_id`` is an id or ``None``."""
    tokenizer, size = subject.tokenizer, subject.vocab_size
    if not isinstance(tokenizer, HasUnknown):
        raise RuleNotApplicable("it has no unk_id")
    unk_id = tokenizer.unk_id
    if unk_id is not None and not subject.are_ids([unk_id]):
        raise Broken("unk_id", f"None or an integer in range({size})", unk_id)
    return f"unk_id is {unk_id}"


def empty_text(subject: TokenizerUnderTest) -> str:
    """Empty text has no ids, and no ids are empty text."""
    ids = subject.ids("")
    if ids:
        raise Broken("encode('')", "no ids", ids)
    text = subject.text([])
    if text:
        raise Broken("decode([])", "''", text)
    return "both ways"


def deterministic(subject: TokenizerUnderTest) -> str:
    """The same text gives the same ids twice in a row, and after others."""
    first = {text: subject.ids(text) for text in reversed(subject.encodable)}

    def check(text: str) -> None:
        before = first.get(text) or subject.ids(text)
        for after in (subject.ids(text), subject.ids(text)):
            if after != before:
                raise Broken(f"{call_of('encode', text)}, again", shown(before), after)

    return subject.each_text(subject.encodable, check)


def special_tokens(subject: TokenizerUnderTest) -> str:
    """Names are text, ids are in range, and no text gives them, not even their spelling."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, HasSpecialTokens):
        raise RuleNotApplicable("it has no special_ids")
    special = tokenizer.special_ids
    if not isinstance(special, Mapping) or not all(isinstance(name, str) and name for name in special):
        raise Broken("special_ids", "a mapping from names, which are not empty, to ids", special)
    if not subject.are_ids(special.values()):
        raise Broken("special_ids", f"ids in range({subject.vocab_size})", special)
    if not special:
        raise RuleNotApplicable("it has no special tokens")
    name_of = {token_id: name for name, token_id in special.items()}

    def check(text: str) -> None:
        ids = subject.ids(text)
        given = [token_id for token_id in ids if token_id in name_of]
        if given:
            names = f"{given[0]}, which is {name_of[given[0]]!r}, in {shown(ids)}"
            raise Broken(call_of("encode", text), "ids of ordinary text", words=names)

    names = subject.special_names[:: -(-len(special) // _MOST_NAMES)]
    spelled = [text for name in names for text in (name, f"a{name}b", f"{name}{name} {name}")]
    return f"{len(special):,} special tokens, {subject.each_text([*spelled, *subject.more_texts], check)}"


def encode_with_special(subject: TokenizerUnderTest) -> str:
    """Allowed names become one id each, all else is ordinary text, and decoding makes the round trip."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, EncodesWithSpecial):
        raise RuleNotApplicable("it has no encode_with_special")
    names = subject.special_names
    if not names:
        raise RuleNotApplicable("it has no special tokens")
    for name in names[:: -(-len(names) // _FEW_NAMES)]:
        for before, after in _AROUND:
            _check_allowed(subject, tokenizer, name, before, after)

    def check(text: str) -> None:
        _same(subject, tokenizer, text, (), subject.ids(text))

    spelled = [text for name in names[:_FEW_NAMES] for text in (name, f"a{name}b")]
    return f"{len(names):,} special tokens, {subject.each_text([*spelled, *subject.texts], check)} with none allowed"


def _check_allowed(
    subject: TokenizerUnderTest, tokenizer: EncodesWithSpecial, name: str, before: str, after: str
) -> None:
    text, special = f"{before}{name}{after}", tokenizer.special_ids[name]
    call = f"encode_with_special({shown(text)}, allowed_special={shown([name])})"
    ids = _with_special(subject, tokenizer, text, [name])
    expected = [*subject.ids(before), special]
    if ids[: len(expected)] != expected or ids.count(special) != 1:
        raise Broken(call, f"{shown(expected)} first, and id {special} once", ids)
    if not before and not after:
        _same(subject, tokenizer, text, "all", ids)
    if _joins(subject, tokenizer) and getattr(tokenizer, "unk_id", None) not in ids:
        given = {part for inserted in (name, "") for part in _joined(tokenizer, before, inserted, after)}
        if (back := subject.text(ids)) not in given and subject.text(subject.ids(f"{before}{after}")) == before + after:
            raise Broken(f"decode({call})", f"{text!r}, with {name!r} or without it", back)


def _joins(subject: TokenizerUnderTest, tokenizer: object) -> bool:
    if not isinstance(tokenizer, HasTokenBytes):
        return False
    one, two = "one", "two"
    return subject.text([*subject.ids(one), *subject.ids(two)]) in _joined(tokenizer, one, "", two)


def _joined(tokenizer: object, before: str, name: str, after: str) -> set[str]:
    prefix = (tokenizer.dummy_prefix if isinstance(tokenizer, HasDummyPrefix) else b"").decode()
    return {f"{before}{space}{name}{more}{after}" for space in {"", prefix} for more in {"", prefix}}


def _same(
    subject: TokenizerUnderTest, tokenizer: EncodesWithSpecial, text: str, allowed: Any, expected: list[int]
) -> None:
    ids = _with_special(subject, tokenizer, text, allowed)
    if ids != expected:
        raise Broken(f"encode_with_special({shown(text)}, allowed_special={shown(allowed)})", shown(expected), ids)


def _with_special(subject: TokenizerUnderTest, tokenizer: EncodesWithSpecial, text: str, allowed: Any) -> list[int]:
    call = f"encode_with_special({shown(text)}, allowed_special={shown(allowed)})"
    set_heartbeat("calling", place=call)
    try:
        ids = list(tokenizer.encode_with_special(text, allowed_special=allowed))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Broken(call, "ids", words=raised(error)) from error
    if not subject.are_ids(ids):
        raise Broken(call, f"integers in range({subject.vocab_size})", ids)
    return ids


def warm_up(subject: TokenizerUnderTest) -> str:
    """``warm_up`` changes no ids."""
    if not isinstance(subject.tokenizer, WarmsUp):
        raise RuleNotApplicable("it has no warm_up")
    before = {text: subject.ids(text) for text in subject.encodable}
    subject.answer("warm_up", expected="no error")

    def check(text: str) -> None:
        expected = before.get(text) or subject.ids(text)
        methods = {"encode": subject.ids}
        if isinstance(subject.tokenizer, EncodesBatch):
            methods["encode_batch"] = lambda text: subject.call("encode_batch", [text]).ids.tolist()
        for method, encode in methods.items():
            if (ids := encode(text)) != expected:
                raise Broken(f"{call_of(method, text)} after warm_up()", shown(expected), ids)

    return subject.each_text(list(before), check)


def long_text(subject: TokenizerUnderTest) -> str:
    """A megabyte without a place to split it comes to an end."""
    texts = subject.working(long_texts().items(), lambda item: subject.ids(item[1][:_BEGINNING]))
    for _, text in texts:
        subject.answer("encode", text, expected=f"ids within {subject.limit:g} s")
    return f"a megabyte each: {', '.join(name for name, _ in texts)}"
