"""OpenAI's tiktoken."""
