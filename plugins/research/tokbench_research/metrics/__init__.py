"""The metric families; each module or folder is one."""
