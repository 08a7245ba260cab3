"""Weak templates are found, hardened ones are proved, and each forgery gives a control id when it is run."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers

import tokbench
from tokbench import InputError
from tokbench_identity.commands.inject import inject as command
from tokbench_identity.equal.patterns import UndecidedError
from tokbench_identity.inject.calls import CALLS, model_of_template, read_model
from tokbench_identity.inject.conversations import SLOTS, conversations
from tokbench_identity.inject.decide import Injection, inject
from tokbench_identity.inject.machines import Machine
from tokbench_identity.inject.render import WrittenWay, rendered
from tokbench_identity.inject.search import _finish, _push
from tokbench_identity.inject.text import UserPiece
from tokbench_plugins.huggingface.chat import JinjaChat

_CALL = CALLS[0]


def chat(content: str, before: str = "", after: str = "<|end|>") -> JinjaChat:
    return JinjaChat(f"{{% for m in messages %}}<|start|>{{{{ m.role }}}}\n{before}{content}{after}{{% endfor %}}")


def user(template: JinjaChat) -> Any:
    [found] = [one for one in inject(model_of_template(template), [_CALL]).verdicts if one.slot == "user"]
    return found


_WEAK = {
    "as it is": (chat("{{ m.content }}"), "<|end|>"),
    "trimmed": (chat("{{ m.content | trim }}"), "<|end|>"),
    "as JSON": (chat("{{ m.content | tojson }}"), "<|end|>"),
    "removed once": (chat("{{ m.content | replace('<|end|>', '') | replace('<|start|>', '') }}"), "<|end<|end|>|>"),
    "removed as halves": (chat("{{ m.content | replace('<|', '') }}"), "<<||end|>"),
    "refused if one mark is there": (
        chat("{% if '<|end|>' in m.content %}{{ raise_exception('no') }}{% endif %}{{ m.content }}"),
        "<|start|>",
    ),
    "refused before it is changed": (
        chat("{% if '<' in m.content %}{{ raise_exception('no') }}{% endif %}{{ m.content | replace('(', '<') }}"),
        "(|end|>",
    ),
    "after a beginning of a mark": (chat("{{ m.content | replace('<', '') }}", before="<"), "|end|>"),
    "before an end of a mark": (chat("{{ m.content | replace('>', '') }}", after=">"), "<|start|"),
    "only the part before a sign": (chat("{{ m.content.split('#')[0] }}"), "<|end|>"),
    "only what is behind the answer": (chat("{{ m.content.split('|')[-1] }}", before="<|", after="|>"), "end"),
    "upper case": (chat("{{ m.content | upper }}", after="<|END|>"), "<|end|>"),
}

_HARD = {
    "no less-than sign": chat("{{ m.content | replace('<', '') }}"),
    "as HTML": chat("{{ m.content | escape }}"),
    "added to HTML": chat("{{ ('-' | safe) + m.content }}"),
    "a space in each mark": chat("{{ m.content | replace('<|', '< |') }}"),
    "refused": chat("{% if '<|' in m.content %}{{ raise_exception('no') }}{% endif %}{{ m.content }}"),
    "left out": chat("{% if '<|' not in m.content %}{{ m.content }}{% endif %}"),
    "upper case": chat("{{ m.content | upper }}"),
    "before the first sign": chat("{{ m.content.split('<')[0] }}"),
    "behind the last sign": chat("{{ m.content.split('|')[-1] }}"),
    "a few characters": chat("{{ m.content[:6] }}"),
    "not at all": chat(""),
    "its length": chat("{% if m.content | length > 3 %}long{% endif %}"),
    "known words": chat("{% if m.content == 'yes' %}{{ m.content }}{% else %}no{% endif %}"),
}


@pytest.mark.parametrize("name", _WEAK)
def test_weak_templates_are_forged(name: str) -> None:
    template, text = _WEAK[name]
    pieces = user(template)
    assert pieces.verdict == "forged"
    assert len(pieces.text) <= len(text)


@pytest.mark.parametrize("name", _HARD)
def test_hardened_templates_are_proved(name: str) -> None:
    assert user(_HARD[name]).verdict == "safe"


@pytest.mark.parametrize("name", [*_WEAK, *_HARD])
def test_forgeries_give_control_ids(name: str) -> None:
    template = _WEAK[name][0] if name in _WEAK else _HARD[name]
    model = model_of_template(template)
    answer = inject(model)
    forged = [one for one in answer.verdicts if one.text is not None]
    assert all(one.verdict == "forged" for one in forged)
    assert bool(forged) == (name in _WEAK)
    for one in forged:
        assert one.id is None, "a template alone has no ids"
        control = next(mark.id for mark in model.marks if mark.text == one.mark)
        [call] = [call for call in CALLS if call.key == one.call]
        counts = set()
        for build in conversations(one.slot):
            texts = [model.chat.render(*build(text)[:2], reply=build(text).reply) for text in ("-", one.text)]
            counts.add(tuple(model.ids(text, call).count(control) for text in texts))
        assert any(more > usual for usual, more in counts), one


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{% for char in m.content %}{{ char }}{% endfor %}", "loop"),
        ("{{ m.content | wordwrap(10) }}", "wordwrap"),
        ("{{ m.content.split() | join(' ') }}", "white space"),
        ("{{ m.content.encode() }}", "encode"),
        ("{{ {'yes': m.content}[m.content] }}", "looks the text up"),
        ("{{ {'yes': m.content}.get(m.content) }}", "looks the text up"),
        ("{% if m.content in {'yes': 1} %}{{ m.content }}{% endif %}", "looks the text up"),
        ("{% if m.content in 'yes' %}{{ m.content }}{% endif %}", "looks for the text"),
    ],
)
def test_what_is_not_followed_is_undecided(content: str, reason: str) -> None:
    pieces = user(chat(content))
    assert pieces.verdict == "undecided"
    assert reason in pieces.reason or "iter" in pieces.reason


_FILTERS = ["trim", "upper", "lower", "tojson", "escape", "replace('a', 'b')", "replace('<a', '')", "string", "safe"]
_METHODS = [
    "strip()",
    "lstrip('<')",
    "rstrip()",
    "split('a')[0]",
    "split('<')[-1]",
    "split('a', 1)[-1]",
    "removeprefix('a')",
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*_FILTERS, *_METHODS]), max_size=3), st.text(alphabet="a<b &\n", max_size=5))
def test_machines_write_what_templates_do(steps: list[str], text: str) -> None:
    content = "m.content"
    for step in steps:
        content = f"({content} | {step})" if step in _FILTERS else f"{content}.{step}"
    template = JinjaChat(f"{{% for m in messages %}}[{{{{ {content} }}}}]{{% endfor %}}")
    build = next(conversations("user"))
    expected = template.render(*build(text)[:2], reply=True)
    found = set()
    try:
        ways = list(rendered(template, build))
    except UndecidedError:  # such as a split of HTML
        reject()
    for way in ways:
        assert isinstance(way, WrittenWay)
        found |= _written(way, text)
    assert expected in found


def _written(way: WrittenWay, text: str) -> set[str]:
    texts, places = {""}, iter(way.places)
    for part in way.parts:
        outs = {part} if isinstance(part, str) else _through(next(places).machines, text)
        texts = {before + out for before in texts for out in outs}
    return texts


def _through(machines: tuple[Machine, ...], text: str) -> set[str]:
    start = tuple(machine.start for machine in machines)
    return {out + last for states, out in _push(machines, start, text) for last in _finish(machines, states)}


def test_pieces_are_found_in_what_is_written() -> None:
    [way] = rendered(chat("{{ m.content }}"), next(conversations("user")))
    assert isinstance(way, WrittenWay)
    assert [part for part in way.parts if isinstance(part, UserPiece)] == [UserPiece()]
    assert way.places[0].before.endswith("user\n")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Make a model with a mark that is found after NFKC, one that is not special, and one that the model spells."""
    letters = {char: k for k, char in enumerate(map(chr, range(32, 127)))}
    tokenizer = Tokenizer(models.BPE({**letters, "<s": 95, "<s>": 96}, [("<", "s"), ("<s", ">")]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.add_special_tokens([AddedToken("<s>", normalized=False), AddedToken("<|im_end|>", normalized=True)])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_look_alikes_are_found_under_a_normalizer(folder: Path, tmp_path: Path) -> None:
    template = tmp_path / "template.jinja"
    template.write_text("{% for m in messages %}{{ m.content | replace('<', '') }}<|im_end|>{% endfor %}")
    model = read_model(str(folder), template)
    [found] = [one for one in inject(model, [_CALL]).verdicts if one.slot == "user"]
    assert found.verdict == "forged"
    assert found.mark == "<|im_end|>"
    assert "<" not in found.text
    assert model.ids(found.text, _CALL) == [found.id]


def test_tokens_that_are_not_special_survive_the_split(folder: Path) -> None:
    answer = inject(read_model(str(folder)))
    assert answer.of("split")[0].mark in {"<tool>", "<s>"}
    assert answer.of("llama.cpp-text")[0].verdict == "forged"


def test_the_model_itself_may_spell_a_special_token(folder: Path) -> None:
    answer = inject(read_model(str(folder)))
    assert answer.of("tiktoken-ordinary")[0].text == "<s>"


def test_published_names_without_a_template() -> None:
    answer = inject(read_model("gpt-4o"))
    assert [answer.verdict(call.key) for call in CALLS] == [
        "forged", "safe", "forged", "safe", "forged", "safe", "safe", "safe",
    ]  # fmt: skip
    assert isinstance(answer, Injection)
    assert answer.shortest("transformers").text == "<|endoftext|>"


def test_marks_that_a_model_lacks_are_named(tmp_path: Path) -> None:
    template = tmp_path / "chat.jinja"
    template.write_text(chat("{{ m.content }}").source)
    answer = inject(read_model("gpt-2", template))
    assert answer.lacks == ("<|start|>", "<|end|>")
    shown = CliRunner().invoke(command, ["gpt-2", "--template", str(template)]).output
    assert "1 mark," in shown
    with pytest.raises(InputError):
        read_model("gpt-2", tmp_path / "none.jinja")


def test_exit_codes_and_json(tmp_path: Path) -> None:
    template = tmp_path / "chat.jinja"
    template.write_text(chat("{{ m.content }}").source)
    results = {}
    for call in ("transformers", "mistral-common"):
        result = CliRunner().invoke(command, ["--template", str(template), "--call", call, "--json"])
        results[call] = (result.exit_code, json.loads(result.output))
    assert results["transformers"][0] == 1
    assert results["mistral-common"][0] == 0
    assert results["transformers"][1]["verdict"] == "forged"
    assert {one["slot"] for one in results["transformers"][1]["verdicts"]} == set(SLOTS)
    assert CliRunner().invoke(command, []).exit_code != 0


@pytest.mark.parametrize("source", ["{% for", "nothing"])
def test_bad_templates_are_bad_input(source: str, tmp_path: Path) -> None:
    template = tmp_path / "chat.jinja"
    template.write_text(source)
    with pytest.raises(InputError):
        read_model(None, template)


def test_generation_tag_writes_its_text() -> None:
    assert user(chat("{% generation %}{{ m.content }}{% endgeneration %}")).verdict == "forged"


def test_metric_gives_the_share_of_slots(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "a.txt").write_text("one text")
    given = {
        "schema": "tokbench/1",
        "name": "some",
        "corpora": {"text": {"source": "text", "path": str(tmp_path / "a.txt")}},
        "tokenizers": {"gpt-4o": "gpt-4o", "mine": str(folder), "bytes": "utf8_bytes"},
        "metrics": ["injectable"],
    }
    results = tokbench.run(given, tmp_path / "out")
    cells = {(cell.tokenizer, cell.metric): cell for cell in results.cells if cell.group == "*"}
    assert cells["gpt-4o", "injectable"].value == 1
    assert cells["gpt-4o", "injection_length"].value == len("<|endoftext|>")
    assert cells["mine", "injection_length"].value == len("<s>")
    assert cells["bytes", "injectable"].status == "not_applicable"


@pytest.mark.parametrize("text", ["[INST]", "</s>", "[TOOL_CALLS]", "a[/INST]</s>"])
def test_mistral_common_itself_encodes_texts_apart(text: str) -> None:
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    request = pytest.importorskip("mistral_common.protocol.instruct.request")
    tokenizer = mistral.MistralTokenizer.v3()
    controls = []
    for content in ("Hi", text):
        asked = request.ChatCompletionRequest(messages=[{"role": "user", "content": content}])
        # The first 771 ids are control tokens.
        controls.append([token for token in tokenizer.encode_chat_completion(asked).tokens if token < 771])
    assert controls[0]
    assert controls[0] == controls[1]


def test_tiktoken_itself_refuses_or_splits_marks() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("own", pat_str=r"\w+|\W+", mergeable_ranks={bytes([k]): k for k in range(256)},
                                 special_tokens={"<|end|>": 256})  # fmt: skip
    with pytest.raises(ValueError, match="disallowed"):
        encoding.encode("<|end|>")
    assert 256 in encoding.encode("<|end|>", allowed_special="all")
    assert 256 not in encoding.encode_ordinary("<|end|>")


_SHORT = ["".join(chars) for size in range(5) for chars in product("<aA> ", repeat=size)]
_ASKED = [
    "'<a' in m.content",
    "m.content.startswith('<')",
    "m.content.endswith('>')",
    "m.content == '<a>'",
    "m.content",
]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([*_FILTERS, *_METHODS, "replace('<', '')", "[1:]"]), max_size=2),
    st.sampled_from([*_ASKED, "true"]),
    st.sampled_from([("", ""), ("<", ""), ("", ">"), ("<a", "a>")]),
)
def test_verdict_agrees_with_trying_all(steps: list[str], asked: str, around: tuple[str, str]) -> None:
    content = "m.content"
    for step in steps:
        in_pipe = step in _FILTERS or step.startswith("replace")
        content = f"({content} | {step})" if in_pipe else f"({content}){step if step[0] == '[' else f'.{step}'}"
    body = f"{around[0]}{{{{ {content} }}}}{around[1]}"
    source = f"{{% for m in messages %}};{{% if {asked} %}}{body}{{% else %}}-{{% endif %}};{{% endfor %}}"
    model = model_of_template(JinjaChat(source), ["<a>"])
    build = next(conversations("user"))
    [found] = [one for one in inject(model, [_CALL]).verdicts if one.slot == "user"]
    forged = [
        text
        for text in _SHORT
        if model.ids(model.chat.render(*build(text)[:2], reply=True), _CALL).count(256)
    ]  # fmt: skip
    if forged and "with HTML" not in found.reason:  # which is not followed
        assert found.verdict == "forged"
        assert len(found.text) <= len(forged[0])
    assert found.verdict != "safe" or not forged


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", _WEAK)
def test_transformers_renders_the_same_forgery(name: str) -> None:
    library = pytest.importorskip("transformers.utils.chat_template_utils")
    template = _WEAK[name][0]
    pieces = user(template)
    build = next(conversations("user"))
    given = build(pieces.text)
    [whole], _ = library.render_jinja_template(
        [given.messages], tools=given.tools, chat_template=template.source, add_generation_prompt=given.reply
    )
    assert whole == template.render(given.messages, given.tools, reply=given.reply)
    model = model_of_template(template)
    assert {mark.id for mark in model.marks if mark.text == pieces.mark}.intersection(model.ids(whole, _CALL))
