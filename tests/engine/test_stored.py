"""Runs that grow: what the store holds is not computed again, and nothing else than what is asked for is taken from it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from counting import Counting, counted, noted

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.engine import surveys

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
        "training mine: from the store; its time is that of the training itself",
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


def test_a_copied_store_serves_a_run_over_all_parts(counting, write_config, tmp_path, monkeypatch):
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\nmore {number % 2}\n", encoding="utf-8")

    def part(files, name="c"):
        return run(write_config(f"  {name}: {{source: text, path: '{files}.txt', document: line}}", ONE))

    part("[012]", "first")
    monkeypatch.setenv("TOKBENCH_STORE", str(shutil.copytree(counting, tmp_path / "copied")))
    counted("")
    whole = part("?")
    assert encoded() == 2
    assert whole.from_store == ["measuring c: 3 of 4 shards from the store"]


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
    assert results.from_store == ["one is not kept in the store: its backend cannot tell what it is made of"]


def test_one_file_of_many(counting, write_config, tmp_path):
    for number in range(12):
        (tmp_path / f"{number:03}.txt").write_text(f"text {number}\nmore\n", encoding="utf-8")
    path = write_config(corpora="  c: {source: text, path: '???.txt', document: line}", tokenizers=ONE)
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


def test_what_rests_on_the_place_of_documents_is_not_taken_from_elsewhere(counting, write_config, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    corpora = "  c: {source: text, path: '?.txt', document: line, group: '{stem}'}"
    path = write_config(corpora=corpora, tokenizers=ONE, metrics="[compression, origins]")
    run(path)
    (tmp_path / "a.txt").write_text("\n\none\ntwo\n", encoding="utf-8")  # the same documents on other lines
    assert encoded() == 2
    results = run(path)
    assert counted("mapped") == 1
    assert next(each.state for each in results.states if each.family == "origins") == [2, "a.txt:4"]


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
    assert any("mine is trained again" in each for each in caplog.messages)


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
    assert len([each for each in caplog.messages if "nothing more is kept in the store" in each]) == 1


@pytest.mark.slow
def test_a_plugin_whose_code_changed_is_another(stored, write_config, corpus, tmp_path, install, monkeypatch):
    install("backend_of_mine")
    monkeypatch.setenv("COUNTED", str(tmp_path / "counted"))
    code = Path(__file__).parents[1].joinpath("helpers", "counting.py").read_text(encoding="utf-8")
    module = tmp_path / "site" / "backend_of_mine.py"
    path = write_config(corpora=corpus, tokenizers=ONE, extra="show: {documents: 0}\n")
    for text, times in ((code, 4), (code + "# edited\n", 4)):
        module.write_text(text, encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "tokbench", "run", "-w0", str(path), "-o", str(tmp_path / "out")], check=True
        )
        assert encoded() == times


def test_nothing_is_kept_of_files_that_are_written_meanwhile(counting, write_config, corpus, tmp_path, monkeypatch):
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("one", encoding="utf-8")
    tokenizers, encode = f"  one: {{backend: counting, name: '{vocabulary}'}}", Counting.encode_batch

    def writes(self, texts, /):
        vocabulary.write_text("two", encoding="utf-8")
        return encode(self, texts)

    monkeypatch.setattr(Counting, "encode_batch", writes)
    results = run(write_config(corpora=corpus, tokenizers=tokenizers))
    assert any("was written to during the run" in each for each in results.from_store)


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
    assert encoded() == 0
    assert second.differences == first.differences


def written_before(seconds, folder):
    """Give the texts of a folder the time at which somebody wrote them so many seconds ago."""
    for file in folder.glob("?.txt"):
        os.utime(file, ns=(0, (int(time.time()) - seconds) * 10**9))


@pytest.mark.parametrize("limit", [None, 1])
def test_text_of_unchanged_files_is_not_read(counting, write_config, corpus, tmp_path, limit):
    tokenizers, file = f"{ONE}\n{TRAINED}", tmp_path / "x.txt"
    path = write_config(corpora=corpus, tokenizers=tokenizers, metrics="[compression, origins]")
    written_before(60, tmp_path)
    first, old = run(path, limit=limit), file.stat()
    # The file gets other text and its old time: a run that read it would see that.
    file.write_text("bcd\nbcb\n", encoding="utf-8")
    assert file.stat().st_size == old.st_size
    os.utime(file, ns=(0, old.st_mtime_ns))
    second = run(path, limit=limit)
    assert table(second) == table(first)
    assert second.corpora == first.corpora
    assert second.states == first.states
    # A metric that is added needs the text.
    grown = run(write_config(corpora=corpus, tokenizers=tokenizers, metrics="[compression, fertility]"), limit=limit)
    reasons = {each.reason for each in grown.cells if each.corpus == "c"}
    assert all("or if nothing does, touch them: their times are those of other text" in reason for reason in reasons)
    # With another time the files are read.
    written_before(30, tmp_path)
    third = run(path, limit=limit)
    assert table(third) != table(first)
    assert table(third) == table(run(path, limit=limit, store=False))


def test_a_file_that_was_just_written_is_read_again(counting, write_config, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(surveys, "_GRANULARITY", 60 * 10**9)  # on a busy machine seconds pass before it is read
    path, file = write_config(corpora=corpus, tokenizers=ONE), tmp_path / "x.txt"
    written_before(1, tmp_path)
    first, old = run(path), file.stat()
    file.write_text("bcd\nbcb\n", encoding="utf-8")
    os.utime(file, ns=(0, old.st_mtime_ns))  # as a clock that counts in seconds would leave it
    assert run(path).corpora["c"].sha256 != first.corpora["c"].sha256
