"""The ground of every room: errors, files, failures, progress, the store of finished work, and compiled loops."""
