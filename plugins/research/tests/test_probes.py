"""The probes: their texts, values by hand, and their way through a run."""

import json
import xml.etree.ElementTree as ET

import pytest
import yaml
from cutting import ByPattern
from metric_views import metric

import tokbench
from tokbench.corpus.shards import shards
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.metric import CorpusStates, NotApplicable
from tokbench.results.cells import Status
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES, Message, prompt_ids
from tokbench.tokenizers.batch import encode_batch
from tokbench_research.probes.metrics import VALUES
from tokbench_research.probes.source import SPEC

DOCUMENTS = list(SPEC.open(None).documents())
GROUPS = {group: [d for d in DOCUMENTS if d.group == group] for group in {d.group for d in DOCUMENTS}}


def answers(tokenizer, *groups):
    """Return the values of the probes on the texts of some groups, or of all."""
    probes, states = metric("probes"), {}
    for group in groups or GROUPS:
        [shard] = shards("p", GROUPS[group], by_key=False)
        encoded = EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, shard.texts))
        states["t", group] = probes.map(encoded)
    sizes = {group: len(GROUPS[group]) for _, group in states}
    values = probes.finish_corpus(CorpusStates("p", False, "", sizes, ["t"], states)).values["t", "*"]
    return {name: getattr(value, "value", None) for name, value in values.items()}


@pytest.fixture(scope="module")
def of_bytes():
    return answers(tokbench.load("utf8_bytes"))


def test_the_formats_have_the_same_data():
    texts = {group: GROUPS[group][0].text for group in ("yaml", "json", "json_compact", "xml")}
    data = yaml.safe_load(texts["yaml"])
    assert json.loads(texts["json"]) == json.loads(texts["json_compact"]) == data

    def plain(element):
        if element.tag == "items":
            return [plain(child) for child in element]
        return {child.tag: plain(child) for child in element} if len(element) else element.text

    def written(part):
        if isinstance(part, dict):
            return {name: written(each) for name, each in part.items()}
        return [written(each) for each in part] if isinstance(part, list) else str(part).replace("True", "true")

    root = ET.fromstring(texts["xml"])
    assert {root.tag: plain(root)} == written(data)


def test_bytes_by_hand(of_bytes):
    assert set(of_bytes) == {value.id for value in VALUES}
    assert of_bytes["probe_case"] == (3 * 3 + 3 * 4) / 6
    ones = ("probe_reversal", "probe_spelling", "probe_operands_alike", "probe_dates_alike", "probe_urls")
    assert [of_bytes[name] for name in ones] == [1] * 5
    assert (of_bytes["probe_trailing_space"], of_bytes["probe_glitch"]) == (0, 0)
    # Six of 10 bytes, then 10, 12 and 20.
    assert of_bytes["probe_dates"] == (6 * 10 + 10 + 12 + 20) / 9
    # Joiners and variation selectors have three bytes each, a picture four.
    assert of_bytes["probe_emoji_joined"] == ((4 * 4 + 3 * 3) + (4 + 3 + 3 + 4)) / 2
    assert of_bytes["probe_yaml"] == len(GROUPS["yaml"][0].text)


def test_a_space_that_belongs_to_the_next_word_leads_away():
    assert answers(ByPattern(r" ?\w+|[^\w\s]|\s"), "spaces")["probe_trailing_space"] == 1
    assert answers(ByPattern(r"\w+|[^\w\s]|\s"), "spaces")["probe_trailing_space"] == 0


def test_letters_that_share_a_token_are_not_seen():
    assert answers(ByPattern(r"-?\w|."), "spelled")["probe_spelling"] == 1
    # s-t is one token: of 10 + 8 + 16 letters two are together in strawberry, and in responsibilities none.
    assert answers(ByPattern(r"s-t|."), "spelled")["probe_spelling"] == 1 - 2 / 34


def test_numbers_of_one_form_may_be_cut_differently():
    # 12|34 and 5678, 1000 and 2047 and all others whole.
    assert answers(ByPattern(r"12(?=34)|\d+|\D"), "sums")["probe_operands_alike"] == 5 / 6
    assert answers(ByPattern(r"20(?=\d\d-)|\d+|\D"), "dates")["probe_dates_alike"] == 3 / 6


@pytest.mark.parametrize(("backend", "vocabulary", "single"), [("tiktoken", "gpt2", 8), ("splintr", "llama2", 3)])
def test_a_vocabulary_has_its_own_glitch_tokens(backend, vocabulary, single, data):
    option = "encoding" if backend == "tiktoken" else "vocabulary"
    assert answers(tokbench.load(backend, **{option: vocabulary}), "glitch")["probe_glitch"] == single / 18


