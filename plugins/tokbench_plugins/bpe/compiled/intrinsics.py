"""Processor instructions that numba lacks: the lowest of many numbers, and prefetching."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

ir: Any = import_module("llvmlite.ir")  # none of these has types
cgutils: Any = import_module("numba.core.cgutils")
types: Any = import_module("numba.core.types")
intrinsic: Any = import_module("numba.extending").intrinsic

VECTOR: Final = 32

HALF_VECTOR: Final = 16

_BITS_32: Final = ir.IntType(32)
_FOR_READING, _KEEP, _DATA = (ir.Constant(_BITS_32, number) for number in (0, 3, 1))


def address_in(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the address of an entry of an array."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _lowest_of(values: int) -> Any:
    """LLVM makes a chain of comparisons of a plain loop, four times as slow."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(_BITS_32, values)
        place = builder.bitcast(address_in(context, builder, signature, arguments), vector.as_pointer())
        name = f"llvm.vector.reduce.umin.v{values}i32"
        lowest = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_BITS_32, [vector]), name)
        return builder.call(lowest, [builder.load(place, align=4)])

    def lowest(_typing: Any, array: Any, at: Any) -> Any:
        return types.uint32(array, at), generate

    return intrinsic(lowest)


def _prefetch(_typing: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        anywhere = ir.IntType(8).as_pointer()
        place = builder.bitcast(address_in(context, builder, signature, arguments), anywhere)
        kind = ir.FunctionType(ir.VoidType(), [anywhere, _BITS_32, _BITS_32, _BITS_32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(fetch, [place, _FOR_READING, _KEEP, _DATA])
        return context.get_dummy_value()

    return types.void(array, at), generate


lowest_of_vector, lowest_of_half = _lowest_of(VECTOR), _lowest_of(HALF_VECTOR)
prefetch: Any = intrinsic(_prefetch)
