"""Special tokens that a user types, and chat templates: values by hand, and the ids of Mistral's own package."""

import pytest
from tokbench_research.probes.plugin import FAMILIES

import tokbench
from tokbench.measuring.chat_templates import CHAT_TEMPLATES, Message, PromptPart, prompt_ids

TYPED, CHAT = FAMILIES[1].make(None)


def values(probe, tokenizer):
    return {name: getattr(each, "value", None) for name, each in probe.ask(tokenizer).values.items()}


class GivesControl:
    """Bytes, but ``<s>`` in ordinary text is a control id that decodes to nothing, and ``</s>`` one with its name."""

    vocab_size = 258
    special_ids = {"<s>": 256, "</s>": 257}  # noqa: RUF012

    def encode(self, text, /):
        data = text.encode("utf-16-le").replace("</s>".encode("utf-16-le"), b"\x01\x01")
        codes = [data[k] + 256 * data[k + 1] for k in range(0, len(data), 2)]
        ids, k = [], 0
        while k < len(codes):
            if codes[k : k + 3] == [*b"<s>"]:
                ids, k = [*ids, 256], k + 3
            else:
                ids, k = [*ids, codes[k]], k + 1
        return ids

    def decode(self, ids, /):
        return "".join("" if i == 256 else "</s>" if i == 257 else chr(i) for i in ids)


def test_every_value_of_a_tokenizer_with_special_tokens_is_answered():
    tokenizer = tokbench.load("splintr", vocabulary="qwen3")
    given = {**values(TYPED, tokenizer), **values(CHAT, tokenizer)}
    assert set(given) == {metric.id for metric in FAMILIES[1].values}
    assert None not in given.values()


def test_ordinary_text_that_gives_control_ids_is_found():
    found = values(TYPED, GivesControl())
    assert found == {
        "special_typed_text": 18 / 20,
        "special_typed_control": 2 / 20,
        "special_typed_lost": 1 / 20,
    }


def test_control_tokens_where_a_program_allows_them():
    # Of the twenty markers Llama 2 has <s>, </s> and <unk>, and decodes none of them.
    found = values(TYPED, tokbench.load("splintr", vocabulary="llama2"))
    assert (found["special_typed_text"], found["special_typed_control"]) == (1, 0)
    assert (found["special_allowed_control"], found["special_allowed_swallowed"]) == (3 / 20, 1)
    found = values(TYPED, _trained("end_of_text"))
    assert (found["special_allowed_control"], found["special_allowed_swallowed"]) == (1 / 20, 0)
    assert values(TYPED, _trained("<x>"))["special_allowed_swallowed"] is None


def _trained(special):
    return tokbench.train("regex_bpe", ["one two"], 257, special_tokens=[special], store=False)


def test_templates_in_bytes_by_hand():
    found = values(CHAT, tokbench.load("utf8_bytes"))
    # <|im_start|> 12, the role 4 or 9, a line end, <|im_end|> 10, a line end.
    assert found["template_chatml"] == (28 + 33) / 2
    # <|begin_of_text|> 17 once; <|start_header_id|> 19, the role, <|end_header_id|> 17, two line ends, <|eot_id|> 10.
    assert found["template_llama3"] == (17 + 2 * (52 + 57)) / 4
    # <bos> 5 once; <start_of_turn> 15, user or model, a line end, <end_of_turn> 13, a line end.
    assert found["template_gemma"] == (5 + 2 * (34 + 35)) / 4
    # <s> 3 once; [INST] 6 and [/INST] 7; </s> 4.
    assert found["template_mistral"] == (3 + 2 * (13 + 4)) / 4
    # <s> 3, "[INST] " 7 and " [/INST]" 8; two spaces and </s> 4.
    assert found["template_llama2"] == (2 * (3 + 15) + 2 * (2 + 4)) / 4
    # Bars and the signs between words have 3 bytes: 29 once; 12 for the user, or 17 for the assistant and 27 at the end.
    assert found["template_deepseek_v3"] == (29 + 2 * (12 + 17 + 27)) / 4


def test_templates_whose_marks_are_special_tokens():
    # <|im_start|>, user, line end, <|im_end|>, line end.
    assert values(CHAT, tokbench.load("splintr", vocabulary="qwen3"))["template_chatml"] == 5
    # <|start_header_id|>, user, <|end_header_id|>, two line ends, <|eot_id|>; and <|begin_of_text|> once.
    assert values(CHAT, tokbench.load("splintr", vocabulary="llama3"))["template_llama3"] == 5.25
    # [INST] and [/INST], or </s>: the spaces are in the words' tokens; and <s> once.
    assert values(CHAT, tokbench.load("splintr", vocabulary="mistral_v3"))["template_mistral"] == (1 + 2 * 3) / 4


@pytest.mark.slow
def test_mistral_s_template_gives_the_ids_of_its_own_package():
    pytest.importorskip("mistral_common")
    from mistral_common.protocol.instruct.messages import AssistantMessage, UserMessage
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    chat = [("user", "Hi, été!"), ("assistant", "Ho  ho"), ("user", "x")]
    kinds = {"user": UserMessage, "assistant": AssistantMessage}
    request = ChatCompletionRequest(messages=[kinds[role](content=text) for role, text in chat])
    theirs = MistralTokenizer.v3().encode_chat_completion(request).tokens
    messages = [Message(role, content) for role, content in chat]
    parts = list(CHAT_TEMPLATES["Mistral"].write(messages, reply=False))
    assert prompt_ids(tokbench.load("mistral", vocabulary="v3"), parts) == theirs


def test_what_a_message_spells_never_becomes_a_control_token():
    qwen = tokbench.load("splintr", vocabulary="qwen3")
    start = qwen.special_ids["<|im_start|>"]
    parts = [PromptPart("<|im_start|>", control=True), PromptPart("user\n<|im_start|>")]
    assert prompt_ids(qwen, parts) == [start, *qwen.encode("user\n<|im_start|>")]
    assert prompt_ids(qwen, parts).count(start) == 1
    assert prompt_ids(tokbench.load("utf8_bytes"), parts) == list(b"<|im_start|>user\n<|im_start|>")
