import tokbench
import tokbench.plugin


@tokbench.plugin.hookimpl
def register_backends(register, colour):
    """Asks for an argument that the hook does not have."""
