"""The hooks by which plugins come in, and the register of what they bring."""
