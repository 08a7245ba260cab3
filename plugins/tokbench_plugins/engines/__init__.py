"""The fast engines of the field, each a backend.

All run published vocabularies: OpenAI's by name, and where the library can, any ``.tiktoken`` or ``tokenizer.json``
file. So they are compared on the same vocabulary, and their ids can be compared with tiktoken's.

``vocabulary``
    the input of an engine: ranks or merges, pattern, special tokens; OpenAI's encodings; the options.
``tokenizer``
    an engine's functions as a :class:`tokbench.plugin.Tokenizer`, and its registration.
``*_backend``
    one engine each, loaded so that ordinary text gives the right ids, on one thread, at its fastest.
"""
