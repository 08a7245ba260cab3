"""Charts, one file each, drawn with ``svg``."""
