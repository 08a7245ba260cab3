"""The bytes of each id of a tokenizer, checked, and the bits per byte of a loss."""

from tokbench_questions.byte_table.table import ByteTable, GroupBytes, WrongId, bits_per_byte, byte_table

__all__ = ["ByteTable", "GroupBytes", "WrongId", "bits_per_byte", "byte_table"]
