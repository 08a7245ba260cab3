"""Questions about tokenizers: each is a command and a function, such as ``equal.equal``."""
