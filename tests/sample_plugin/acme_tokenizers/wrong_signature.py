import tokbench


@tokbench.hookimpl
def register_backends(register, colour):
    """Asks for an argument that the hook does not have."""
