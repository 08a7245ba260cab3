"""The key ``show``: texts that a run shows as tokens, and what is refused with its place."""

import pytest
from shared_fixtures import problems

from tokbench.config.read import config_of, read_config
from tokbench.engine.planning import plan_tokenizers
from tokbench.registry.plugins import load_registry
from tokbench.studies.tokens.options import LONGEST_SHOWN, ShowOptions, named_texts


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


def test_a_mapping_has_the_same_key():
    data = {"schema": "tokbench/1", "name": "n", "show": [{"txt": "a"}]}
    config = config_of(data)
    options = plan_tokenizers(config, load_registry()).studies["tokens"]
    assert "show.0.txt: unknown key 'txt'; did you mean 'text'?" in map(str, named_texts(config, options).problems)
