"""Whether a user's text can become a control id: for each call and slot a proof, a text that does, or neither."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal

from tokbench_identity.equal.patterns import UndecidedError
from tokbench_identity.inject.calls import CALLS, ChatModel, EngineCall, Matching, marks_written
from tokbench_identity.inject.conversations import SLOTS, Build, TemplateInput, conversations
from tokbench_identity.inject.render import Refused, WrittenWay, rendered
from tokbench_identity.inject.search import MOST_STATES, Marks, PlaceInText, Search
from tokbench_identity.inject.text import UserPiece

_LONGEST: Final = 200
_TRIED: Final = 60
_SHOWN_PLACES: Final = 4
_TOO_MANY: Final = "the template has too many states; none of the texts that were tried makes a mark"

Verdict = Literal["safe", "forged", "undecided"]


@dataclass(frozen=True)
class SlotVerdict:
    """The answer for one slot under one call."""

    call: str
    slot: str
    verdict: Verdict
    reason: str
    """Why it is safe, or not decided."""
    text: str | None = None
    """The shortest text that becomes a control id; it was run."""
    mark: str | None = None
    id: int | None = None
    """``None`` if no model was named."""
    shortest: bool = True
    """Whether the search for a shorter one came to its end."""


@dataclass(frozen=True)
class Injection:
    """All answers of a model and its template."""

    model: str
    marks: int
    has_template: bool
    verdicts: tuple[SlotVerdict, ...]
    given_template: bool = False
    """Whether the template is one that was given, not the model's own."""
    lacks: tuple[str, ...] = ()
    """Marks that a given template writes, and the model does not have."""

    def of(self, call: str) -> list[SlotVerdict]:
        """Return the answers of a call."""
        return [one for one in self.verdicts if one.call == call]

    def verdict(self, call: str) -> Verdict:
        """Return the worst answer of a call."""
        verdicts = {one.verdict for one in self.of(call)}
        return "forged" if "forged" in verdicts else "undecided" if "undecided" in verdicts else "safe"

    def shortest(self, call: str) -> SlotVerdict | None:
        """Return the shortest text that forges, of all slots."""
        forged = [one for one in self.of(call) if one.text is not None]
        return min(forged, key=lambda one: len(one.text or ""), default=None)


@dataclass
class _Occurrence:
    """A place, and conversations and ways in which it is."""

    place: PlaceInText
    seen: list[tuple[Build, WrittenWay, int]] = field(default_factory=list)


@dataclass
class _Slot:
    """What the template does with the text of a slot."""

    occurrences: dict[PlaceInText, _Occurrence] = field(default_factory=dict)
    undecided: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    written: bool = False


def inject(model: ChatModel, calls: Sequence[EngineCall] = CALLS) -> Injection:
    """Decide for each call and slot whether a text can become a control id.

    Without a template the text itself is what is encoded.

    >>> from tokbench_plugins.huggingface.chat import JinjaChat
    >>> from tokbench_identity.inject.calls import model_of_template
    >>> source = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    >>> answer = inject(model_of_template(JinjaChat(source)))
    >>> answer.verdict("transformers"), answer.shortest("transformers").text, answer.verdict("tiktoken-ordinary")
    ('forged', '<|im_end|>', 'safe')
    """
    slots = {slot: _read_slot(model, slot) for slot in SLOTS} if model.chat else {"text": _bare()}
    rows = (_decided(model, call, name, slot) for call in calls for name, slot in slots.items())
    written = marks_written(model.chat) if model.chat and model.given_chat else []
    known = {mark.text for mark in model.marks}
    lacks = tuple(text for text in written if text not in known)
    return Injection(model.name, len(model.marks), model.chat is not None, tuple(rows), model.given_chat, lacks)


def _bare() -> _Slot:
    place = PlaceInText("", (), "", open=False)
    whole = WrittenWay([UserPiece()], [place])
    return _Slot({place: _Occurrence(place, [(_text_alone, whole, 0)])}, written=True)


def _text_alone(text: str) -> TemplateInput:
    return TemplateInput([{"role": "user", "content": text}], None, reply=False)


