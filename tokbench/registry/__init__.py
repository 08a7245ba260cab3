"""The hooks of plugins, and the registry of what they bring."""