class GivesControl:
    """Bytes, but ``<s>`` in ordinary text is a control id that decodes to nothing, and ``</s>`` one with its name."""

    vocab_size = 258
    special_ids = {"<s>": 256, "</s>": 257}  # noqa: RUF012

    def encode(self, text, /):
        codes = text.replace("</s>", "\x01").replace("<s>", "\x02")
        return [{1: 257, 2: 256}.get(ord(char), ord(char)) for char in codes]

    def decode(self, ids, /):
        return "".join("" if i == 256 else "</s>" if i == 257 else chr(i) for i in ids)


def test_ordinary_text_that_gives_control_ids_is_found():
    found = answers(GivesControl(), "special")
    assert [found[f"special_typed_{name}"] for name in ("text", "control", "lost")] == [18 / 20, 2 / 20, 1 / 20]


def test_control_tokens_where_a_program_allows_them():
    # Of the twenty markers Llama 2 has <s>, </s> and <unk>, and decodes none of them.
    found = answers(tokbench.load("splintr", vocabulary="llama2"), "special")
    assert (found["special_typed_text"], found["special_typed_control"]) == (1, 0)
    assert (found["special_allowed_control"], found["special_allowed_swallowed"]) == (3 / 20, 1)
    trained = tokbench.train("regex_bpe", ["one two"], 257, special_tokens=["<x>"], store=False)
    assert answers(trained, "special")["special_allowed_swallowed"] is None


def test_templates_in_bytes_by_hand(of_bytes):
    # <|im_start|> 12, the role 4 or 9, a line end, <|im_end|> 10, a line end.
    assert of_bytes["template_chatml"] == (28 + 33) / 2
    # <|begin_of_text|> 17 once; <|start_header_id|> 19, the role, <|end_header_id|> 17, two line ends, <|eot_id|> 10.
    assert of_bytes["template_llama3"] == (17 + 2 * (52 + 57)) / 4
    # <s> 3 once; [INST] 6 and [/INST] 7; </s> 4.
    assert of_bytes["template_mistral"] == (3 + 2 * (13 + 4)) / 4


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
    parts = list(CHAT_TEMPLATES["Mistral"].write([Message(*message) for message in chat], reply=False))
    assert prompt_ids(tokbench.load("mistral", vocabulary="v3"), parts) == theirs


CONFIG = {
    "schema": "tokbench/1",
    "name": "probed",
    "corpora": {"texts": {"source": "probes", "designed": True}},
    "tokenizers": {"bytes": {"backend": "utf8_bytes"}},
    "metrics": ["probes", "composition"],
}


def test_a_run_has_one_number_of_each():
    results = tokbench.run(CONFIG, workers=0, store=False)
    cells = {cell.metric: cell for cell in results.cells}
    assert (cells["probe_case"].group, cells["probe_case"].value, cells["probe_case"].n) == ("*", 3.5, 6)
    assert cells["kind_digits"].value == 10 / 256
    assert len(cells) == len(results.cells)


def test_other_texts_have_a_reason():
    corpora = {"c": {"source": "sample", "part": "languages", "groups": ["en"]}}
    results = tokbench.run({**CONFIG, "corpora": corpora, "metrics": ["probes"]}, workers=0, store=False, limit=1)
    assert {cell.status for cell in results.cells} == {Status.NOT_APPLICABLE}


def test_the_composition_of_bytes_by_hand():
    """128 bytes are ASCII: 52 letters, 10 digits, 6 of white space, 32 of punctuation and symbols, 28 controls."""
    m, [shard] = metric("composition"), shards("p", GROUPS["case"], by_key=False)
    tokenizer = tokbench.load("utf8_bytes")
    state = m.map(EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, shard.texts)))
    outcome = m.finish_corpus(CorpusStates("p", False, "", {"case": 6}, ["t"], {("t", "case"): state}))
    found = {name: each.value for name, each in outcome.values["t", "*"].items() if not isinstance(each, NotApplicable)}
    expected = {"fragment": 128, "word_inside": 52, "digits": 10, "white_space": 6, "punctuation": 32, "mixed": 28}
    assert {name: share for name, share in found.items() if name.startswith("kind_") and share} == {
        f"kind_{kind}": count / 256 for kind, count in expected.items()
    }
    assert (found["script_latin"], found["script_none"]) == (52 / 128, 76 / 128)
    assert sum(share for name, share in found.items() if name.startswith("script_")) == 1
