"""Charts, one file each; ``svg`` is what they are drawn with."""
