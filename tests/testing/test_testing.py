"""The conformance suite catches every broken backend by the rule that it breaks, and by no other."""

import json
import re
import subprocess
import sys

import broken_backends as broken
import broken_lives as lives
import pytest
from click.testing import CliRunner
from shared_check import check_in_shared_process

import tokbench
import tokbench.plugin
from tokbench.cli.main import tokbench as command
from tokbench.testing import check_backend, conformance
from tokbench.testing.report import SENTENCES
from tokbench.testing.rules import RULES
from tokbench.testing.under_test import CheckRequest
from tokbench.tokenizers import contract as protocol

ALL = broken.BROKEN + lives.BROKEN
LIMITS = {broken.Hangs: 3, lives.NeverEnds: 3}
CASES = [
    pytest.param(*case, id=case[0].__name__, marks=[pytest.mark.slow] if case[0] in LIMITS else []) for case in ALL
]


def rules_for(kind, rule):
    """Return all rules, without those of another process if the class encodes as the one that breaks no rule, or hangs."""
    only_encode = {"pickle", "other_process"} if kind.encode is broken.Bytes.encode or kind in LIMITS else set()
    return [each for each in RULES if each == rule or each not in only_encode]


def spec_of(kind):
    return lives.spec(kind, trained=kind in lives.TRAIN)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rule", "shown"), CASES)
def test_a_broken_backend_is_caught_and_by_no_other_rule(kind, rule, shown, monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "corpora")  # its process needs the texts alone
    limit, rules = LIMITS.get(kind, 60), rules_for(kind, rule)
    request = CheckRequest(spec_of(kind), train=int(kind in lives.TRAIN), examples=0)
    report = check_in_shared_process(request, rules, limit)
    assert [outcome.rule for outcome in report.failed] == [rule], str(report)
    assert not report.ok
    assert len(report.outcomes) == len(rules)
    [outcome] = report.failed
    assert outcome.quote == f"{RULES[rule].sentence}. {SENTENCES[RULES[rule].sentence]}"
    assert outcome.verdict.expected
    assert outcome.verdict.got
    if shown is not None:
        assert outcome.verdict.input == shown


def test_every_rule_has_a_broken_backend():
    assert {rule for _, rule, _ in ALL} == set(RULES)


def test_the_sentences_are_those_of_the_protocol():
    assert list(SENTENCES) == list(range(1, 20))
    flat = " ".join(protocol.__doc__.replace("``", "`").split())
    for number, sentence in SENTENCES.items():
        assert f" {number}. {sentence} " in flat
    assert {rule.sentence for rule in RULES.values()} == set(SENTENCES)


