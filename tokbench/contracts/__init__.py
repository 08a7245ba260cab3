"""The contracts of plugins: tokenizers, backends, corpora, metrics, report formats and their options."""
