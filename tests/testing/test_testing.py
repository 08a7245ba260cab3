"""The conformance suite catches every broken backend by the rule that it breaks, and by no other."""

import re
import subprocess
import sys
from pathlib import Path

import broken_backends as broken
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

CASES = [*broken.BROKEN.items(), ("every_text", broken.CRASHES)]


def rules_for(kind, rule):
    """Return all rules, without those of another process where they show nothing new, or wait for it to hang."""
    only_encode = {"pickle", "other_process"} if kind.encode in {broken.Bytes.encode, broken.hang} else set()
    return [each for each in RULES if each == rule or each not in only_encode]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("rule", "case"), [pytest.param(*case, id=case[1].kind.__name__) for case in CASES])
def test_a_broken_backend_is_caught_and_by_no_other_rule(rule, case, monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "corpora")  # its process needs the texts alone
    limit, rules = 2 if rule == "long_text" else 60, rules_for(case.kind, rule)
    request = CheckRequest(broken.spec(case.kind), train=int(rule == "save"), examples=0)
    report = check_in_shared_process(request, rules, limit)
    assert [outcome.rule for outcome in report.failed] == [rule], str(report)
    assert len(report.outcomes) == len(rules)
    [outcome] = report.failed
    assert outcome.sentence == RULES[rule].sentence
    assert outcome.expected
    assert outcome.got
    assert case.shown is None or outcome.input == case.shown


def test_the_sentences_are_those_of_the_protocol():
    assert list(SENTENCES) == list(range(1, 20))
    flat = " ".join(protocol.__doc__.replace("``", "`").split())
    for number, sentence in SENTENCES.items():
        assert f" {number}. {sentence} " in flat
    assert {rule.sentence for rule in RULES.values()} == set(SENTENCES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("utf8_byte",), "did you mean 'utf8_bytes'?"),
        (("utf8_bytes", {"size": 2}), "unknown key 'size'"),
        (("utf8_bytes", {}, 300), "cannot be trained"),
        ((tokbench.plugin.BackendSpec(name="x", summary="x"),), "cannot be loaded, only trained"),
        (
            (tokbench.plugin.BackendSpec(name="x", summary="x", load=lambda options: None),),
            "cannot be sent to another process",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_starts(arguments, message):
    backend, options, train = (*arguments, *({}, 0)[len(arguments) - 1 :])
    with pytest.raises(tokbench.InputError, match=re.escape(message)):
        check_backend(backend, options, train=train)
    with pytest.raises(tokbench.InputError, match=re.escape(message)):
        conformance(backend, train=train, **options)


def test_some_rules_are_checked_in_their_order():
    test_mine = conformance("utf8_bytes", rules=["decode", "empty_text"])
    [mark] = test_mine.pytestmark
    assert list(mark.args[1]) == ["empty_text", "decode"]
    for check in (check_backend, conformance):
        with pytest.raises(tokbench.InputError, match="did you mean 'lossless'"):
            check("utf8_bytes", rules=["lossles"])


@pytest.mark.slow
def test_a_backend_whose_loading_crashes():
    with pytest.raises(tokbench.BackendError, match="SIGSEGV"):
        check_backend(broken.spec(broken.LOAD_CRASHES))


@pytest.mark.slow
def test_two_lines_are_a_test_file(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        f"import sys; sys.path.append({str(Path(broken.__file__).parent)!r})\n"
        "import broken_backends as broken, tokbench.testing\n"
        "test_bytes = tokbench.testing.conformance(broken.spec(broken.Bytes), examples=0, rules=['decode', 'spans'])\n"
        "lowers = broken.BROKEN['lossless'].kind\n"
        "test_lowers = tokbench.testing.conformance(broken.spec(lowers), examples=0, rules=['lossless'])\n"
        "test_absent = tokbench.testing.conformance(broken.spec(broken.NOT_HERE), rules=['decode'])\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-W", "error", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300)
    assert done.returncode == 1, done.stderr
    assert "1 failed, 1 passed, 2 skipped" in done.stdout
    for shown in ("Lowers breaks the rule lossless", SENTENCES[9], "decode(encode('Å'))", "no network here"):
        assert shown in done.stdout
    assert "Traceback" not in done.stdout


def invoke(*args):
    return CliRunner().invoke(command, ["check", *map(str, args)], standalone_mode=False)


@pytest.mark.slow
def test_the_command_tells_rule_by_rule():
    outcome = invoke("--backend", "utf16_units", "--examples", 0)
    assert outcome.exit_code == 0, outcome.output
    lines = outcome.output.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == list(RULES)
    assert lines[0] == "ok      vocab_size          65,536 ids"
    assert " 0 broken, " in lines[-1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give a CONFIG, or --backend NAME"),
        (("run.yaml", "--backend", "x"), "not both"),
        (("run.yaml", "--examples", "3"), "go with --backend"),
        (("--backend", "utf8_bytes", "-O", "size"), "KEY=VALUE"),
    ],
)
def test_the_command_s_bad_input(args, message):
    done = CliRunner().invoke(command, ["check", *args])
    assert done.exit_code == 2
    assert message in done.output
