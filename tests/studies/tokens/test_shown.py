"""Texts that a run shows as tokens: named or chosen fairly, cut in workers, the same in the report and the terminal."""

import json
import re

import pytest
from shared_fixtures import problems

import tokbench
from tokbench.config.read import read_config
from tokbench.config.suites import find_suite
from tokbench.corpus.contract import Document
from tokbench.corpus.excerpts import LONGEST_EXCERPT, MOST_EXCERPTS, Excerpts, cut_excerpt
from tokbench.corpus.shards import Shard
from tokbench.engine.planning import plan_tokenizers
from tokbench.formats import html, markdown
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.plugin import Options, encode_batch
from tokbench.plugin.metrics import EncodedShard
from tokbench.registry.plugins import load_registry
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, TokenizerInfo
from tokbench.segmentation import token_view
from tokbench.segmentation.segmented_text import SHOWN_TEXTS, Segmentation, SegmentedText, ShownTexts, shown_texts
from tokbench.studies.tokens.options import LONGEST_SHOWN, ShowOptions, named_texts
from tokbench.studies.tokens.section import TokenViews, tokens_document
from tokbench.studies.tokens.worst_documents import WorstDocuments


@pytest.fixture(scope="module")
def classic(data, tmp_path_factory):
    """A run that shows the text of the suite ``quickstart`` under two vocabularies of OpenAI."""
    plan = plan_tokenizers(read_config(find_suite("quickstart").path), load_registry())
    [(label, text)] = named_texts(plan.config, plan.studies["tokens"]).texts.items()
    config = {
        "schema": "tokbench/1",
        "name": "classic",
        "corpora": {"hostile": {"source": "sample", "part": "hostile"}},
        "tokenizers": {name: {"backend": "tiktoken", "encoding": name} for name in ("gpt2", "cl100k_base")},
        "metrics": ["compression", "roundtrip", "worst_documents"],
        "show": {"documents": 1, "texts": [{"name": label, "text": text}]},
    }
    return tokbench.run(config, tmp_path_factory.mktemp("classic"), workers=0, store=False)


@pytest.mark.slow
def test_report_terminal_and_tiktoken_have_the_same_tokens(classic):
    import tiktoken

    shown = shown_texts(classic).texts[0]
    page, listing = html.render(classic), markdown.render(classic)
    static = page.partition('id="tokens-shown"')[2].partition("</section>")[0]
    lines = [line.plain for line in token_view.terminal([shown], colours=False)]
    for segmentation in shown.segmentations:
        encoding = tiktoken.get_encoding(segmentation.tokenizer)
        expected = encoding.encode_ordinary(shown.text)
        assert segmentation.ids == expected
        assert [token.data for token in segmentation.tokens(shown.text)] == encoding.decode_tokens_bytes(expected)
        line = static.partition(f'aria-label="Tokens of {segmentation.tokenizer}">')[2].partition("</p>")[0]
        titles = re.findall(r'title="id (\d+); bytes ([0-9a-f ]+)"', line)
        assert [int(token) for token, _ in titles] == expected
        assert [bytes.fromhex(data) for _, data in titles] == encoding.decode_tokens_bytes(expected)
        assert " ".join(map(str, expected)) in lines
        texts = [token.text for token in token_view.SegmentationView(shown, segmentation).tokens]
        assert re.findall("<bdi>(.*?)</bdi>", line) == [text.replace('"', "&#34;") for text in texts]
        head = next(k for k, each in enumerate(lines) if each.startswith(segmentation.tokenizer))
        assert [each for each in re.split("[│┃]\n*", lines[head + 1]) if each] == texts
        assert f"{len(expected)}: {texts[0]} ¦" in listing.replace("\\", "")


def worst_rows(results):
    """The rows of the worst documents in the report."""
    return tokens_document(CellTables(results)).nodes[-1].rows


def test_every_group_has_an_excerpt_and_the_page_has_all_of_them(classic):
    groups = list(classic.corpora["hostile"].groups)
    assert [each.group for each in shown_texts(classic).texts[1:]] == groups
    section = TokenViews(classic)
    body = json.loads(section.data)
    assert [text for _, text, _, _ in body["texts"]] == [each.shown.text for each in section.page]
    worst = shown_texts(classic).worst
    places = {(each.tokenizer, each.shown.group) for each in worst}
    assert len(worst_rows(classic)) == len(worst) == len(places) == 2 * 3
    assert all(len(each.shown.text) <= LONGEST_EXCERPT for each in worst)


def test_a_page_has_room_for_a_million_tokens_and_says_what_it_leaves_out():
    results = tokbench.Results(name="large", tokenizers={"t": TokenizerInfo(backend="b")})
    results.corpora["c"] = CorpusInfo(groups={f"g{k}": 1 for k in range(200)})
    long = Segmentation(tokenizer="t", ids=[7] * 100_001)
    texts = [
        SegmentedText(label=f"c:{k}", text="x", segmentations=[long], corpus="c", group=f"g{k}") for k in range(11)
    ]
    results.studies.put(SHOWN_TEXTS, ShownTexts(texts=texts, worst=[]))
    section = TokenViews(results)
    assert len(section.page) == 9
    assert "11 of 200 groups. 2 texts" in section.left_out


