"""A backend that rewrites text before it encodes it; a test puts it on the path as a plugin."""

import tokbench.plugin


class Options(tokbench.plugin.Options):
    old: str = ""
    new: str = ""
    single: int = 0


class Rewritten:
    """UTF-8 bytes of a rewritten text, two a token but for the first few, which are tokens of their own."""

    vocab_size = 1 << 17

    def __init__(self, options):
        self.options = options

    def encode(self, text, /):
        if self.options.old:
            text = text.replace(self.options.old, self.options.new)
        data, cut = text.encode(), self.options.single
        pairs = [0x100 + int.from_bytes(data[k : k + 2], "big") for k in range(cut, len(data) - 1, 2)]
        return [*data[:cut], *pairs, *(data[-1:] if (len(data) - cut) % 2 else b"")]

    def decode(self, ids, /):
        parts = (bytes([k]) if k < 0x100 else (k - 0x100).to_bytes(2, "big") for k in ids)
        return b"".join(parts).decode("utf-8", "replace")


@tokbench.plugin.hookimpl
def register_backends(register):
    spec = tokbench.plugin.BackendSpec(
        name="rewritten", summary="rewrites", load=Rewritten, load_options=Options, main="old"
    )
    register(spec)
