import tokbench
import tokbench.plugin


@tokbench.plugin.hookimpl
def register_backends(register):
    register(tokbench.plugin.BackendSpec(name="acme_fresh", summary="would be fine", load=lambda options: None))
    register(tokbench.plugin.BackendSpec(name="tiktoken", summary="is taken", load=lambda options: None))