def test_documents_are_chosen_by_hash_and_not_by_place():
    documents = [Document(f"text {k}", "en", str(k), f"c:{k}") for k in range(50)]
    chosen, reversed_ = Excerpts(), Excerpts()
    for k, document in enumerate(documents):
        chosen.add(document, bytes([k * 37 % 251]))
    for k, each in reversed(list(enumerate(documents))):
        reversed_.add(each, bytes([k * 37 % 251]))
    smallest = sorted(range(50), key=lambda k: k * 37 % 251)[:MOST_EXCERPTS]
    assert [each.origin for each in chosen.of("en")] == [f"c:{k}" for k in smallest]
    assert chosen.of("en") == reversed_.of("en")


@pytest.mark.parametrize("text", ["x" * 999, "👩\u200d👩\u200d👧" * 99, "e" + "\u0301" * 999])
def test_an_excerpt_is_short_and_parts_no_letter_from_its_marks(text):
    for start in (0, 7, len(text) - 3):
        found = cut_excerpt(text, start)
        assert 0 < len(found) <= LONGEST_EXCERPT
        assert found in text
        if "\u0301" not in text:
            assert not found.startswith("\u200d")
            assert not found.endswith("\u200d")


@pytest.mark.nightly
@pytest.mark.slow
def test_a_text_that_ends_the_process_costs_its_tokenizer(faulty, write_config):
    path = write_config(
        corpora="  c: {source: text, path: x.txt}",
        tokenizers="  bad: {backend: CrashesInEncode}\n  good: {backend: utf8_bytes}",
        extra="show: [aa, b]\n",
    )
    path.with_name("x.txt").write_text("aaa", encoding="utf-8")
    results = tokbench.run(path, workers=1)
    for text in shown_texts(results).texts:
        bad, good = text.segmentations
        assert good.ids == list(text.text.encode())
        assert "SIGSEGV while encoding the texts to show" in bad.reason
    assert not results.failed, "texts to look at are no numbers"


def test_a_tokenizer_that_raises_has_the_reason(faulty, write_config):
    path = write_config(
        corpora="  c: {source: text, path: x.txt}",
        tokenizers="  bad: {backend: Panics}\n  good: {backend: utf8_bytes}",
        extra="show: [b, a]\n",
    )
    path.with_name("x.txt").write_text("aaa", encoding="utf-8")
    [b, a, document] = shown_texts(tokbench.run(path, workers=0)).texts
    assert "Panic" in b.segmentations[0].reason
    assert a.segmentations[0].ids == document.segmentations[0].ids[:1] == [97]


def test_segmentations_come_from_the_store(stored, write_config, monkeypatch):
    path = write_config(extra="show: [one, two]\n")
    first = tokbench.run(path, workers=0)
    monkeypatch.setattr("tokbench.measuring.job.TokenizerJob.run", None)
    again = tokbench.run(path, workers=0)
    assert shown_texts(again).texts == shown_texts(first).texts
    assert shown_texts(first).texts[0].segmentations[0].ids == [111, 110, 101]


def state(texts, first=0, backend="utf8_bytes"):
    documents = [Document(text, "en", str(k), f"c:{k}") for k, text in enumerate(texts, first)]
    tokenizer = tokbench.load(backend)
    loaded = LoadedTokenizer("t", tokenizer)
    encoded = EncodedShard(loaded, Shard("c", "en", first, documents, by_key=False), encode_batch(tokenizer, texts))
    return WorstDocuments(Options()).map(encoded)


def test_the_worst_documents_are_those_with_the_most_tokens_per_byte():
    texts = ["a" * 40, "é" * 40, "東" * 40, "short", "b" * 64, "é" * 20 + "a" * 20, "x" * 32]
    found = state(texts, backend="utf32_units")
    # a token for each code point: 1 token per byte where they are ASCII, the first of equals counts
    assert [(each.number, each.tokens, each.bytes) for each in found.worst] == [(0, 40, 40), (4, 64, 64), (6, 32, 32)]
    assert found.documents == 6, "a document of 5 bytes does not count"
    [measured] = WorstDocuments(Options()).finish(found).values()
    assert (measured.value, measured.n) == (1.0, 6)


def test_of_a_long_document_the_stretch_with_the_most_tokens_is_shown():
    text = "one two three four " * 60 + "!?;:,.-+" * 40 + " five six seven eight" * 60
    [example] = state([text], backend="utf8_bytes").worst
    assert example.excerpt == cut_excerpt(text), "all stretches of bytes are equal: the first"
    found = state_of_words(text)
    assert set("!?;:") <= set(found.worst[0].excerpt)


def state_of_words(text):
    """Return the state of a text under a vocabulary with long words."""
    tokenizer = tokbench.train("regex_bpe", ["one two three four five six seven eight " * 50], 290)
    shard = Shard("c", "en", 0, [Document(text, "en", "0", "c:0")], by_key=False)
    encoded = EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, [text]))
    return WorstDocuments(Options()).map(encoded)


