"""The JSON Schema of a configuration, with the options of the plugins that are installed."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tokbench.config.model import CorpusEntry, Limits, MetricKeys, ReportEntry, TokenizerEntry, TopLevel
from tokbench.registry.plugins import Registry

Json = dict[str, Any]


def config_schema(registry: Registry) -> Json:
    """Return the schema; no key is required and null removes any, as in a file with ``extends``."""
    schema = _mapping(TopLevel)
    keys, backends = schema["properties"], registry.backends.entries.items()
    sources = {name: _mapping(CorpusEntry, entry.spec.options) for name, entry in registry.corpora.entries.items()}
    tokenizers = {
        name: _mapping(TokenizerEntry, entry.spec.load_options, entry.spec.train_options) for name, entry in backends
    }
    families = {name: _mapping(MetricKeys, entry.spec.options) for name, entry in registry.metrics.entries.items()}
    keys["corpora"] = _named(_chosen("source", sources))
    keys["tokenizers"] = _named({"anyOf": [{"type": "string"}, _chosen("backend", tokenizers)]})
    keys["metrics"] = {"type": "array", "items": {"anyOf": [{"enum": list(families)}, _object(families)]}}
    keys |= {"report": _mapping(ReportEntry), "limits": _mapping(Limits), "study": _object({})}
    for spec in registry.studies:
        part, _, key = spec.key.rpartition(".")
        if part:
            keys[part]["properties"][key] = _mapping(spec.options)
        elif key:
            keys[key] = {}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _object(keys: Json) -> Json:
    some = {key: {"anyOf": [value, {"type": "null"}]} for key, value in keys.items()}
    return {"type": "object", "properties": some, "additionalProperties": {"type": "null"}}


def _named(entry: Json) -> Json:
    return {"type": "object", "additionalProperties": {"anyOf": [entry, {"type": "null"}]}}


def _chosen(key: str, entries: dict[str, Json]) -> Json:
    """Return the schema of an entry whose ``key`` says which options it has."""
    cases = [
        {"if": {"properties": {key: {"const": name}}, "required": [key]}, "then": entry}
        for name, entry in entries.items()
    ]
    return {"type": "object", "properties": {key: {"enum": list(entries)}}, "allOf": cases}


def _mapping(*models: type[BaseModel]) -> Json:
    keys: Json = {}
    for schema in (model.model_json_schema(ref_template="{model}") for model in models):
        for key, value in _inlined(schema, schema.pop("$defs", {})).get("properties", {}).items():
            keys[key] = value if keys.get(key, value) == value else {"anyOf": [keys[key], value]}
    return _object(keys)


def _inlined(schema: Any, parts: Json) -> Any:
    """Write each part in its place, so that parts of the same name in two plugins stay apart."""
    if isinstance(schema, list):
        return [_inlined(inner, parts) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: _inlined(value, parts) for key, value in schema.items() if key != "required"}
    if "$ref" in inner:
        part: Json = _inlined(parts[inner.pop("$ref")], parts)
        inner = part | inner
    more = inner.get("additionalProperties")
    if isinstance(more, dict):
        inner |= _named(more)
    return inner
