"""The ground of every room: errors, files, failures, progress, store, compiled loops."""