def test_worst_documents_name_the_best_tokenizer(tmp_path):
    """Documents of 64 bytes, and merges that halve and quarter them."""
    texts = {"ab": "ab" * 32, "cd": "cd" * 32, "ef": "ef" * 32, "gh": "gh" * 32}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "merge-ab").write_text("ab" * 50, encoding="utf-8")
    (tmp_path / "merge-cd").write_text("cd" * 50, encoding="utf-8")
    train = {
        name: {"source": "text", "path": str(tmp_path / name), "evaluate": False} for name in ("merge-ab", "merge-cd")
    }
    sizes = {"ab": ("merge-ab", 257), "cd": ("merge-cd", 257), "abab": ("merge-ab", 258)}
    config = {
        "schema": "tokbench/1",
        "name": "worst",
        "corpora": {"c": {"source": "text", "path": str(tmp_path / "*.txt"), "group": "{stem}"}, **train},
        "tokenizers": {
            name: {"backend": "naive_bpe", "train": {"corpus": corpus, "vocab_size": size}}
            for name, (corpus, size) in sizes.items()
        },
        "metrics": ["worst_documents"],
    }
    results = tokbench.run(config, workers=0, store=False)
    found: dict[str, list[tuple[str, float]]] = {}
    for each in shown_texts(results).worst:
        found.setdefault(each.tokenizer, []).append((each.shown.group, each.times_the_fewest))
    assert found == {
        "ab": [("cd", 2.0), ("ef", 1.0), ("gh", 1.0)],
        "cd": [("ab", 4.0), ("ef", 1.0), ("gh", 1.0)],
        "abab": [("cd", 2.0), ("ef", 1.0), ("gh", 1.0)],
    }
    [first, *_] = [row.cells for row in worst_rows(results) if row.cells[0] == "ab"]
    assert (first[2], first[7]) == ("cd", "2.0 × cd")


def shown(write_config, extra):
    plan = plan_tokenizers(read_config(write_config(extra=extra)), load_registry())
    options = plan.studies.get("tokens", ShowOptions())
    named = named_texts(plan.config, options)
    assert not [*plan.problems, *named.problems]
    return options.documents, tuple(named.texts.items())


def test_texts_are_named_by_hand_by_file_or_by_number(write_config, tmp_path):
    (tmp_path / "fizz.py").write_text('print("FizzBuzz")\n', encoding="utf-8")
    found = shown(write_config, "show: [FizzBuzz, {name: greeting, text: 안녕}, {file: fizz.py}]\n")
    assert found == (1, (("text 1", "FizzBuzz"), ("greeting", "안녕"), ("fizz.py", 'print("FizzBuzz")\n')))


def test_documents_can_be_left_out_or_be_more(write_config):
    assert shown(write_config, "") == (1, ())
    assert shown(write_config, "show: {documents: 0}\n") == (0, ())
    assert shown(write_config, "show: {documents: 2, texts: [a, b]}\n") == (2, (("text 1", "a"), ("text 2", "b")))


def test_files_of_a_base_start_in_its_folder(write_config, tmp_path):
    (tmp_path / "bases").mkdir()
    (tmp_path / "bases" / "base.yaml").write_text("show: [{file: x.txt}]\n", encoding="utf-8")
    (tmp_path / "bases" / "x.txt").write_text("of the base", encoding="utf-8")
    assert shown(write_config, "extends: bases/base.yaml\n")[1] == (("x.txt", "of the base"),)


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("show: yes please", "7: "),
        ("show: [3]", "8: a text is 'text', {name: …, text: …} or {file: path}"),
        ("show: [{txt: a}]", "9: unknown key 'txt'; did you mean 'text'?"),
        ("show: [{name: a}]", "8: give either 'text' or 'file'"),
        ("show: [{text: a, file: b}]", "8: give either 'text' or 'file'"),
        ("show: [{name: a, text: b}, {name: a, text: c}]", "28: two texts are called 'a'"),
        ("show: ['']", "8: the text is empty"),
        ("show: [{file: none.txt}]", "15: "),
        ("show: [{file: bad.txt}]", "15: "),
        ("show: {document: 1}", "8: unknown key 'document'"),
        ("show: {documents: 4}", "19: documents: "),
        ("show: {texts: [{text: 1}]}", "23: text: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(write_config, tmp_path, show, expected):
    (tmp_path / "bad.txt").write_bytes(b"ok \xff")
    [told] = problems(write_config(extra=f"{show}\n"))
    assert told.startswith(f"run.yaml:9:{expected}")


def test_too_much_is_refused(write_config):
    [told] = problems(write_config(extra=f"show: [{'x' * (LONGEST_SHOWN + 1)}]\n"))
    assert told.startswith("run.yaml:9:8: the text has 4,001 characters")
    [told] = problems(write_config(extra=f"show: {[f't{k}' for k in range(33)]}\n"))
    assert "33 texts" in told
