"""A command changes a configuration for one run: other values, fewer tokenizers, a limit of documents."""

import pytest
import yaml
from shared_fixtures import cell, problems

import tokbench
from tokbench.config.overrides import Overrides
from tokbench.config.read import read_config
from tokbench.engine.planning import plan_tokenizers
from tokbench.foundation.errors import InputError
from tokbench.registry.plugins import load_registry

TOKENIZERS = """  bytes: {backend: utf8_bytes}
  gpt-4.1: {backend: regex_bpe, train: {corpus: sample, vocab_size: [300, 400]}}
  units: {backend: utf16_units}"""
METRICS = "[compression, {fertility: {unit: uax29}}, {nsl: {reference: bytes}}]"
SIZES = "tokenizers.gpt-4.1.train.vocab_size"


def changed(write_config, *settings, metrics=METRICS):
    return read_config(write_config(tokenizers=TOKENIZERS, metrics=metrics), Overrides(settings=settings))


@pytest.mark.parametrize(
    ("setting", "place", "value"),
    [
        ("name=other", ("name",), "other"),
        ("report.formats=[csv, md]", ("report",), {"formats": ["csv", "md"]}),
        ("corpora.sample.part=null", ("corpora", "sample"), {"source": "sample"}),
        ("tokenizers.gpt-4.1.train.vocab_size=500", ("tokenizers", "gpt-4.1", "train", "vocab_size"), 500),
        ("tokenizers.gpt-4.1.pattern=a=b", ("tokenizers", "gpt-4.1", "pattern"), "a=b"),
        ("tokenizers.new={backend: codepoints}", ("tokenizers", "new"), {"backend": "codepoints"}),
        ("metrics.fertility.unit=icu", ("metrics", 1), {"fertility": {"unit": "icu"}}),
        ("metrics.compression.x=1", ("metrics", 0), {"compression": {"x": 1}}),
        ("metrics.fertility={unit: icu}", ("metrics", 1), {"fertility": {"unit": "icu"}}),
        ("metrics.fertility=null", ("metrics",), ["compression", {"nsl": {"reference": "bytes"}}]),
        ("metrics[1]=null", ("metrics",), ["compression", {"nsl": {"reference": "bytes"}}]),
        ("metrics[1].fertility.unit=icu", ("metrics", 1), {"fertility": {"unit": "icu"}}),
        (f"{SIZES}[1]=500", ("tokenizers", "gpt-4.1", "train", "vocab_size"), [300, 500]),
        (
            f"{SIZES}[2]=500",
            ("tokenizers", "gpt-4.1", "train", "vocab_size"),
            [300, 400, 500],
        ),
        (f"{SIZES}[0]=null", ("tokenizers", "gpt-4.1", "train", "vocab_size"), [400]),
        ("corpora.sample.groups[0]=de", ("corpora", "sample", "groups"), ["de"]),
        ("limits.memory=null", ("limits",), {"memory": None}),
        ("metrics=[roundtrip]", ("metrics",), ["roundtrip"]),
    ],
)
def test_a_value_is_replaced_and_nothing_else(write_config, setting, place, value):
    config = changed(write_config, setting)
    assert config.problems == []
    expected = yaml.safe_load(config.text)
    found = expected
    for part in place[:-1]:
        found = found[part]
    found[place[-1]] = value
    assert config.located.data == expected


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("name", "--set name: write it as PATH=VALUE, such as metrics.fertility.unit=icu"),
        ("a..b=1", "--set a..b=1: write it as PATH=VALUE"),
        (f"a..{'b' * 76}=1", f"--set a..{'b' * 34} [...] {'b' * 34}=1: write it as"),
        ("name=", '--set name=: the value is missing; write "" for an empty text, null to remove the key'),
        ("name=[1", "--set name=[1: not YAML: "),
        ("nmae=x", "--set nmae=x: unknown key 'nmae'; did you mean 'name'?"),
        ("limits.step=soon", '--set limits.step=soon: step: must be a number, but is "soon"'),
        ("name.x=1", "--set name.x=1: name has no keys inside; set it as a whole: --set 'name=...'"),
        (
            "metrics.fertilty.unit=icu",
            "--set metrics.fertilty.unit=icu: the run has no metric 'fertilty'; did you mean 'fertility'? (--set 'metrics=[...]'",
        ),
        ("limits.step=null", "--set limits.step=null: step: must be a number, but is empty"),
        ("metrics.roundtrip={}", "--set metrics.roundtrip={}: the run has no metric 'roundtrip'; "),
        (
            "corpora.smple=null",
            "--set corpora.smple=null: the configuration has no 'smple' here; did you mean 'sample'?",
        ),
        ("metrics[3]=null", "--set metrics[3]=null: metrics has 3 values, [0] the first; [3] adds one"),
        ("metrics[4]=roundtrip", "--set metrics[4]=roundtrip: metrics has 3 values, [0] the first; [3] adds one"),
        ("name[0]=x", "--set name[0]=x: name is not a list; set it as a whole: --set 'name=...'"),
        (
            "metrics[0].x=1",
            "--set metrics[0].x=1: metrics[0] has no keys inside; set it as a whole: --set 'metrics[0]=...'",
        ),
        (f"{SIZES}.0=9", f"--set {SIZES}.0=9: {SIZES} is a list; write {SIZES}[0] for its first value"),
        ("most_lost=2", "--set most_lost=2: most_lost: must be less than or equal to 1, but is 2"),
        ("practical_margin=1", "--set practical_margin=1: practical_margin: must be less than 1, but is 1"),
        (
            "study.vocabulary.model=8b",
            "--set study.vocabulary.model=8b: the configuration has no study 'vocabulary'; add it with",
        ),
        ("extends=quickstart", "--set extends=quickstart: --set cannot change 'extends'"),
    ],
)
def test_a_setting_is_validated_like_a_file(write_config, setting, message):
    plan = plan_tokenizers(changed(write_config, setting), load_registry())
    lines = [str(problem) for problem in plan.problems]
    assert len(lines) == 1 or setting == "nmae=x"
    assert lines[0].startswith(message), lines


