"""Probes: short texts, each with a question to a tokenizer, and the numbers that answer it.

``texts.jsonl`` has the texts, a group for each question; the source ``probes`` reads it, the family ``probes`` measures
texts of these groups, of whatever source, and the report shows them as tokens. A further text is a line of that file.
"""
