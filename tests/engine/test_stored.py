"""Runs that grow: what the store holds is not computed again, and nothing else than what is asked for is taken from it."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from counting import counted, noted

import tokbench
from tokbench.cli.main import tokbench as command

ONE = "  one: {backend: counting}"
TWO = "  two: {backend: counting, name: two}"
TRAINED = "  mine: {backend: counting, name: mine, train: {corpus: c, vocab_size: 300}}"


@pytest.fixture
def counting(install, stored, tmp_path, monkeypatch):
    """Install the plugin that counts, give runs a store, and return its folder."""
    install("counting")
    monkeypatch.setenv("COUNTED", str(tmp_path / "counted"))
    return stored


def table(results):
    return results.frame.to_csv()


def encoded(name="one"):
    return counted(f"encoded:{name}")


def run(path, **options):
    """Run a configuration without texts to show: they would be encoded, too, and the tests count."""
    return tokbench.run(path, workers=0, settings=["show.documents=0"], **options)


def test_a_second_run_encodes_and_trains_nothing(counting, write_config, corpus):
    path = write_config(corpora=corpus, tokenizers=f"{ONE}\n{TRAINED}", metrics="[compression, fertility, origins]")
    first = run(path)
    assert encoded() == 4
    second = run(path)
    assert not Path(os.environ["COUNTED"]).exists()
    assert table(first) == table(second)
    assert table(first) == table(run(path, store=False))
    assert encoded() == 4
    assert first.from_store == []
    assert second.from_store == [
        "training mine: from the store, with the time of the original training",
        "measuring c: 4 of 4 shards from the store",
    ]
    times = [results.tokenizers["mine"].train for results in (first, second)]
    assert times[0].seconds == times[1].seconds
    assert [time.from_store for time in times] == [False, True]
    assert first.states == second.states


def test_a_tokenizer_that_is_added_costs_that_tokenizer(counting, write_config, corpus):
    run(write_config(corpora=corpus, tokenizers=ONE))
    grown = run(write_config(corpora=corpus, tokenizers=f"{ONE}\n{TWO}"))
    assert [line[:2] for line in noted()] == [["encoded:one", "2"]] * 2 + [["encoded:two", "2"]] * 2
    assert grown.from_store == ["measuring c: 2 of 4 shards from the store"]


def test_a_metric_that_is_added_costs_that_metric(counting, write_config, corpus):
    run(write_config(corpora=corpus, tokenizers=ONE, metrics="[compression, origins]"))
    assert counted("mapped") == 2
    grown = write_config(corpora=corpus, tokenizers=ONE, metrics="[compression, origins, fertility]")
    results = run(grown)
    assert counted("mapped") == 0
    counted("")
    run(grown)
    assert encoded() == 0
    assert table(results) == table(run(grown, store=False))


def test_options_versions_and_names(counting, write_config, corpus, monkeypatch):
    metrics = "[compression, origins]"
    run(write_config(corpora=corpus, tokenizers=ONE, metrics=metrics))
    assert encoded() == 4
    # The name in the run does not count; the options do.
    run(write_config(corpora=corpus, tokenizers="  other: {backend: counting}", metrics=metrics))
    assert encoded() == 0
    run(write_config(corpora=corpus, tokenizers="  one: {backend: counting, slow: 0.001}", metrics=metrics))
    assert encoded() == 4
    monkeypatch.setenv("ORIGINS_VERSION", "2")
    run(write_config(corpora=corpus, tokenizers=ONE, metrics=metrics))
    assert counted("mapped") == 2


def test_what_a_tokenizer_says_of_its_identity_counts(counting, write_config, corpus):
    for identity, times in (("a", 4), ("a", 0), ("b", 4), ("", 4), ("", 4)):
        text = f"  one: {{backend: counting, identity: '{identity}'}}"
        results = run(write_config(corpora=corpus, tokenizers=text))
        assert encoded() == times
    assert results.from_store == ["one is not kept in the store: its backend does not identify its contents"]


def test_one_file_of_many(counting, write_config, tmp_path):
    for number in range(12):
        (tmp_path / f"{number:03}.txt").write_text(f"text {number}\nmore\n", encoding="utf-8")
    path = write_config(corpora="  c: {source: text, path: '???.txt', document: line, group: '{stem}'}", tokenizers=ONE)
    run(path)
    assert encoded() == 24
    (tmp_path / "004.txt").write_text("edited\nmore\nand more\n", encoding="utf-8")
    results = run(path)
    assert encoded() == 3
    assert results.from_store == ["measuring c: 11 of 12 shards from the store"]
    (tmp_path / "100.txt").write_text("added\n", encoding="utf-8")
    run(path)
    assert encoded() == 1
    assert table(run(path)) == table(run(path, store=False))


def test_failures_are_not_kept(faulty, stored, write_config, corpus):
    path = write_config(corpora=corpus, tokenizers="  bad: {backend: OutOfRange}\n  good: {backend: utf8_bytes}")
    runs = [run(path) for _ in range(2)]
    assert table(runs[0]) == table(runs[1])
    assert any(cell.status == "failed" for cell in runs[1].cells)
    assert runs[1].from_store == ["measuring c: 3 of 4 shards from the store"]


def test_a_training_that_cannot_be_read_is_done_again(counting, write_config, corpus, caplog):
    from tokbench.foundation.store import Store

    path = write_config(corpora=corpus, tokenizers=TRAINED)
    run(path)
    store = Store(counting)
    [entry] = [each for each in store.entries() if each.kind == "training"]
    store.put_value("training", entry.key, store.value("training", entry.key)._replace(pickled=b"no pickle"))
    counted("")
    run(path)
    assert counted("trained:mine") == 15
    assert any("training mine again" in message for message in caplog.messages)


def test_the_text_and_the_size_of_a_training_count(counting, write_config, corpus, tmp_path):
    path = write_config(corpora=corpus, tokenizers=TRAINED)
    run(path)
    run(write_config(corpora=corpus, tokenizers=TRAINED.replace("300", "301")))
    (tmp_path / "x.txt").write_text("aaa\nacc\n", encoding="utf-8")
    run(path)
    assert counted("trained:mine") == 3 * 15  # of them four line ends


def test_a_store_that_cannot_be_written_is_told_once(counting, write_config, corpus, tmp_path, monkeypatch, caplog):
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for kind in ("states", "training"):
        (blocked / kind).write_text("a file where a folder should be", encoding="utf-8")
    monkeypatch.setenv("TOKBENCH_STORE", str(blocked))
    path = write_config(corpora=corpus, tokenizers=f"{ONE}\n{TRAINED}")
    assert table(run(path)) == table(run(path, store=False))
    assert len([message for message in caplog.messages if "cannot write to the store" in message]) == 1


@pytest.mark.slow
def test_the_command_train_and_runs_share_their_trainings(counting, write_config, corpus, tmp_path):
    def trained():
        return [what for what, *_ in noted() if what.startswith("trained:")]

    def train(*options):
        done = CliRunner().invoke(command, ["train", str(path), "-o", str(tmp_path / "out"), *options])
        rows = [line for line in done.output.splitlines() if line.startswith(("mine", "other"))]
        return trained(), ["from the store" in row for row in rows[:2]]

    run(write_config(corpora=corpus, tokenizers=TRAINED))
    assert trained() == ["trained:mine"]
    path = write_config(corpora=corpus, tokenizers=f"{TRAINED}\n{TRAINED.replace('mine', 'other')}")
    assert train() == (["trained:other"], [True, False])
    run(path)
    assert trained() == []
    assert train("--no-store") == (["trained:mine", "trained:other"], [False, False])


def test_a_text_is_trained_on_once(counting):
    texts = ["one text " * 10_000, "another " * 10_000]

    def trained(documents, **options):
        tokenizer = tokbench.train("counting", documents, 300, name="mine", **options)
        assert tokenizer.encode("a") == [97]
        return counted("trained:mine")

    size = sum(map(len, texts))
    assert trained(texts) == size
    assert trained(tuple(texts)) == 0
    assert trained(texts, slow=0.001) == size
    assert trained([*texts, ""]) == size
    assert trained(["".join(texts)]) == size
    assert trained(texts, store=False) == size
    assert trained(iter(texts)) == size
    grouped = {"en": texts[:1], "de": texts[1:]}
    assert trained(grouped) == size  # a trainer may treat groups apart
    assert trained(dict(grouped)) == 0
    assert trained({"en": texts}) == size
    for _ in range(2):
        assert trained(["short"]) == 5  # it is not worth while to look for it


def test_differing_documents_are_not_encoded_again(counting, write_config, corpus):
    tokenizers = f"  chars: {{backend: utf16_units, same_as: one}}\n{ONE}"
    path = write_config(corpora=corpus, tokenizers=tokenizers, metrics="[compression]", formats="[csv, md]")
    first = run(path)
    assert encoded() > 0
    second = run(path)
    assert encoded() <= 1  # the document that differs
    assert second.studies == first.studies