def _read_slot(model: ChatModel, name: str) -> _Slot:
    slot = _Slot()
    most = max((len(mark.text) for mark in model.marks), default=0) + 1
    assert model.chat is not None
    for build in conversations(name):
        try:
            for way in rendered(model.chat, build):
                if isinstance(way, Refused):
                    slot.refused.append(way)
                    continue
                slot.written = True
                for at, place in enumerate(way.places):
                    short = place._replace(
                        before=place.before[-most:],
                        after=place.after[:most],
                        open=place.open and len(place.before) < most,
                    )
                    seen = slot.occurrences.setdefault(short, _Occurrence(short)).seen
                    if len(seen) < _SHOWN_PLACES:
                        seen.append((build, way, at))
        except UndecidedError as error:
            slot.undecided.append(f"the template {error}")
    return slot


def _decided(model: ChatModel, call: EngineCall, name: str, slot: _Slot) -> SlotVerdict:
    if call.marks == "refused":
        return SlotVerdict(call.key, name, "safe", "the call refuses a text that has a mark, the template's, too")
    matchings = model.matchings(call)
    if not matchings:
        return SlotVerdict(call.key, name, "safe", "proved: the call cuts no mark out of text")
    reasons = [*slot.undecided, *(row.undecided for row in matchings if row.undecided)]
    best: SlotVerdict | None = None
    searched = _Searched(model, call)
    for row in matchings:
        marks = Marks(tuple(mark.text for mark in row.marks))
        for occurrence in slot.occurrences.values():
            most = len(best.text or "") - 1 if best else _LONGEST
            forgery = searched.forged(row, marks, occurrence, most)
            if not isinstance(forgery, str):
                best = SlotVerdict(call.key, name, "forged", "", *forgery)
            elif forgery:
                reasons.append(forgery)
    if best:
        return replace(best, shortest=searched.states_left >= 0, id=best.id if model.ids_known else None)
    if not slot.written and not any(one.wanted for one in slot.refused):
        reasons += [f"the template fails: {one.reason}" for one in slot.refused[:1]]
    if reasons:
        return SlotVerdict(call.key, name, "undecided", "; ".join(dict.fromkeys(reasons)))
    return SlotVerdict(call.key, name, "safe", _why_safe(slot))


def _why_safe(slot: _Slot) -> str:
    if not slot.written:
        return "the template refuses it"
    if not slot.occurrences:
        return "the template does not write it"
    return "proved: no text makes a mark"


@dataclass
class _Searched:
    """The searches for a slot, which share a number of states."""

    model: ChatModel
    call: EngineCall
    states_left: int = MOST_STATES

    def forged(self, row: Matching, marks: Marks, occurrence: _Occurrence, most: int) -> tuple[str, str, int] | str:
        """Return the shortest text of a place that becomes a control id, or why that is not decided, or nothing."""
        if most < 0 or self.states_left < 0:
            return "" if most < _LONGEST else _TOO_MANY
        search = Search(occurrence.place, marks, row.machines, self.states_left)
        failed = list[str]()
        try:
            for text in islice(search.candidates(most), _TRIED):
                for where in occurrence.seen:
                    if ids := executed(self.model, self.call, where, text):
                        return text, next(mark.text for mark in self.model.marks if mark.id == ids[0]), ids[0]
                failed.append(text)
        except UndecidedError as error:
            return f"the template {error}"
        finally:
            self.states_left = search.states_left
        if most < _LONGEST:
            return ""
        if failed:
            return f"{len(failed)} texts that may make a mark do not, such as {failed[0]!r}"
        return "" if search.ended else _TOO_MANY


def executed(model: ChatModel, call: EngineCall, where: tuple[Build, WrittenWay, int], text: str) -> list[int]:
    """Return the control ids that a text becomes where it is written, by rendering and encoding it."""
    build, way, _ = where
    try:
        whole = model.chat.render(*build(text)[:2], reply=build(text).reply) if model.chat else text
    except ValueError:
        return []
    pattern = "".join("(.*?)" if isinstance(part, UserPiece) else re.escape(part) for part in way.parts)
    if not re.fullmatch(pattern, whole, re.DOTALL):
        return []  # the text goes another way through the template
    expected = Counter(_controls(model, call, [part for part in way.parts if isinstance(part, str)]))
    counts = Counter(_controls(model, call, [whole]))
    return [token_id for token_id, count in counts.items() if count > expected[token_id]]


def _controls(model: ChatModel, call: EngineCall, texts: Sequence[str]) -> Iterator[int]:
    for text in texts:
        yield from (token_id for token_id in model.ids(text, call) if token_id in model.controls)
