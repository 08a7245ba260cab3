"""Drift of conversations, spans and streams."""

import json
from collections import Counter
from itertools import pairwise

import pytest
import tiktoken
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

import tokbench
from tokbench.corpus.shards import Shard
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.plugin import Document, Options, encode_batch
from tokbench.plugin.metrics import EncodedShard, NotApplicable
from tokbench.segmentation.conversations import conversation, message_text
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench_plugins.bpe import BPETokenizer
from tokbench_research.metrics.drift.appends import AppendWindows, cuts_of
from tokbench_research.metrics.drift.drift import SPEC, Drift
from tokbench_research.metrics.drift.shown import spans_of

DOUBLES = BPETokenizer([(97, 97), (256, 256)])  # aa, aaaa
CHATS = [document.text for document in SampleSource(SampleOptions(part="conversations")).documents()]


def talk(*messages):
    return json.dumps([{"role": role, "content": content} for role, content in messages])


def state_of(tokenizer, texts):
    documents = [Document(text, "g", str(k), str(k)) for k, text in enumerate(texts)]
    shard = Shard("c", "g", 0, documents, by_key=False)
    encoded = EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, texts))
    return Drift(Options()).map(encoded)


def values(tokenizer, texts):
    return Drift(Options()).finish(state_of(tokenizer, texts))


def total(state, column):
    return int(state.sums.columns[column].sum())


def test_messages_that_are_joined_by_hand():
    # a|a: 97 97 is 256. b|a: stays. a|aa: 97 256 is 256 97.
    texts = [talk(("user", "a"), ("assistant", "a")), talk(("user", "b"), ("assistant", "a"), ("user", "aa")), "aaaa"]
    assert values(DOUBLES, texts)["join_drift"].value == 2 / 3
    state = state_of(DOUBLES, texts)
    assert (total(state, "messages"), total(state, "joins"), total(state, "broken_joins")) == (6, 3, 2)


def test_appends_and_continuations_by_hand():
    # The ids of aaaaa are aaaa a. Of a, aa, aaa and aaaa the last 1, 1, 2 and 0 ids change, and aaa has two ids already.
    contexts = [len(cut.context) for cut in cuts_of("aaaaa", 8)]
    assert set(contexts) == {2, 3, 4}
    state = state_of(DOUBLES, ["aaaaa"])
    changed = Counter({1: 1, 2: 1, 3: 2, 4: 0}[k] for k in contexts)
    assert dict(state.windows.counts) == changed
    assert total(state, "empty_continuations") == contexts.count(3)
    assert total(state, "continuations") == 8
    measured = values(DOUBLES, ["aaaaa"])
    assert (measured["append_p99"].value, measured["append_max"].value) == (2, 2)
    assert AppendWindows({0: 99, 5: 1}).percentile(0.99) == 0
    assert AppendWindows({0: 98, 5: 2}).percentile(0.99) == 5


def test_turns_by_hand():
    # Mistral's template has the system message before the last message of a user: a new one takes it away from the first.
    chat = talk(("system", "S"), ("user", "u"), ("assistant", "a"), ("user", "v"))
    measured = values(tokbench.load("utf8_bytes"), [chat, talk(("user", "u"), ("assistant", "a")), "no conversation"])
    assert measured["turn_drift_mistral"].value == 1 / 4
    assert {measured[f"turn_drift_{name}"].value for name in ("chatml", "llama2", "llama3", "gemma", "phi4")} == {0}
    assert "turn_drift" not in measured
    alone = values(tokbench.load("utf8_bytes"), ["no conversation"])
    assert isinstance(alone["turn_drift_chatml"], NotApplicable)
    assert isinstance(alone["join_drift"], NotApplicable)


