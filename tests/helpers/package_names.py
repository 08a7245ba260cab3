"""Write what the installed packages bring: ``python tests/helpers/package_names.py``."""

import json

from tokbench.registry.packages import FILE, installed
from tokbench.registry.plugins import load_registry

if __name__ == "__main__":
    FILE.write_text(json.dumps(installed(load_registry()), indent=1) + "\n", encoding="utf-8")
