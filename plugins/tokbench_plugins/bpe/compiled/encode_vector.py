"""Two things that processors do and Python has no words for, as LLVM calls them.

Importing this file needs numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

__all__ = ["VECTOR", "lowest_of_vector", "prefetch"]

ir: Any = import_module("llvmlite.ir")  # none of these has types
cgutils: Any = import_module("numba.core.cgutils")
types: Any = import_module("numba.core.types")
intrinsic: Any = import_module("numba.extending").intrinsic

VECTOR: Final = 32
"""How many numbers :func:`lowest_of_vector` looks at."""

_BITS_32: Final = ir.IntType(32)
_FOR_READING, _KEEP, _DATA = (ir.Constant(_BITS_32, number) for number in (0, 3, 1))


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Where an entry of an array lies."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _lowest_of_vector(_typing: Any, array: Any, at: Any) -> Any:
    """The lowest of ``array[at : at + VECTOR]``, an array of uint32 in one piece.

    LLVM makes a chain of 32 comparisons of the loop that says the same, four times as slow.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(_BITS_32, VECTOR)
        place = builder.bitcast(_address(context, builder, signature, arguments), vector.as_pointer())
        name = f"llvm.vector.reduce.umin.v{VECTOR}i32"
        lowest = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_BITS_32, [vector]), name)
        return builder.call(lowest, [builder.load(place, align=4)])

    return types.uint32(array, at), generate


def _prefetch(_typing: Any, array: Any, at: Any) -> Any:
    """Have the memory of ``array[at]`` brought near while the program goes on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        anywhere = ir.IntType(8).as_pointer()
        place = builder.bitcast(_address(context, builder, signature, arguments), anywhere)
        kind = ir.FunctionType(ir.VoidType(), [anywhere, _BITS_32, _BITS_32, _BITS_32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(fetch, [place, _FOR_READING, _KEEP, _DATA])
        return context.get_dummy_value()

    return types.void(array, at), generate


lowest_of_vector: Any = intrinsic(_lowest_of_vector)
prefetch: Any = intrinsic(_prefetch)
