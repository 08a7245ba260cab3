"""Programming languages by the endings of files."""

from __future__ import annotations

from functools import cache
from typing import Final

_NAMES: Final = {
    "cpp": "C++", "csharp": "C#", "css": "CSS", "html": "HTML", "javascript": "JavaScript", "json": "JSON",
    "php": "PHP", "sql": "SQL", "typescript": "TypeScript", "xml": "XML", "yaml": "YAML",
}  # fmt: skip

_ENDINGS: Final = """
ada: ada adb ads
bash: sh bash zsh ksh
c: c h
clojure: clj cljs cljc
cpp: cpp cc cxx hpp hh hxx
csharp: cs
css: css
dart: dart
elixir: ex exs
elm: elm
erlang: erl hrl
fortran: f f90 f95 f03
go: go
groovy: groovy gradle
haskell: hs
html: html htm
java: java
javascript: js mjs cjs jsx
json: json
julia: jl
kotlin: kt kts
latex: tex
lua: lua
nix: nix
objc: m mm
ocaml: ml mli
perl: pl pm
php: php
powershell: ps1 psm1
proto: proto
python: py pyi pyx
r: r
ruby: rb rake
rust: rs
scala: scala sc
scss: scss
solidity: sol
sql: sql
swift: swift
terraform: tf
toml: toml
tsx: tsx
typescript: ts mts cts
verilog: v sv
vhdl: vhd vhdl
vue: vue
xml: xml xsd xsl svg
yaml: yaml yml
zig: zig
"""


def programming_language(ending: str) -> str:
    """Return the tree-sitter grammar or data format of a file ending without its dot; empty if not known.

    >>> programming_language("py"), programming_language("H"), programming_language("txt")
    ('python', 'c', '')
    """
    return _languages().get(ending.lower(), "")


def is_programming_language(name: str) -> bool:
    """Tell whether a group is called like a programming language or data format.

    >>> is_programming_language("rust"), is_programming_language("de")
    (True, False)
    """
    return name in _languages().values()


def program_name(group: str) -> str:
    """Return the name of a programming language as its makers write it; any other group as it is.

    >>> program_name("cpp"), program_name("rust"), program_name("mails")
    ('C++', 'Rust', 'mails')
    """
    return _NAMES.get(group) or (group.capitalize() if is_programming_language(group) else group)


@cache
def _languages() -> dict[str, str]:
    lines = (line.partition(":") for line in _ENDINGS.strip().splitlines())
    return {ending: language for language, _, endings in lines for ending in endings.split()}
