"""Results in the layouts of older schemas, as they were written then."""

import json

from tokbench.results.cells import COLUMNS, Cell


def with_schema_3(results):
    """Return the text of a file of schema 3: each cell is an object, without what has its default value."""
    body = json.loads(results.to_json())
    defaults = {name: part.default for name, part in Cell.__dataclass_fields__.items()}
    columns = [{name: getattr(cell, name) for name in COLUMNS} for cell in results.cells]
    cells = [{name: value for name, value in row.items() if value != defaults[name]} for row in columns]
    return json.dumps(body | {"schema": "tokbench-results/3", "cells": cells})
