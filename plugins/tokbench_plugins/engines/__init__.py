"""The fast engines of the field, each behind tokbench's contract and each a backend of its own.

All of them run somebody else's vocabulary: OpenAI's by name, and where the library can, any ``.tiktoken`` or
``tokenizer.json`` file. So they are compared on the same vocabulary, and their ids can be held against tiktoken's.

``encodings``
    OpenAI's encodings: pattern, special tokens, and where the ranks lie on this machine.
``vocabulary``
    what an engine is given: ranks or merges, pattern, special tokens; and as the files that engines read.
``tokenizer``
    an engine's two functions as a :class:`tokbench.plugin.Tokenizer`.
``options``
    what a user says.
``*_backend``
    one engine each: how it is loaded so that ordinary text gives the right ids, on one thread, at its fastest.
"""
