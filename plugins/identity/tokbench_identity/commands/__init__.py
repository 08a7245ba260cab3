"""The commands: their modules import nothing heavy, so that the help of tokbench stays fast."""
