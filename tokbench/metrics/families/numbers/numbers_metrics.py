"""What the family ``numbers`` tells, with its definitions."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import EncodesWithOffsets, HasTokenBytes, Metric

__all__ = ["LONGEST", "VALUES"]

LONGEST: Final = 12
"""Digits of the longest runs that are counted."""


def _value(name: str, unit: str, formula: str, definition: str, *, lower: bool = False) -> Metric:
    return Metric(
        id=f"digits_{name}",
        unit=unit,
        direction="lower" if lower else "none" if unit == "share of runs" else "higher",
        formula=formula,
        definition=definition,
        needs=(HasTokenBytes, EncodesWithOffsets),
    )


_RUNS: Final = "A run is as many ASCII digits as stand together, 1 to 12; longer ones are left out."
_TRIPLES: Final = "runs of more than three digits with token boundaries inside"

VALUES: Final = (
    _value(
        "consistency",
        "share",
        "Σ over lengths 2 to 12 of runs cut in the length's most frequent way / Σ runs",
        f"1 if the length of a run alone says how it is cut, as by a rule; less if its digits do too. {_RUNS}",
    ),
    _value(
        "right_triples",
        "share of runs",
        f"{_TRIPLES} exactly every three digits from the right / runs of more than three digits",
        f"Share of numbers in groups of three as they are read aloud: 1|234|567. {_RUNS}",
    ),
    _value(
        "triples_distance",
        "share of places",
        "places between two digits that are cut and should not be, or should be and are not, for groups of three "
        "from the right / places, in runs of more than three digits",
        f"How far numbers are from groups of three as they are read aloud: 0 if all are cut so. {_RUNS}",
        lower=True,
    ),
    _value(
        "left_triples",
        "share of runs",
        f"{_TRIPLES} exactly every three digits from the left / runs of more than three digits",
        f"Share of numbers in groups of three from the left: 123|456|7, so that the same digit has another place "
        f"value from number to number. Six, nine and twelve digits are both. {_RUNS}",
    ),
    _value(
        "single",
        "share of runs",
        f"{_TRIPLES} after every digit / runs of more than three digits",
        f"Share of numbers cut into single digits. {_RUNS}",
    ),
    *(
        _value(
            f"{length}_tokens",
            "tokens/run",
            f"Σ tokens that a run of {length} digits touches / Σ runs of {length} digits",
            f"Into how many tokens {length} digits fall. {_RUNS}",
            lower=True,
        )
        for length in range(1, LONGEST + 1)
    ),
    *(
        _value(
            f"{length}_consistency",
            "share",
            f"runs of {length} digits cut in the most frequent way / runs of {length} digits",
            f"1 if all runs of {length} digits are cut alike. {_RUNS}",
        )
        for length in range(2, LONGEST + 1)
    ),
)
