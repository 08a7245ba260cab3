import tokbench
import tokbench.plugin


@tokbench.plugin.hookimpl
def register_tokenisers(register):
    """There is no such hook."""
