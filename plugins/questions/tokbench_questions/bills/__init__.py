"""Whether a provider counts the tokens that a tokenizer gives, and why not."""

from tokbench_questions.bills.fit import Bill, BillRow, Misfit, bills, read_rows, write_rows

__all__ = ["Bill", "BillRow", "Misfit", "bills", "read_rows", "write_rows"]
