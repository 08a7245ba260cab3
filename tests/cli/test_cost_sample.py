"""The estimate of a corpus's tokens: its blocks, its interval, and how often that covers the truth."""

import gzip
import json
import math
import random
import re
import shutil
import sysconfig
from functools import cache
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.command import texts_by_group
from tokbench.cost.sample import (
    CorpusFile,
    CorpusSample,
    Stratum,
    TextBlock,
    _strata,
    draw,
    drawn,
    files_of,
    places_of_blocks,
)
from tokbench.statistics.jackknife import student_t
from tokbench.text.cuts import reading
from tokbench.text.find import find_texts


def sample_folder(folder):
    folder.mkdir(exist_ok=True)
    for group, texts in texts_by_group("sample").items():
        if not group.startswith("hostile"):
            (folder / f"{group}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def blocks(path, size):
    [file] = files_of(find_texts([str(path)]))
    number = -(-file.size // size)
    with reading(path) as reader:
        data = reader.file.read()
    return [data[begin:end] for begin, end in places_of_blocks(file._replace(blocks=number), data, range(number))]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("size", [7, 40, 1000])
def test_blocks_of_text_are_the_file(tmp_path, pack, size):
    data = ("\n".join("né" * (number % 30) for number in range(50)) + "\n\n" + "é" * 90).encode()
    path = tmp_path / {bytes: "a.txt", gzip.compress: "a.txt.gz"}.get(pack, "a.txt.zst")
    path.write_bytes(pack(data))
    pieces = blocks(path, size)
    assert b"".join(pieces) == data
    assert all("\ufffd" not in block.decode(errors="replace") for block in pieces)


@pytest.mark.parametrize("size", [7, 1000])
def test_blocks_of_rows_are_whole_rows(tmp_path, size):
    lines = [json.dumps({"text": "n" * (number**2 * 20)}).encode() + b"\n" for number in range(30)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    pieces = blocks(tmp_path / "a.jsonl", size)
    assert (b"".join(pieces), [line for block in pieces for line in block.splitlines(True)]) == (b"".join(lines), lines)


def test_blocks_by_hand(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("ab\ncd\nefghijklmnop\nq")
    assert blocks(path, 4) == [b"ab\ncd\n", b"ef", b"ghij", b"klmnop\n", b"q"]


def counted(sample, count=lambda text: len(text.encode())):
    return sample.estimate([sum(map(count, block.texts)) for block in sample.blocks])


def test_everything_read_is_exact(tmp_path):
    folder = sample_folder(tmp_path / "sample")
    sample = draw([str(folder)], 1)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert (*counted(sample), sample.read) == (size, size, size, size)


def test_large_files_are_not_read_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one more line\n" * 300_000)
    sample = draw([str(path)], 0.01)
    assert counted(sample).tokens == pytest.approx(path.stat().st_size)
    assert 0.009 < sample.read / sample.n_bytes < 0.011


def test_same_seed_gives_the_same_estimate(tmp_path):
    folder = str(sample_folder(tmp_path / "sample"))
    first, again, other = (counted(draw([folder], 0.1, seed), len) for seed in (1, 1, 2))
    assert first == again
    assert first.tokens != other.tokens
    assert first.low < first.tokens < first.high


def test_an_estimate_by_hand():
    """Blocks of 2 and 4 bytes of 12 in four blocks: 3 and 3 tokens are 1 a byte; residuals 1 and -1."""
    stratum = Stratum(12, 4, [TextBlock(2, []), TextBlock(4, [])])
    estimate = CorpusSample([stratum]).estimate([3, 3])
    assert estimate.tokens == 12
    error = 12 / 3 * math.sqrt((1 - 2 / 4) * 2 / 2)
    assert estimate.high - estimate.tokens == pytest.approx(student_t(1) * error)
    whole = Stratum(5, 1, [TextBlock(5, [])])
    assert CorpusSample([whole, stratum, whole]).estimate([7, 3, 3, 8]) == pytest.approx(
        (27, 27 - student_t(1) * error, 27 + student_t(1) * error)
    )
    assert CorpusSample([whole]).estimate([7]) == (7, 7, 7)


def test_degrees_of_freedom_of_two_strata():
    """Residuals 1, 0, -1 of equal blocks: the variance is 1; 9 bytes of blocks of 3, 3 of 6 drawn: 9/3² · ½ · 1/3."""
    three = Stratum(9, 6, [TextBlock(3, [])] * 3)
    two = Stratum(8, 4, [TextBlock(2, []), TextBlock(4, [])])
    a, b = 3**2 * (1 - 3 / 6) * 1 / 3, (8 / 3) ** 2 * (1 - 2 / 4) * 2 / 2
    freedom = (a + b) ** 2 / (a**2 / 2 + b**2 / 1)
    estimate = CorpusSample([three, two]).estimate([4, 3, 2, 3, 3])
    assert estimate == pytest.approx((17, *(17 + sign * student_t(freedom) * math.sqrt(a + b) for sign in (-1, 1))))


@pytest.mark.parametrize(
    ("share", "strata"),
    [
        (0.3, ["a/x.txt", "a/y.txt", "b/z.txt"]),
        (0.29, ["a/*.txt", "b/*.txt"]),
        (0.2, ["a/*.txt", "b/*.txt"]),
        (0.19, ["*.txt"]),
    ],
)
def test_strata_have_three_blocks_each(share, strata):
    files = [
        CorpusFile(Path(name), (name, f"{name[0]}/*.txt", "*.txt"), 90, 0, 10)
        for name in ("a/x.txt", "a/y.txt", "b/z.txt")
    ]
    assert list(_strata(files, share)) == strata


def test_kinds_and_sizes_of_files(tmp_path):
    (tmp_path / "in/fi/deep").mkdir(parents=True)
    (tmp_path / "in/fi/deep/a.txt").write_text("abc\n")
    (tmp_path / "in/rows.jsonl").write_bytes(b'{"text": "a"}\n{"text": "' + b"b" * 14 + b'"}\n')
    (tmp_path / "in/LICENSE").write_text("x")
    (tmp_path / "in/empty.jsonl").write_bytes(gzip.compress(b""))
    texts = find_texts([str(tmp_path / "in")])
    files = {file.kinds: (file.size, file.row, file.data) for file in files_of(texts)}
    assert files == {
        ("fi/deep/a.txt", "fi/*.txt", "*.txt"): (4, 0, None),
        ("rows.jsonl", "*.jsonl", "*.jsonl"): (41, (13**2 + 26**2) // 39, None),
    }
    assert "empty.jsonl: empty" in " ".join(texts.notes())
    alone = files_of(find_texts([str(tmp_path / "in" / name) for name in ("fi/deep/a.txt", "LICENSE")]))
    assert [file.kinds for file in alone] == [("a.txt", "*.txt", "*.txt"), ("LICENSE", "*", "*")]


@pytest.mark.usefixtures("no_process")
def test_standard_input_is_sampled():
    text = "one line\n" * 100
    facts = json.loads(
        CliRunner().invoke(command, ["cost", "--sample", "100%", "-t", "utf8_bytes", "--json"], input=text).stdout
    )
    assert (facts["bytes"], facts["read"], facts["tokenizers"][0]["interval"]) == (900, 900, [900, 900])


def test_files_with_a_fault_are_left_out_of_a_sample(tmp_path):
    (tmp_path / "good.txt").write_text("good\n")
    (tmp_path / "bad.txt").write_bytes(b"a\n\xff\n")
    (tmp_path / "rows.jsonl").write_text('{"text": "é"}\n\n{"text": 3}\n')
    sample = draw([str(tmp_path)], 1)
    assert [[block.texts for block in stratum.drawn] for stratum in sample.strata] == [[["good\n"]]]
    notes = " ".join(sample.left_out)
    assert "bad.txt: not UTF-8" in notes
    assert "rows.jsonl: field 'text'" in notes
    (tmp_path / "good.txt").unlink()
    with pytest.raises(tokbench.InputError, match=re.escape(str(tmp_path))):
        draw([str(tmp_path)], 1)
    for share in (0, 1.01, -1):
        with pytest.raises(tokbench.InputError, match=f"{share:.2%}"):
            draw([str(tmp_path)], share)


def test_blocks_of_a_sample(tmp_path):
    """400 blocks where that gives a kilobyte to 64 kB each; at least 40 blocks."""
    path = tmp_path / "a.txt"
    path.write_text(("x" * 99 + "\n") * 8192)  # 800 kB
    for share, blocks, drawn_ in [(0.5, 800, 400), (0.01, 800, 40), (1, 1, 1)]:
        [stratum] = draw([str(path)], share).strata
        assert (stratum.n_bytes, stratum.blocks, len(stratum.drawn)) == (819_200, blocks, drawn_)


def test_rows_count_the_tokens_of_their_field(tmp_path):
    rows = [{"id": number, "body": "x" * (number % 7)} for number in range(5000)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    truth = sum(len(row["body"]) for row in rows)
    counts = counted(draw([str(path)], 0.5))
    assert counts.low < truth < counts.high


def test_unequal_files_are_strata(tmp_path):
    (tmp_path / "a.txt").write_text("plain words\n" * 20_000)
    (tmp_path / "b.py").write_text("x = 1\n" * 20_000)
    (tmp_path / "c.bin").write_bytes(b"\0\1")
    sample = draw([str(tmp_path)], 0.2)
    assert [stratum.n_bytes for stratum in sample.strata] == [240_000, 120_000]
    assert "c.bin" in " ".join(sample.left_out)


@pytest.mark.usefixtures("no_process")
def test_command(tmp_path):
    folder = str(sample_folder(tmp_path / "sample"))
    asked = ["cost", folder, "-t", "utf8_bytes,utf16_units", "--sample"]
    facts = json.loads(CliRunner().invoke(command, [*asked, "20%", "--json"]).stdout)
    in_bytes = next(row for row in facts["tokenizers"] if row["tokenizer"] == "utf8_bytes")
    low, high = in_bytes["interval"]
    assert low <= in_bytes["tokens"] <= high
    assert in_bytes["tokens"] == pytest.approx(facts["bytes"])
    assert f"{facts['bytes']:,} bytes" in CliRunner().invoke(command, [*asked, "1%"]).stdout
    assert CliRunner().invoke(command, [*asked, "much"]).exit_code == 2


def ten_corpora(data, folder):
    """Yield a name, a corpus and a share of it."""
    library = Path(sysconfig.get_path("stdlib"))
    programs = sorted(library.glob("*.py")) + sorted((library / "asyncio").glob("*.py"))
    shutil.copytree(library / "asyncio", folder / "code" / "asyncio", ignore=shutil.ignore_patterns("*.pyc", "__py*"))
    for path in sorted(library.glob("*.py")):
        shutil.copy(path, folder / "code")
    yield "sample", sample_folder(folder / "sample"), 0.1
    yield "NTREX, 13 languages", data / "ntrex", 0.01
    yield "PUD, 10 languages", data / "pud/*.txt", 0.02
    yield "Python's library", folder / "code", 0.01
    yield "NTREX, German", data / "ntrex/deu.txt", 0.2
    yield "Botchan", data / "text/botchan.txt", 0.2
    yield "Shakespeare", data / "text/tinyshakespeare.txt", 0.05
    yield "PUD as CoNLL-U, Thai, .gz", data / "pud/th.conllu.gz", 0.02
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in programs]
    texts += (data / "ntrex/deu.txt").read_text(encoding="utf-8").splitlines() * 2
    random.Random(1).shuffle(texts)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    yield "programs and German, JSON rows", rows, 0.02
    names = ("eng", "tha", "amh", "zho-CN")
    mixed = folder / "mixed.txt"
    mixed.write_text("".join((data / f"ntrex/{name}.txt").read_text(encoding="utf-8") for name in names))
    yield "four languages in one file", mixed, 0.02


@pytest.mark.nightly
@pytest.mark.slow
def test_interval_covers_the_truth_of_ten_corpora(data, tmp_path):
    encode, repeats, covered = tokbench.load("gpt-4o").encode, 200, []
    count = cache(lambda text: len(encode(text)))  # samples of a corpus share blocks
    for corpus, where, share in ten_corpora(data, tmp_path):
        files = files_of(find_texts([str(where)]))
        truth = counted(CorpusSample(drawn(files, 1, 0)), count).tokens
        samples = [CorpusSample(drawn(files, share, seed)) for seed in range(repeats)]
        estimates = [counted(sample, count) for sample in samples]
        inside = sum(one.low <= truth <= one.high for one in estimates) / repeats
        width = sum((one.high - one.low) / 2 for one in estimates) / repeats / truth
        bias = sum(one.tokens for one in estimates) / repeats / truth - 1
        read = sum(one.read for one in samples) / repeats / samples[0].n_bytes
        size = f"{samples[0].n_bytes:,} | {read:.1%} | {truth:,.0f}"
        print(f"| {corpus} | {size} | ± {width:.1%} | {bias:+.2%} | {inside:.1%} |")  # noqa: T201 - for the page
        covered.append(inside)
    assert min(covered) >= 0.88
    assert sum(covered) / len(covered) >= 0.93
