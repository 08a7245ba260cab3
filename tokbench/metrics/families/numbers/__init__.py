"""How runs of digits are cut."""