def test_options_of_plugins_are_checked_at_their_setting(write_config):
    with pytest.raises(InputError) as caught:
        tokbench.run(
            write_config(metrics=METRICS),
            workers=0,
            settings=["metrics.fertility.unit=word", "corpora.sample.prt=code"],
        )
    wrong, unknown = sorted(map(str, caught.value.problems), reverse=True)
    assert wrong.startswith("--set metrics.fertility.unit=word: unit: must be 'uax29'")
    assert unknown == "--set corpora.sample.prt=code: unknown key 'prt'; did you mean 'part'?"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("weights.smple=1", "unknown corpus 'smple'; did you mean 'sample'?"),
        ("weights.sample=0", "every weight is 0; "),
    ],
)
def test_weights_need_a_corpus_that_counts(write_config, setting, message):
    with pytest.raises(InputError) as caught:
        tokbench.run(write_config(metrics=METRICS), workers=0, settings=[setting])
    [problem] = caught.value.problems
    assert str(problem).startswith(f"--set {setting}: {message}")


def test_paths_of_a_setting_start_in_the_current_folder(write_config, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "x.txt").write_text("some text\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    results = tokbench.run(write_config(), workers=0, settings=["corpora.sample={source: text, path: x.txt}"])
    assert results.corpora["sample"].bytes == 10


def test_only_some_tokenizers_are_measured_and_loaded(write_config):
    tokenizers = TOKENIZERS + "\n  broken: {backend: splintr, vocabulary: nothing}"
    path = write_config(tokenizers=tokenizers)
    assert any("broken" in line or "nothing" in line for line in problems(path))
    results = tokbench.run(path, workers=0, only=["units", "gpt-4.1-400"])
    assert list(results.tokenizers) == ["gpt-4.1-400", "units"], "the order of the file"
    assert results.config.only == ["units", "gpt-4.1-400"]
    whole = tokbench.run(path, workers=0, only=["gpt-4.1"])
    assert list(whole.tokenizers) == ["gpt-4.1-300", "gpt-4.1-400"]
    assert cell(whole, "gpt-4.1-400", "tokens").value == cell(results, "gpt-4.1-400", "tokens").value


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ("byts", "--only byts: no tokenizer is called 'byts'; did you mean 'bytes'?"),
        ("units", "run.yaml:9:70: nsl needs tokenizer 'bytes', which --only leaves out; add --only bytes"),
    ],
)
def test_a_name_that_only_does_not_find_or_leaves_out(write_config, only, message):
    path = write_config(tokenizers=TOKENIZERS, metrics=METRICS)
    with pytest.raises(InputError) as caught:
        tokbench.run(path, workers=0, only=[only])
    assert str(caught.value.problems[0]).replace(f"{path.parent}/", "") == message


def test_what_was_changed_is_recorded_and_told(write_config, tmp_path):
    path = write_config(tokenizers=TOKENIZERS, formats="[md]")
    settings = ["metrics=[compression, roundtrip]", "corpora.sample.part=languages"]
    results = tokbench.run(path, tmp_path / "out", 0, limit=2, only=["bytes"], settings=settings)
    kept = tokbench.Results.read(tmp_path / "out" / "results.json")
    assert (kept.config.limit, kept.config.only, kept.config.settings) == (2, ["bytes"], settings)
    assert set(kept.corpora["sample"].groups.values()) == {2}
    assert kept.corpora["sample"].limit == 2
    assert cell(results, "bytes", "compression_ratio").n == 2 * len(kept.corpora["sample"].groups)
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8").replace("\\", "")
    assert all(said in page for said in ("first look", "only bytes", "corpora.sample.part=languages"))


def test_a_limit_trains_on_the_first_documents(write_config, monkeypatch, tmp_path):
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    train = "train: {corpus: sample, vocab_size: 9000}"
    models = f"  a: {{backend: regex_bpe, {train}}}\n  b: {{backend: sentencepiece, {train}}}"
    path = write_config("  sample: {source: sample, part: code}", models)
    whole, limited = tokbench.run(path, workers=0), tokbench.run(path, workers=0, limit=1)
    groups = whole.corpora["sample"].groups
    read = [run.tokenizers["a"].train.documents for run in (whole, limited)]
    assert read == [sum(groups.values()), len(groups)]
    assert not limited.failed
    for name, info in limited.tokenizers.items():
        assert info.vocab_size < whole.tokenizers[name].vocab_size <= 9000
        assert f"only {info.vocab_size}" in info.notes[-1]
