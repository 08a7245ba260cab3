"""Pipelines of Hugging Face's ``tokenizers``: ``backend`` registers, ``tokenizer`` runs, ``train`` trains."""
