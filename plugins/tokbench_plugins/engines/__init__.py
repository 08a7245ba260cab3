"""The fast engines of the field, each behind tokbench's contract and each a backend of its own.

All of them run vocabularies of others: OpenAI's by name, and where the library can, any ``.tiktoken`` or
``tokenizer.json`` file. So they are compared on the same vocabulary, and their ids can be compared with tiktoken's.

``encodings``
    OpenAI's encodings: pattern, special tokens, and where the ranks lie on this machine.
``vocabulary``
    the input of an engine: ranks or merges, pattern, special tokens; and as the files that engines read.
``tokenizer``
    an engine's two functions as a :class:`tokbench.plugin.Tokenizer`.
``options``
    the options of a user.
``*_backend``
    one engine each: how it is loaded so that ordinary text gives the right ids, on one thread, at its fastest.
"""