def test_a_reply_that_begins_with_a_line_break_by_hand():
    lines = BPETokenizer([(10, 10)])  # two line breaks
    chat = talk(("user", "u"), ("assistant", "\na"), ("user", "v"), ("assistant", "b"))
    # ChatML opens the reply with a line break, which is one id with that of the reply.
    assert values(lines, [chat])["turn_drift_chatml"].value == 1 / 3


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A byte-level pipeline that trims its offsets, with a template that forgets thoughts and refuses two users."""
    folder = tmp_path_factory.mktemp("model")
    names = ["<|im_start|>", "<|im_end|>"]
    trained = tokbench.train("huggingface", CHATS, 600, store=False, model="byte_bpe", special_tokens=names)
    trained.save(folder / "tokenizer.json")
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    content["post_processor"] = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "chat.jinja").write_text(
        "{% for m in messages %}{% if loop.previtem and loop.previtem.role == m.role %}{{ raise_exception('no') }}"
        "{% endif %}<|im_start|>{{ m.role }}\n{% if loop.last %}{{ m.content }}{% else %}"
        "{{ m.content.split('</think>')[-1] }}{% endif %}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
        encoding="utf-8",
    )
    return folder


def test_a_model_s_own_template_by_hand(model):
    tokenizer = tokbench.load("huggingface", path=model / "tokenizer.json", chat_template=model / "chat.jinja")
    thinks = talk(("user", "u"), ("assistant", "<think>t</think>a"), ("user", "v"), ("assistant", "<think>t</think>b"))
    # The thought is there until the user's next message takes it away.
    assert values(tokenizer, [thinks])["turn_drift"].value == 1 / 3
    refused = talk(("user", "u"), ("user", "v"), ("assistant", "a"))
    assert isinstance(values(tokenizer, [refused])["turn_drift"], NotApplicable)
    both = state_of(tokenizer, [thinks, refused])
    assert (total(both, "turns_own"), total(both, "turns_chatml")) == (3, 5)


@pytest.mark.usefixtures("tiktoken_files")
def test_joins_continuations_and_windows_with_tiktoken_alone():
    library = tiktoken.get_encoding("o200k_base")
    encode = library.encode_ordinary
    boundaries, empty, windows = [], [], []
    for text in CHATS:
        texts = [message_text(message) for message in json.loads(text)["messages"]]
        boundaries += [encode(a) + encode(b) != encode(a + b) for a, b in pairwise(texts) if a and b]
        for message in texts:
            for context, continuation in cuts_of(message, 8):
                assert context == context.rstrip()
                assert message.startswith(context + continuation)
                before, after, whole = encode(context), encode(context + continuation), encode(message)
                empty.append(not after[len(before) :])
                kept = next((n for n in range(len(before), 0, -1) if before[:n] == whole[:n]), 0)
                windows.append(len(before) - kept)
    state = state_of(tokbench.load("tiktoken", encoding="o200k_base"), CHATS)
    assert (total(state, "broken_joins"), total(state, "joins")) == (sum(boundaries), len(boundaries))
    assert (total(state, "empty_continuations"), total(state, "continuations")) == (sum(empty), len(empty))
    assert dict(state.windows.counts) == {n: windows.count(n) for n in set(windows)}
    assert state.windows.percentile(0.99) == sorted(windows)[-(-99 * len(windows) // 100) - 1]


@pytest.mark.slow
def test_streams_and_spans_with_tokenizers_alone(model):
    library = Tokenizer.from_file(str(model / "tokenizer.json"))
    library.encode_special_tokens = True
    exact = replaced = spans = trimmed = tokens = 0
    messages = [message_text(m) for text in CHATS for m in json.loads(text)["messages"]]
    for message in filter(None, messages):
        encoding, stream = library.encode(message, add_special_tokens=False), DecodeStream(skip_special_tokens=False)
        shown = "".join(stream.step(library, i) or "" for i in encoding.ids)
        exact += shown == library.decode(encoding.ids, skip_special_tokens=False)
        replaced += shown.count("\ufffd")
        for token_id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            token = library.decode([token_id], skip_special_tokens=False)
            if "\ufffd" not in token:
                tokens += 1
                spans += message[start:end] == token
                trimmed += message[start:end].strip() == token.strip()
    tokenizer = tokbench.load("huggingface", path=model / "tokenizer.json")
    state = state_of(tokenizer, CHATS)
    assert (total(state, "exact_streams"), total(state, "streams")) == (exact, sum(map(bool, messages)))
    assert total(state, "replaced") == replaced
    assert [total(state, name) for name in ("exact_spans", "trimmed_spans", "span_tokens")] == [spans, trimmed, tokens]
    assert spans < trimmed == tokens  # the spaces are not in its spans, and nothing else is missing
    measured = values(tokenizer, CHATS)
    assert measured["stream_exact"].value == exact / total(state, "streams")
    assert measured["span_exact"].value == spans / tokens


class Mojibake:
    """Bytes that a decoder shows one by one, and that fails at NUL; spans count bytes."""

    vocab_size = 256
    dummy_prefix = b""

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")

    def token_bytes(self, token_id, /):
        return bytes([token_id])

    def decode_stream(self, ids, /):
        for token_id in ids:
            if not token_id:
                raise tokbench.BackendError("the decoder fails")
            yield self.decode([token_id])
        yield ""

    def encode_with_spans(self, text, /):
        ids = self.encode(text)
        return ids, range(len(ids)), range(1, len(ids) + 1)


def test_a_decoder_that_shows_other_text_by_hand():
    measured = values(Mojibake(), ["ab", "né!", "a\0b"])
    # ab alone is right. é is two U+FFFD, which decoding all at once does not have. NUL ends the third.
    assert (measured["stream_exact"].value, measured["stream_replaced"].value) == (1 / 3, 2 / 3)
    # a, b; n, and ! whose span lies beyond é; a, NUL, b.
    assert measured["span_exact"].value == 6 / 7
    assert values(Mojibake(), [" a"])["span_trimmed"].value == 1


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ('[{"role": "user", "content": "a"}]', ["user"]),
        ('{"messages": [{"role": "tool", "content": [{"type": "text", "text": "a"}]}], "id": 3}', ["tool"]),
        ('[{"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f"}}]}]', ["assistant"]),
        ('{"messages": [1, 2]}', ["user"]),
        ("[" * 5000, ["user"]),
    ],
)
def test_documents_that_are_conversations_or_not(text, roles):
    found = conversation(text)
    assert [message.role for message in found.plain] == roles
    if text != found.plain[0].content:
        assert json.loads(text)


def test_a_run_of_the_suite(tmp_path):
    results = tokbench.run("drift", only=["bytes"], workers=0, output=tmp_path / "out", store=False)
    cells = {cell.metric: cell for cell in results.cells if cell.group == "*"}
    assert {metric.id for metric in SPEC.values} <= set(cells)
    assert cells["join_drift"].value == cells["append_max"].value == 0
    assert "EncodesChat" in cells["turn_drift"].reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vocabulary", "template", "drifted"),
    [("gpt-oss", "harmony", 0), ("qwen3", "chatml", 1), ("mistral_v3", "mistral", 19)],
)
def test_vocabularies_in_the_form_of_their_own_model(vocabulary, template, drifted):
    state = state_of(tokbench.load("splintr", vocabulary=vocabulary), CHATS)
    assert (total(state, f"drifted_{template}"), total(state, f"turns_{template}")) == (drifted, 165)


RARE = "\U00012345"  # a sign of cuneiform, which no vocabulary has as one token


def parts(tokenizer, text):
    ids, starts, ends = tokenizer.encode_with_spans(text)
    assert list(ids) == list(tokenizer.encode(text))
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@pytest.mark.usefixtures("tiktoken_files")
def test_tiktoken():
    tokenizer = tokbench.load("tiktoken", encoding="cl100k_base")
    assert parts(tokenizer, "Hello world") == ["Hello", " world"]
    assert parts(tokenizer, "") == []
    # The three tokens of one character: the first two end where it begins, and the last one has all of it.
    assert parts(tokenizer, "a🤷b") == ["a", "", "", "🤷", "b"]


def test_tekken():
    pytest.importorskip("tokbench_engines")
    tokenizer = tokbench.load("mistral", vocabulary="tekken_240911")
    assert parts(tokenizer, "Hello world") == ["Hello", " world"]
    assert min(tokenizer.encode_with_spans("Hello").ids) >= 1000


def test_two_engines_with_the_vocabulary_of_t5(data):
    google = tokbench.load("sentencepiece", path=data / "spm" / "t5_base.model")
    face = tokbench.load("huggingface", path=data / "hf" / "t5-small.tokenizer.json")
    text = "Hello world, é"
    assert google.encode(text) == face.encode(text)
    assert parts(google, text) == ["Hello", " world", ",", " ", "é"]
    # tokenizers leaves out spaces, and gives one that is a token of its own the character after it.
    assert parts(face, text) == ["Hello", "world", ",", "é", "é"]
    assert spans_of(google, text) == (5, 5, 5)
    assert spans_of(face, text) == (3, 4, 5)


def test_offsets_that_are_trimmed(data):
    tokenizer = tokbench.load("huggingface", path=data / "hf" / "roberta-base.tokenizer.json")
    assert parts(tokenizer, "Hello  world") == ["Hello", "", "world"]
    assert spans_of(tokenizer, "Hello  world") == (1, 3, 3)


def test_a_dummy_prefix_is_no_text_of_the_first_token():
    pytest.importorskip("tokbench_engines")
    tokenizer = tokbench.load("mistral", vocabulary="v3")
    assert parts(tokenizer, "Hello world") == ["Hello", " world"]
    assert spans_of(tokenizer, "Hello world") == (2, 2, 2)
    # Bytes of a character are no text of their own.
    assert spans_of(tokenizer, RARE).tokens == 1


def test_splintr_shows_what_is_left_at_the_end():
    tokenizer = tokbench.load("splintr", vocabulary="llama2")
    ids = tokenizer.encode(f"a {RARE}")
    assert "".join(tokenizer.decode_stream(ids)) == f"a {RARE}"
    assert list(tokenizer.decode_stream(ids[:-1]))[-1].endswith("\ufffd")


def test_tokenizers_keeps_what_is_left_at_the_end():
    tokenizer = tokbench.train("huggingface", ["né"], 260)
    ids = tokenizer.encode(f"né {RARE}")
    assert "".join(tokenizer.decode_stream(ids)) == f"né {RARE}"
    assert "".join(tokenizer.decode_stream(ids[:-1])) == "né "
    assert tokenizer.decode(ids[:-1]).endswith("\ufffd")
