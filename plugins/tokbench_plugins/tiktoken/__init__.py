"""OpenAI's tiktoken: ``backend`` registers, ``tokenizer`` runs."""
