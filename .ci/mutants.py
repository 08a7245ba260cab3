"""Read ``mutmut results --all true``, print each file's share of caught mutants, and fail if one is below 90%."""

import sys
from collections import Counter

LEAST = 0.9

caught, made = Counter[str](), Counter[str]()
for line in sys.stdin:
    name, separator, result = line.strip().rpartition(": ")
    if separator:
        file = name.rpartition(".x")[0]
        made[file] += 1
        caught[file] += result in {"killed", "timeout", "segfault"}
for file, many in sorted(made.items()):
    sys.stdout.write(f"{caught[file] / many:4.0%} {caught[file]:5,} of {many:5,}  {file}\n")
sys.exit(not made or any(caught[file] < LEAST * many for file, many in made.items()))
