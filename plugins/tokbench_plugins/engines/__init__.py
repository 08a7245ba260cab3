"""The fast engines of the field, each behind tokbench's contract and each a backend of its own.

All of them run vocabularies of others: OpenAI's by name, and where the library can, any ``.tiktoken`` or
``tokenizer.json`` file. So they are compared on the same vocabulary, and their ids can be compared with tiktoken's.

``vocabulary``
    the input of an engine: ranks or merges, pattern, special tokens; OpenAI's encodings; the options of a user.
``tokenizer``
    an engine's functions as a :class:`tokbench.plugin.Tokenizer`, and its registration.
``*_backend``
    one engine each: how it is loaded so that ordinary text gives the right ids, on one thread, at its fastest.
"""