@pytest.mark.slow
def test_a_backend_that_keeps_the_contract():
    report = check_backend(tokbench.plugin.BackendSpec(name="b", summary="bytes", load=broken.Batches), examples=50)
    assert report.ok, str(report)
    texts = {outcome.rule: outcome.verdict.note for outcome in report.outcomes}
    assert texts["encode_batch"].endswith("texts in one batch")
    fewer = check_backend(tokbench.plugin.BackendSpec(name="b", summary="bytes", load=broken.Batches), examples=0)
    count = re.compile(r"[\d,]+")
    more_and_fewer = [
        int(count.search(next(o.verdict.note for o in each.outcomes if o.rule == "every_text"))[0])
        for each in (report, fewer)
    ]
    assert more_and_fewer[0] > more_and_fewer[1] > 200, "hypothesis adds texts"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("utf8_byte",), "unknown backend 'utf8_byte'; did you mean 'utf8_bytes'?"),
        (("utf8_bytes", {"size": 2}), "unknown key 'size'"),
        (("naive_bpe", {}, 100), "train is 100, but backend 'naive_bpe' needs 256 or more"),
        (("utf8_bytes", {}, 300), "backend 'utf8_bytes' cannot be trained"),
        ((tokbench.plugin.BackendSpec(name="x", summary="x"),), "backend 'x' cannot be loaded, only trained"),
        (
            (tokbench.plugin.BackendSpec(name="x", summary="x", load=lambda options: None),),
            "cannot be sent to the process",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_starts(arguments, message):
    backend, options, train = (*arguments, *({}, 0)[len(arguments) - 1 :])
    with pytest.raises(tokbench.InputError, match=re.escape(message)):
        check_backend(backend, options, train=train)
    with pytest.raises(tokbench.InputError, match=re.escape(message)):
        conformance(backend, train=train, **options)


def test_without_the_source_of_its_texts_nothing_is_checked(monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines")
    message = (
        "tokenizers are checked on the texts of the source 'sample': unknown corpus source 'sample'; none are known"
    )
    with pytest.raises(tokbench.InputError, match=message):
        check_backend("utf8_bytes", examples=0)


def test_some_rules_are_checked_in_their_order():
    report = check_backend("utf8_bytes", rules=["lossless", "vocab_size"], examples=0)
    assert [outcome.rule for outcome in report.outcomes] == ["vocab_size", "lossless"]
    test_mine = conformance("utf8_bytes", rules=["decode", "empty_text"])
    [mark] = test_mine.pytestmark
    assert list(mark.args[1]) == ["empty_text", "decode"]
    for check in (check_backend, conformance):
        with pytest.raises(tokbench.InputError, match=r"unknown rule 'lossles'; did you mean 'lossless'\?"):
            check("utf8_bytes", rules=["lossles"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (lives.NotHere, tokbench.BackendUnavailable, "no network here"),
        (lives.Damaged, tokbench.BackendError, "the file is damaged"),
        (lives.LoadPanics, tokbench.BackendError, "raised Panic: out of memory"),
        (lives.LoadCrashes, tokbench.BackendError, "does not load: the process died with SIGSEGV"),
        (lives.NoTokenizer, tokbench.BackendError, "NoTokenizer is not a tokenizer yet: add 'vocab_size: int"),
    ],
)
def test_what_does_not_load(kind, error, message):
    with pytest.raises(error, match=message):
        check_backend(spec_of(kind))


def run_pytest(folder, test_file):
    (folder / "test_mine.py").write_text(test_file, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-W", "error", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
    return done.returncode, done.stdout


@pytest.mark.slow
def test_two_lines_are_a_test_file(tmp_path):
    code, output = run_pytest(
        tmp_path, "import tokbench.testing\ntest_mine = tokbench.testing.conformance('utf8_bytes', examples=0)\n"
    )
    assert code == 0, output
    passed, skipped = map(int, re.search(r"(\d+) passed, (\d+) skipped", output).groups())
    assert passed + skipped == len(RULES)
    assert "it has no encode_with_offsets" in output


@pytest.mark.slow
def test_a_failing_test_names_the_sentence_and_the_input(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from broken_backends import Lowers\nimport tokbench\n"
        "SPEC = tokbench.plugin.BackendSpec(name='mine', summary='mine', load=Lowers)\n",
        encoding="utf-8",
    )
    code, output = run_pytest(
        tmp_path,
        f"import sys; sys.path.append({str(broken.HERE)!r})\nimport mine, tokbench.testing\n"
        "test_mine = tokbench.testing.conformance(mine.SPEC, examples=0)\n",
    )
    assert code == 1
    assert "mine breaks the rule lossless" in output
    assert f"contract  9. {SENTENCES[9]}" in output
    assert "input     decode(encode('Å'))" in output
    assert "1 failed" in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_an_unavailable_backend_is_skipped(tmp_path):
    code, output = run_pytest(
        tmp_path,
        f"import sys; sys.path.append({str(broken.HERE)!r})\nimport broken_lives, tokbench.testing\n"
        "test_mine = tokbench.testing.conformance(broken_lives.spec(broken_lives.NotHere))\n",
    )
    assert code == 0, output
    assert f"{len(RULES)} skipped" in output
    assert "no network here" in output


def invoke(*args):
    return CliRunner().invoke(command, ["check", *map(str, args)], standalone_mode=False)


@pytest.mark.slow
def test_the_command_tells_rule_by_rule():
    outcome = invoke("--backend", "regex_bpe", "--train", 300, "-O", "pattern=gpt2", "--examples", 0)
    assert outcome.exit_code == 0, outcome.output
    lines = outcome.output.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == list(RULES)
    assert lines[0] == "ok      vocab_size          300 ids"
    assert lines[-1].startswith("regex_bpe: ")
    assert " 0 broken, " in lines[-1]


@pytest.mark.slow
def test_the_command_in_json():
    outcome = invoke("--backend", "utf16_units", "--json", "--examples", 0)
    assert outcome.exit_code == 0
    report = json.loads(outcome.output)
    assert (report["backend"], report["ok"], report["train"]) == ("utf16_units", True, 0)
    [offsets] = [each for each in report["outcomes"] if each["rule"] == "offsets"]
    assert (offsets["state"], offsets["sentence"]) == ("ok", 6)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give a CONFIG, or --backend NAME"),
        (("run.yaml", "--backend", "x"), "not both"),
        (("run.yaml", "--examples", "3"), "go with --backend"),
        (("--backend", "utf8_bytes", "-O", "size"), "-O size: write it as KEY=VALUE"),
        (("--backend", "utf8_byte"), "did you mean 'utf8_bytes'?"),
    ],
)
def test_the_command_s_bad_input(args, message, tmp_path):
    arguments = [sys.executable, "-m", "tokbench", "check", *args]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
