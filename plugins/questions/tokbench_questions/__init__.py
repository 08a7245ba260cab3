"""Questions about tokenizers: each is a function, such as ``equal.equal``, and a command in ``commands``."""
