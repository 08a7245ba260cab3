"""Questions about tokenizers: each is a folder with a command and a function, such as ``equal.equal``."""
