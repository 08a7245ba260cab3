"""Trained tokenizers that cannot be saved: their neighbours keep all, and no half file is left."""

import tokbench

ONE = "  {name}: {{backend: {backend}, train: {{corpus: sample, vocab_size: 300}}}}"
KINDS = {
    "nothing": ("SavesNothing", "must write one file, nothing.ids"),
    "folder": ("SavesFolder", "must write one file, folder.ids"),
    "half": ("SavesHalf", "no room for the second"),
    "blocked": ("SavesWhole", "is a folder"),
}


def test_a_save_that_leaves_no_file_costs_its_own_tokenizer_the_file_alone(faulty, write_config, tmp_path):
    kept = tmp_path / "out" / "artefacts" / "blocked.ids" / "mine"
    kept.mkdir(parents=True)
    lines = [ONE.format(name=name, backend=backend) for name, (backend, _) in KINDS.items()]
    lines += [ONE.format(name="whole", backend="SavesWhole"), "  bytes: {backend: utf8_bytes}"]
    results = tokbench.run(write_config(tokenizers="\n".join(lines)), tmp_path / "out", workers=0, store=False)
    assert {cell.status for cell in results.cells} == {"ok"}
    for name, (_, reason) in KINDS.items():
        [note] = [note for note in results.tokenizers[name].notes if note.startswith("not saved: ")]
        assert reason in note
        assert results.tokenizers[name].artefact == ""
    assert results.tokenizers["whole"].artefact == "artefacts/whole.ids"
    assert kept.is_dir()
    assert {path.name for path in (tmp_path / "out" / "artefacts").iterdir()} == {"whole.ids", "blocked.ids"}
    assert (tmp_path / "out" / "artefacts" / "whole.ids").read_text(encoding="utf-8") == "all"
